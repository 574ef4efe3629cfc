//! Each fault is on for 20 s while sends go on: what their user sees of it, and that all is well after it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rmq_core::{CloseCause, Event, Instant, RequestError, SendError, SendErrorKind, SendOptions};
use rmq_proto::code::ResponseCode;
use rmq_sim::model::TopicConfig;
use rmq_sim::net::Fault;

use crate::world::{TOPIC, World, at, millis, secs};

const BEGIN: Instant = Instant::from_millis(10_000);
const END: Instant = Instant::from_millis(30_000);
const PERIOD: Duration = Duration::from_millis(500);

/// Where a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Broker,
    NameServer,
}

/// What the sends of a scenario came to.
#[derive(Debug, Default)]
struct Outcome {
    /// Why sends failed that began while the fault was on.
    errors: BTreeSet<String>,
    /// How many of those succeeded.
    sent: u32,
    /// Of the sends that failed, when the last began.
    last_failure: Option<Instant>,
    /// Whether a failed send was stored all the same, though its error says no.
    wrongly_denied: bool,
}

/// How a send ended and what its attempts, or the name servers, had to say, in short.
fn in_short(error: &SendError) -> Vec<String> {
    let (kind, servers) = match error.kind() {
        SendErrorKind::RouteUnavailable { servers } => ("no route", &servers[..]),
        SendErrorKind::TopicNotFound { servers } => ("no topic", &servers[..]),
        SendErrorKind::NoWritableQueue => ("no queue", &[][..]),
        SendErrorKind::TimedOut => ("timed out", &[][..]),
        SendErrorKind::AttemptsExhausted => ("failed", &[][..]),
        SendErrorKind::Refused => ("refused", &[][..]),
        kind => panic!("{kind:?}"),
    };
    let servers = servers.iter().map(|server| server.error.as_ref());
    let causes = error.attempts().iter().map(|attempt| Some(&attempt.error)).chain(servers);
    causes.map(|cause| format!("{kind}: {}", cause.map_or("no answer yet", cause_in_short))).collect()
}

fn cause_in_short(error: &RequestError) -> &'static str {
    match error {
        RequestError::Connect(CloseCause::Stream(_)) => "refused",
        RequestError::Connect(CloseCause::ConnectTimeout { .. }) => "connect timeout",
        RequestError::HeldOff(_) => "held off",
        RequestError::Closed { cause: CloseCause::Silent, .. } => "silent",
        RequestError::Closed { cause: CloseCause::WriteStall { .. }, .. } => "stalled",
        RequestError::Closed { written: true, .. } => "lost",
        RequestError::Closed { written: false, .. } => "lost before",
        RequestError::Timeout { written: true, .. } => "no answer",
        RequestError::Timeout { written: false, .. } => "not written",
        RequestError::Answered { code: ResponseCode::TOPIC_NOT_EXIST, .. } => "unknown",
        RequestError::Answered { .. } => "code",
        RequestError::NoMaster => "no master",
        error => panic!("{error}"),
    }
}

/// Sends each half second until 20 s after all should be well. Where a name server has it, each send is to a topic of its own, so
/// that the name server is asked.
fn run(fault: &Fault, place: Place, grace: Duration) -> Outcome {
    let sends = ((END + grace + secs(20)).saturating_since(BEGIN).as_millis() / PERIOD.as_millis()) as u32;
    let mut world = World::new(1);
    let topic = |number| if place == Place::Broker { TOPIC.to_owned() } else { format!("topic-{number}") };
    world.network.with_cluster(|cluster| {
        (0..sends).for_each(|number| cluster.create_topic(&TopicConfig::new(topic(number), 4)));
    });
    let address = if place == Place::Broker { world.broker() } else { world.name_server() };
    world.run_to(at(4));
    world.send_and_wait(0).sent();
    world.plan(&address, fault.clone(), BEGIN, END);
    if matches!(fault, Fault::Refuse | Fault::Blackhole) {
        world.plan(&address, Fault::Reset, BEGIN, BEGIN);
    }
    let mut begun = BTreeMap::new();
    for number in 0..sends {
        world.run_to(BEGIN + millis(1) + PERIOD * number);
        let now = world.now();
        begun.insert(world.send_to(0, &topic(number), SendOptions::default()), now);
    }
    world.run_until_ended();
    let mut outcome = Outcome::default();
    for end in &world.ends[1..] {
        let began = begun[&end.op];
        let is_on = began < END;
        match &end.event {
            Event::Sent { .. } => outcome.sent += u32::from(is_on),
            Event::SendFailed { error, .. } => {
                outcome.last_failure = outcome.last_failure.max(Some(began));
                if is_on {
                    outcome.errors.extend(in_short(error));
                }
                let is_stored = world.network.cluster().brokers()[0].store().copies(error.message_id()) > 0;
                outcome.wrongly_denied |= is_stored && !error.may_have_been_stored();
            }
            event => panic!("{event:?}"),
        }
    }
    outcome
}

/// Checks a row: while the fault is on, sends fail for exactly these reasons (if there are none, all succeed), and from
/// `grace` after its end on none fails.
fn check(place: Place, fault: Fault, errors: &[&str], grace: Duration) {
    let outcome = run(&fault, place, grace);
    let expected: BTreeSet<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(outcome.errors, expected, "{place:?}, {fault}");
    assert!(!errors.is_empty() || outcome.sent == 40, "{place:?}, {fault}: {outcome:?}");
    assert!(
        outcome.last_failure.is_none_or(|last| last < END + grace),
        "{place:?}, {fault}: not well after {grace:?}: {outcome:?}"
    );
    assert!(!outcome.wrongly_denied, "{place:?}, {fault}: stored, and the error says that it is not");
}

/// What nothing but time can find out: requests that are written get no answer, the second in a row breaks the connection,
/// and no other opens.
const UNREACHABLE: &[&str] =
    &["failed: connect timeout", "failed: no answer", "failed: not written", "failed: silent"];
/// The server takes connections, and its answers do not come in time.
const UNANSWERED: &[&str] = &["failed: no answer", "failed: silent"];

#[test]
fn brokers_heal() {
    let codes = |code| Fault::AnswerSends(code);
    let rows: [(Fault, &[&str]); 20] = [
        (Fault::Refuse, &["failed: refused"]),
        (Fault::Crash, &["failed: refused"]),
        (Fault::Blackhole, &["failed: connect timeout", "failed: no answer", "failed: not written"]),
        (Fault::Stall, UNREACHABLE),
        (Fault::StallRequests, UNREACHABLE),
        (Fault::StallAnswers, UNREACHABLE),
        (Fault::Vanish, UNREACHABLE),
        (Fault::Slow(millis(300)), &[]),
        (Fault::Slow(secs(2)), &["failed: no answer", "failed: not written", "failed: silent"]),
        (Fault::SlowAnswers(secs(5)), UNANSWERED),
        (Fault::Hang, UNANSWERED),
        (Fault::Mute, UNANSWERED),
        // One attempt is lost, and the next succeeds.
        (Fault::Reset, &[]),
        (Fault::HalfOpen, &[]),
        (Fault::CloseOnRequest { carried_out: false }, &[]),
        (Fault::CloseOnRequest { carried_out: true }, &[]),
        (codes(ResponseCode::SYSTEM_BUSY), &["failed: code"]),
        // The same would be answered again.
        (codes(ResponseCode::MESSAGE_ILLEGAL), &["refused: code"]),
        (codes(ResponseCode::FLOW_CONTROL), &["refused: code"]),
        // Stored, though not as safely.
        (codes(ResponseCode::FLUSH_DISK_TIMEOUT), &[]),
    ];
    for (fault, errors) in rows {
        check(Place::Broker, fault, errors, Duration::ZERO);
    }
}

/// A name server is asked once for each send here, as each is to a topic of its own.
#[test]
fn name_servers_heal() {
    let unreachable: &[&str] = &["no route: connect timeout", "no route: no answer yet", "no route: silent"];
    let unanswered: &[&str] = &["no route: no answer yet", "no route: silent"];
    // One that comes back knows nothing until brokers register, as they do each 30 s.
    let registration = secs(30);
    let rows: [(Fault, &[&str], Duration); 15] = [
        (Fault::Refuse, &["no route: refused"], Duration::ZERO),
        (Fault::Crash, &["no route: refused"], registration),
        (Fault::Blackhole, &["no route: connect timeout", "no route: no answer yet"], Duration::ZERO),
        (Fault::Stall, unreachable, Duration::ZERO),
        (Fault::StallRequests, unreachable, Duration::ZERO),
        (Fault::StallAnswers, unreachable, Duration::ZERO),
        (
            Fault::Vanish,
            // The last of them ask the one that is back and knows nothing.
            &[
                "no route: connect timeout",
                "no route: no answer yet",
                "no route: silent",
                "no topic: unknown",
            ],
            registration,
        ),
        (Fault::Slow(millis(300)), &[], Duration::ZERO),
        // What is late already when it ends is late still.
        (Fault::Slow(secs(2)), unanswered, secs(3)),
        (Fault::SlowAnswers(secs(5)), unanswered, secs(3)),
        (Fault::Hang, unanswered, Duration::ZERO),
        (Fault::Mute, unanswered, Duration::ZERO),
        (Fault::Reset, &[], Duration::ZERO),
        // The question is put once more.
        (Fault::HalfOpen, &[], Duration::ZERO),
        (Fault::CloseOnRequest { carried_out: false }, &[], Duration::ZERO),
    ];
    for (fault, errors, grace) in rows {
        check(Place::NameServer, fault, errors, grace);
    }
}
