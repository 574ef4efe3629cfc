//! A process stands still, as on a machine that sleeps, and goes on in one jump.

use std::time::Duration;

use rmq_core::{Instant, OpId, RequestError, SendErrorKind};
use rmq_proto::code::RequestCode;
use rmq_sim::net::Fault;

use crate::world::{World, at, secs};

const ASLEEP: Instant = Instant::from_millis(10_000);
const HOUR: Duration = Duration::from_secs(3_600);
/// A topic that nobody sends to for ten minutes is forgotten; after this jump it is not.
const NINE_MINUTES: Duration = Duration::from_secs(540);
/// Time for requests that begin at the jump and their answers.
const SOON: Duration = Duration::from_millis(50);

/// A client that is connected and has sent, with `sends` sends written and its process standing still for `jump`. At its
/// broker there may be a fault all the time.
fn fall_asleep(sends: usize, jump: Duration, fault: Option<Fault>) -> (World, Vec<OpId>) {
    let mut world = World::new(1);
    world.send_and_wait(0).sent();
    world.run_to(ASLEEP);
    if let Some(fault) = fault {
        let broker = world.broker();
        world.plan(&broker, fault, ASLEEP, ASLEEP + jump + secs(1));
    }
    let ops: Vec<_> = (0..sends).map(|_| world.send(0)).collect();
    // One turn, in which the requests are written.
    world.run_to(ASLEEP);
    assert_eq!(world.stats(0).awaited, sends);
    world.process(0).suspend(ASLEEP + jump);
    (world, ops)
}

/// Requests of a kind from falling asleep until the time of a normal interval after the jump.
fn requests(world: &World, code: RequestCode, jump: Duration) -> usize {
    let span = ASLEEP + SOON..ASLEEP + jump + secs(20);
    world.times_of(code).iter().filter(|time| span.contains(time)).count()
}

/// Timers that were due many times fire once: from each client, one heartbeat to its broker and one look at its route. After
/// an hour its topic is forgotten, and nobody is to be told anything.
fn assert_no_burst(world: &World, jump: Duration, clients: usize) {
    let expected = if jump == NINE_MINUTES { clients } else { 0 };
    assert_eq!(requests(world, RequestCode::HEART_BEAT, jump), expected, "heartbeats after {jump:?}");
    assert_eq!(requests(world, RequestCode::GET_ROUTEINFO_BY_TOPIC, jump), expected, "looks after {jump:?}");
}

#[test]
fn answers_that_wait_win_over_timeouts() {
    for jump in [NINE_MINUTES, HOUR] {
        let (mut world, ops) = fall_asleep(100, jump, None);
        let awake = ASLEEP + jump;
        world.run_to(Instant::from_micros(awake.as_micros() - 1));
        assert_eq!(world.ends.len(), 1, "it stands still");
        world.run_to(awake + secs(20));
        for op in ops {
            let end = world.end_of(0, op);
            assert_eq!((end.at, end.sent().attempts), (awake, 1));
        }
        assert_eq!(world.network.cluster().stored().count(), 101, "nothing was sent twice");
        assert_no_burst(&world, jump, 1);
        assert_eq!(world.dials(0, &world.broker()).len(), 1, "the connection is good still");
    }
}

#[test]
fn without_answers_every_send_ends_once() {
    for jump in [NINE_MINUTES, HOUR] {
        let (mut world, ops) = fall_asleep(100, jump, Some(Fault::Hang));
        let awake = ASLEEP + jump;
        world.run_to(awake + secs(5));
        let mut timeouts = 0;
        for op in ops {
            let end = world.end_of(0, op);
            let error = end.error();
            assert_eq!(
                (end.at, error.kind(), error.took()),
                (awake, &SendErrorKind::TimedOut, jump),
                "{error}"
            );
            let [attempt] = error.attempts() else {
                panic!("one attempt, as then the time is over: {error}")
            };
            assert!(error.may_have_been_stored(), "{error}");
            timeouts += usize::from(attempt.error == RequestError::Timeout { after: jump, written: true });
        }
        // The second one breaks the connection, as nothing at all came; that fails the others.
        assert_eq!(timeouts, 2);
        world.send_and_wait(0).sent();
    }
}

/// The peer went away meanwhile, in each way that there is; the sends learn it when the process goes on.
#[test]
fn a_peer_that_is_gone_is_found_to_be_gone() {
    for (fault, causes) in [
        (Fault::Reset, ["connection lost while waiting for the answer: connection reset"; 2]),
        (Fault::Crash, ["connection lost while waiting for the answer: c"; 2]),
        (Fault::Vanish, ["no answer within 3600.0 s", "the peer fell silent"]),
        (Fault::HalfOpen, ["no answer within 3600.0 s", "the peer fell silent"]),
    ] {
        let (mut world, ops) = fall_asleep(10, HOUR, Some(Fault::Hang));
        let (broker, awake) = (world.broker(), ASLEEP + HOUR);
        world.plan(&broker, fault.clone(), at(60), at(120));
        world.run_to(awake + SOON);
        for op in ops {
            let end = world.end_of(0, op);
            let error = end.error();
            assert_eq!((end.at, error.kind()), (awake, &SendErrorKind::TimedOut), "{fault}: {error}");
            assert!(causes.iter().any(|cause| error.to_string().contains(cause)), "{fault}: {error}");
            assert!(error.may_have_been_stored(), "{fault}: {error}");
        }
        world.run_to(awake + secs(2));
        world.send_and_wait(0).sent();
    }
}

#[test]
fn many_clients_wake_up_without_a_burst() {
    const CLIENTS: usize = 40;
    for jump in [NINE_MINUTES, HOUR] {
        let mut world = World::new(1);
        for _ in 1..CLIENTS {
            world.add_client(|builder| builder);
        }
        for client in 0..CLIENTS {
            world.send_and_wait(client).sent();
        }
        world.run_to(ASLEEP);
        let ops: Vec<_> = (0..CLIENTS).map(|client| [world.send(client), world.send(client)]).collect();
        world.run_to(ASLEEP);
        for client in 0..CLIENTS {
            world.process(client).suspend(ASLEEP + jump);
        }
        world.run_to(ASLEEP + jump + secs(20));
        for (client, ops) in ops.iter().enumerate() {
            for op in ops {
                assert_eq!(world.end_of(client, *op).sent().attempts, 1, "client {client}");
            }
            assert_eq!(world.dials(client, &world.broker()).len(), 1, "client {client}");
        }
        assert_no_burst(&world, jump, CLIENTS);
    }
}

/// With nothing under way too.
#[test]
fn nothing_is_made_up_for() {
    for jump in [NINE_MINUTES, HOUR] {
        let (mut world, _) = fall_asleep(0, jump, None);
        let before = world.stats(0);
        world.run_to(ASLEEP + jump + secs(20));
        assert_no_burst(&world, jump, 1);
        let after = world.stats(0);
        assert_eq!((after.operations, after.queued, after.awaited), (0, 0, 0), "{after:?}");
        assert!(after.timers <= before.timers, "{after:?}");
        world.send_and_wait(0).sent();
    }
}
