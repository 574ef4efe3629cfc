//! One table of everything that can grow.

use rmq_proto::frame::MAX_FRAME_LEN;

use crate::config::ConfigError;

/// The most of each thing that a client holds. Whatever is over a limit is refused with a typed error or counted in
/// [`Stats`](crate::Stats), as each field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations under way, those included whose end was not yet polled; 65,536. Over it a command is
    /// [rejected](crate::RejectReason::TooManyOperations). Each message that waits for an [automatic
    /// batch](crate::AutoBatch) or is in one is an operation, so there are no more of those batches.
    pub operations: usize,
    /// Bytes of bodies and properties of the operations under way; 256 MiB. Over it a command is
    /// [rejected](crate::RejectReason::TooManyBytes).
    pub operation_bytes: usize,
    /// Producers; 1,024. Over it [`Client::add_producer`](crate::Client::add_producer) fails.
    pub producers: usize,
    /// Topics whose route is kept; 10,000. Over it the one used least recently is forgotten. One that an operation waits
    /// for is not: there are at most as many of those as operations.
    pub topics: usize,
    /// Peers that a connection is kept for; 1,024. Over it a send to another broker fails; name servers are always
    /// let in.
    pub links: usize,
    /// Brokers whose health a producer with [`FaultTolerance`](crate::FaultTolerance) remembers; 1,024. Over it the one that
    /// least is to be said of is forgotten.
    pub fault_items: usize,
    /// Connections whose peer has sent this client away and that still wait for answers; 64. Over it the oldest is closed,
    /// and what waits on it fails. They do not count as [`links`](Self::links).
    pub draining: usize,
    /// Trace records that wait to be sent, for each producer with [`Trace`](crate::Trace); 2,048. Over it new ones are dropped and
    /// counted.
    pub trace_records: usize,
    /// Messages with trace records under way, for each producer with [`Trace`](crate::Trace); 64. Over it records wait. They
    /// do not count as operations.
    pub trace_sends: usize,
    /// Bytes of one frame received, its length word included; 16 MiB. A longer one closes its connection.
    pub frame: usize,
    /// Bytes of one [`Output::Write`](crate::Output::Write), unless a single frame is longer; 256 KiB.
    pub write_batch: usize,
    /// Bytes of the ext fields that [hooks](crate::RequestHook) add to one request, each counted as eight more than its name
    /// and its value; 4 KiB. Over it a field is [refused](crate::AddFieldError::TooManyBytes).
    pub hook_bytes: usize,
    /// Answers to a broker's requests that wait to be written, per connection; 64. Over it a request is dropped and
    /// counted.
    pub inbound: usize,
    /// Brokers' questions about transactions that are not answered yet; 1,024. Over it one is dropped and counted: the
    /// broker asks again.
    pub checks: usize,
    /// Bytes of the messages that these questions are about; 64 MiB. Over it one is dropped and counted.
    pub check_bytes: usize,
    /// Cancelled requests whose late answer is waited for, per connection; 1,024. Over it the first to end is
    /// forgotten, and its opaque may be used again.
    pub tombstones: usize,
    /// Events waiting to be polled that do not end an operation; 1,024. Over it new ones are dropped and counted.
    pub notices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            operations: 65_536,
            operation_bytes: 256 << 20,
            producers: 1_024,
            topics: 10_000,
            links: 1_024,
            fault_items: 1_024,
            draining: 64,
            trace_records: 2_048,
            trace_sends: 64,
            frame: MAX_FRAME_LEN,
            write_batch: 256 << 10,
            hook_bytes: 4 << 10,
            inbound: 64,
            checks: 1_024,
            check_bytes: 64 << 20,
            tombstones: 1_024,
            notices: 1_024,
        }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("limits.operations", self.operations),
            ("limits.operation_bytes", self.operation_bytes),
            ("limits.producers", self.producers),
            ("limits.topics", self.topics),
            ("limits.links", self.links),
            ("limits.fault_items", self.fault_items),
            ("limits.draining", self.draining),
            ("limits.trace_records", self.trace_records),
            ("limits.trace_sends", self.trace_sends),
            ("limits.write_batch", self.write_batch),
            ("limits.hook_bytes", self.hook_bytes),
            ("limits.inbound", self.inbound),
            ("limits.checks", self.checks),
            ("limits.check_bytes", self.check_bytes),
            ("limits.tombstones", self.tombstones),
            ("limits.notices", self.notices),
        ] {
            if value == 0 {
                return Err(ConfigError::TooSmall { name, minimum: "1" });
            }
        }
        if self.frame < 1_024 {
            return Err(ConfigError::TooSmall { name: "limits.frame", minimum: "1024 bytes" });
        }
        // The binary format has 15 bits for the length of a name.
        if self.hook_bytes > 0x7fff {
            return Err(ConfigError::TooLarge { name: "limits.hook_bytes", maximum: "32767" });
        }
        // At 352 MiB the first byte of a frame could be taken for a TLS handshake (wire §9.1).
        if self.frame >= 352 << 20 {
            return Err(ConfigError::TooLarge { name: "limits.frame", maximum: "352 MiB" });
        }
        Ok(())
    }
}
