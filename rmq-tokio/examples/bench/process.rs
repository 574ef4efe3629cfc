//! What this process uses.

use std::time::Duration;

/// CPU time of the process, user and system, in nanoseconds; threads that have ended are in it.
#[cfg(unix)]
pub(crate) fn cpu_time() -> Option<Duration> {
    clock(rustix::time::ClockId::ProcessCPUTime)
}

/// CPU time of the thread that asks.
#[cfg(unix)]
#[allow(dead_code, reason = "another example has this file, too")]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    clock(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(unix)]
fn clock(id: rustix::time::ClockId) -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(id)).ok()
}

#[cfg(not(unix))]
pub(crate) fn cpu_time() -> Option<Duration> {
    None
}

#[cfg(not(unix))]
#[allow(dead_code, reason = "another example has this file, too")]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    None
}

/// Resident memory in KiB, where the system tells it as Linux does.
pub(crate) fn resident_kib() -> Option<u64> {
    status("VmRSS:")?.strip_suffix(" kB")?.parse().ok()
}

/// Threads of this process, where the system tells it so.
#[allow(dead_code, reason = "another example has this file, too")]
pub(crate) fn threads() -> Option<u64> {
    status("Threads:")?.parse().ok()
}

/// Open files and sockets, where the system tells it so.
#[allow(dead_code, reason = "another example has this file, too")]
pub(crate) fn descriptors() -> Option<usize> {
    // The folder itself is open while it is read.
    std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count().saturating_sub(1))
}

fn status(name: &str) -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}
