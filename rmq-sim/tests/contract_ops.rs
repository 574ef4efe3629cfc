//! The contract of the client under thousands of random programs.

use rmq_sim::Rng;
use rmq_sim::ops::{self, Ops, Report, rounds};

fn bytes(random: &mut Rng, most: usize) -> Vec<u8> {
    let len = random.index(most + 1);
    (0..len).map(|_| random.next_u64() as u8).collect()
}

/// Runs `check` on random bytes; a failure names the bytes.
fn each(seed: u64, programs: usize, most: usize, mut check: impl FnMut(&mut Rng, &[u8])) {
    let mut random = Rng::new(seed);
    for _ in 0..programs {
        let bytes = bytes(&mut random, most);
        check(&mut random, &bytes);
    }
}

fn run(bytes: &[u8]) -> Report {
    ops::run(bytes).unwrap_or_else(|violation| panic!("{violation}\n{bytes:?}"))
}

type Count = fn(&Report) -> u64;

/// No program breaks a promise; and programs reach what they are to reach.
#[test]
fn any_calls_in_any_order() {
    let mut reports = Vec::new();
    each(1, 600, 400, |_, bytes| reports.push(run(bytes)));
    let reached: [(&str, Count); 33] = [
        ("sends_succeeded", |report| report.stats.sends_succeeded),
        ("sends_failed", |report| report.stats.sends_failed),
        ("send_backs_succeeded", |report| report.stats.send_backs_succeeded),
        ("send_backs_failed", |report| report.stats.send_backs_failed),
        ("recalls_succeeded", |report| report.stats.recalls_succeeded),
        ("recalls_failed", |report| report.stats.recalls_failed),
        ("requests_succeeded", |report| report.stats.requests_succeeded),
        ("requests_failed", |report| report.stats.requests_failed),
        ("unknown_replies", |report| report.stats.unknown_replies),
        ("transaction_ends_written", |report| report.stats.transaction_ends_written),
        ("transaction_ends_failed", |report| report.stats.transaction_ends_failed),
        ("checks", |report| report.stats.checks),
        ("checks_dropped", |report| report.stats.checks_dropped),
        ("checks_undecodable", |report| report.stats.checks_undecodable),
        ("checks_of_strangers", |report| report.stats.checks_of_strangers),
        ("checks_expired", |report| report.stats.checks_expired),
        ("traces_sent", |report| report.stats.traces_sent),
        ("traces_failed", |report| report.stats.traces_failed),
        ("go_aways", |report| report.stats.go_aways),
        ("cancelled", |report| report.stats.cancelled),
        ("rejected", |report| report.stats.rejected),
        ("retries", |report| report.stats.retries),
        ("connect_failures", |report| report.stats.connect_failures),
        ("disconnects", |report| report.stats.disconnects),
        ("frames_received", |report| report.stats.frames_received),
        ("protocol_errors", |report| report.stats.protocol_errors),
        ("unknown_answers", |report| report.stats.unknown_answers),
        ("inbound", |report| report.stats.inbound),
        ("inbound_dropped", |report| report.stats.inbound_dropped),
        ("stale_inputs", |report| report.stats.stale_inputs),
        ("misuses", |report| report.stats.misuses),
        ("route_queries", |report| report.stats.route_queries),
        ("notices_dropped", |report| report.stats.notices_dropped),
    ];
    for (name, count) in reached {
        let programs = reports.iter().filter(|report| count(report) > 0).count();
        println!("{name}: {} in {programs} programs", reports.iter().map(count).sum::<u64>());
        assert!(programs >= 5, "{name} in {programs} programs");
    }
}

#[test]
fn the_same_calls_give_the_same_outputs() {
    each(2, 60, 400, |_, bytes| assert_eq!(run(bytes), run(bytes), "{bytes:?}"));
}

#[test]
fn a_clone_goes_on_as_its_original() {
    each(3, 60, 400, |random, bytes| {
        let ops = Ops::from_bytes(bytes);
        let at = random.index(ops.ops().len() + 1);
        let [original, snapshot] = ops.run_from_snapshot(at).unwrap();
        assert_eq!(original, snapshot, "{bytes:?} from {at}");
        assert_eq!(original, run(bytes), "{bytes:?}");
    });
}

/// What is compared, and in which programs, is said at [`rounds`].
#[test]
fn chunks_and_moments_of_polling_do_not_matter() {
    let (mut ends, mut sends) = (0, 0);
    each(4, 80, 300, |random, bytes| {
        let seed = random.next_u64();
        let run = rounds::compare(bytes, seed);
        let run = run.unwrap_or_else(|violation| panic!("{violation}\nseed {seed}, {bytes:?}"));
        (ends, sends) = (ends + run.0, sends + run.1);
    });
    println!("{ends} operations, {sends} sends written");
    assert!(ends > 1_000 && sends > 1_000, "{ends} operations, {sends} sends written");
}
