//! Futures of each kind, dropped after each of their polls. Streams take a few bytes at a time, so that frames are written in
//! part when it happens, and other sends are under way on the same connections.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use rmq_driver::rmq_core::proto::code::RequestCode;
use rmq_driver::rmq_core::proto::properties::{CORRELATION_ID, REPLY_TO_CLIENT, TTL, value};
use rmq_driver::rmq_core::proto::recall::RecallHandle;
use rmq_driver::{
    AutoBatch, Client, Error, InFlight, Message, Producer, ProducerConfig, Resolution, ResponseCode,
    SendBack, SendFuture, StoredMessage, TransactionCheck, TransactionChecks,
};

use crate::requests::stored;
use crate::transactions::ask;
use crate::world::{Flag, Hand, Peer, World};

/// Bytes that a stream takes or gives at a time.
const CHUNK: usize = 5;

/// Bytes that it takes before it lets the others go on: no frame goes out in one step.
const ROOM: usize = 60;

/// More polls than any of these futures needs.
const TOO_MANY: usize = 1_000;

/// A body that counts when it is dropped.
struct Body {
    text: &'static str,
    dropped: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

struct Case {
    world: World,
    peer: Peer,
    client: Client<World>,
    producer: Producer,
    made: Cell<usize>,
    dropped: Arc<AtomicUsize>,
    /// Requests that were replied to.
    replied: usize,
}

impl Case {
    /// Nothing is connected yet.
    fn cold() -> Self {
        Self::with(ProducerConfig::new("group"))
    }

    fn with(config: ProducerConfig) -> Self {
        let world = World::new();
        world.pipes.chunk(CHUNK);
        world.pipes.room(ROOM);
        let peer = Peer::new(&world);
        let client = world.client();
        let producer = client.producer_with(config).unwrap();
        Self { world, peer, client, producer, made: Cell::new(0), dropped: Arc::default(), replied: 0 }
    }

    /// All is connected and known.
    fn warm() -> Self {
        Self::cold().warmed()
    }

    fn warmed(mut self) -> Self {
        let mut first = Hand::begun(self.producer.send(self.message("warm")));
        self.run_until(|_| first.poll().is_ready());
        self.peer.seen.clear();
        self
    }

    fn body(&self, text: &'static str) -> Bytes {
        self.made.set(self.made.get() + 1);
        Bytes::from_owner(Body { text, dropped: Arc::clone(&self.dropped) })
    }

    fn message(&self, text: &'static str) -> Message {
        Message::new("orders", self.body(text))
    }

    fn send(&self, text: &'static str) -> SendFuture {
        self.producer.send(self.message(text))
    }

    /// One poll of the loop, a moment of time, and what the peer says. It replies to requests.
    fn step(&mut self) {
        self.world.pass(Duration::from_millis(1));
        self.make_room(ROOM);
        self.peer.step();
        let asked = |seen: &&crate::world::Seen| {
            seen.code == RequestCode::SEND_MESSAGE_V2 && value(&seen.properties, REPLY_TO_CLIENT).is_some()
        };
        for request in self.peer.seen.iter().filter(asked).skip(self.replied) {
            self.peer.push_reply(request, 0, "pong");
            self.replied += 1;
        }
    }

    fn make_room(&self, bytes: usize) {
        let pipes = &self.world.pipes;
        (0..pipes.len()).for_each(|index| pipes.with(index, |end| end.room = bytes));
    }

    fn run_until(&mut self, mut is_so: impl FnMut(&Self) -> bool) {
        for _ in 0..TOO_MANY {
            if is_so(self) {
                return;
            }
            self.step();
        }
        panic!("it does not come to an end: {:?}", self.client.stats());
    }

    fn times_seen(&self, text: &str) -> usize {
        self.peer.seen.iter().filter(|seen| &*seen.body == text.as_bytes()).count()
    }

    /// All ends, the other sends well; nothing is left, and the peer saw whole frames.
    fn finish(&mut self, others: &mut [Hand<SendFuture>]) {
        self.run_until(|case| {
            let stats = case.client.stats();
            (stats.operations, stats.queued, stats.awaited) == (0, 0, 0)
        });
        // Heartbeats may be on their way yet.
        self.make_room(usize::MAX);
        self.peer.run();
        assert_eq!(self.peer.unfinished(), 0, "half a frame");
        others.iter_mut().for_each(|other| assert_eq!(other.output().unwrap().attempts, 1));
        let stats = self.client.stats();
        assert_eq!((stats.operation_bytes, stats.operation_timers, stats.gathered_bytes), (0, 0, 0));
        assert_eq!((stats.permits, stats.in_line, stats.gathered), (0, 0, 0));
        assert_eq!((stats.requests_waiting, stats.open_checks, stats.check_bytes), (0, 0, 0));
        assert_eq!((stats.misuses, stats.protocol_errors, stats.sends_failed), (0, 0, 0));
        assert_eq!(self.dropped.load(Ordering::Relaxed), self.made.get(), "bodies");
    }
}

/// The future is polled so often, with a step between two polls, and dropped. True if it had ended.
fn poll_and_drop<F: Future<Output: Debug>>(case: &mut Case, future: F, polls: usize) -> (bool, Arc<Flag>) {
    let mut hand = Hand::new(future);
    let flag = Arc::clone(&hand.flag);
    for poll in 0..polls {
        if poll > 0 {
            case.step();
        }
        if hand.poll().is_ready() {
            return (true, flag);
        }
    }
    (false, flag)
}

/// Drops the future that `make` makes after each of its polls, up to the one that ends it. How many there are.
fn at_each_poll<F: Future<Output: Debug>>(begin: fn() -> Case, make: impl Fn(&mut Case) -> F) -> usize {
    for polls in 0..TOO_MANY {
        let mut case = begin();
        let before = Hand::begun(case.send("before"));
        let future = make(&mut case);
        let (ended, flag) = poll_and_drop(&mut case, future, polls);
        assert_eq!(Arc::strong_count(&flag), 1, "a waker is left after {polls} polls");
        let after = Hand::begun(case.send("after"));
        case.finish(&mut [before, after]);
        assert_eq!((case.times_seen("before"), case.times_seen("after")), (1, 1));
        let seen = case.times_seen("dropped");
        assert!(seen <= usize::from(polls > 1), "dropped after {polls} polls, and written {seen} times");
        assert_eq!(case.client.stats().disconnects, 0);
        if ended {
            return polls;
        }
    }
    panic!("it never ends");
}

#[test]
fn e1_a_send() {
    let cold = at_each_poll(Case::cold, |case| case.send("dropped"));
    let warm = at_each_poll(Case::warm, |case| case.send("dropped"));
    // Its bytes alone take some polls.
    assert!(cold > warm && warm > 5, "{cold} and {warm} polls");
}

#[test]
fn e1_a_send_in_line() {
    let limited = || {
        let limit = InFlight::new().max_messages(1);
        Case::with(ProducerConfig::new("group").in_flight(limit)).warmed()
    };
    assert!(at_each_poll(limited, |case| case.send("dropped")) > 10);
}

#[test]
fn e1_a_send_that_is_put_into_a_batch() {
    let gathers = || Case::with(ProducerConfig::new("group").auto_batch(AutoBatch::new())).warmed();
    for polls in 0..TOO_MANY {
        let mut case = gathers();
        let mut others = ["one", "two"].map(|text| Hand::begun(case.send(text)));
        let future = case.send("dropped");
        let (ended, flag) = poll_and_drop(&mut case, future, polls);
        assert_eq!(Arc::strong_count(&flag), 1, "a waker is left after {polls} polls");
        case.finish(&mut others);
        if ended {
            return assert!(polls > 10, "{polls} polls");
        }
    }
}

#[test]
fn e1_a_oneway_send() {
    let polls = at_each_poll(Case::warm, |case| case.producer.send_oneway(case.message("dropped")));
    assert!(polls > 5, "{polls}");
}

#[test]
fn e1_a_batch() {
    let batch = |case: &Case| ["one", "two"].map(|text| case.message(text));
    assert!(at_each_poll(Case::warm, |case| case.producer.send_batch(batch(case))) > 5);
    assert!(at_each_poll(Case::warm, |case| case.producer.send_batch_oneway(batch(case))) > 5);
}

#[test]
fn e1_a_send_to_a_queue() {
    let polls = at_each_poll(Case::warm, |case| {
        let queue = Hand::new(case.producer.queues("orders")).output().unwrap()[0].clone();
        case.producer.send_to(queue, case.message("dropped"))
    });
    assert!(polls > 5, "{polls}");
    let polls = at_each_poll(Case::cold, |case| {
        case.producer.send_by(case.message("dropped"), |queues, _| queues.first())
    });
    assert!(polls > 10, "{polls}");
}

#[test]
fn e1_a_question_for_queues() {
    assert!(at_each_poll(Case::cold, |case| case.producer.queues("orders")) > 5);
    assert_eq!(at_each_poll(Case::warm, |case| case.producer.queues("orders")), 1);
}

fn given_back(case: &Case) -> SendBack {
    let stored =
        StoredMessage { topic: "orders".into(), body: case.body("dropped"), ..StoredMessage::default() };
    SendBack::new("readers", &stored).unwrap().broker("broker")
}

#[test]
fn e1_a_send_back() {
    let by_broker = at_each_poll(Case::warm, |case| case.producer.send_back(given_back(case)));
    let to_the_retry_topic = at_each_poll(Case::warm, |case| {
        case.peer.backs = [ResponseCode::SYSTEM_ERROR].into();
        case.producer.send_back(given_back(case))
    });
    assert!(to_the_retry_topic > by_broker && by_broker > 5, "{to_the_retry_topic} and {by_broker} polls");
}

#[test]
fn e1_a_request() {
    let polls = at_each_poll(Case::warm, |case| case.producer.request(case.message("dropped")));
    assert!(polls > 5, "{polls}");
}

#[test]
fn e1_a_reply() {
    let properties = [(CORRELATION_ID, "1"), (REPLY_TO_CLIENT, "c"), (TTL, "3000")];
    let properties = properties.map(|(name, value)| format!("{name}\u{1}{value}\u{2}")).concat();
    let request = stored(&properties);
    let polls = at_each_poll(Case::warm, |case| case.producer.reply(&request, case.body("dropped")));
    assert!(polls > 5, "{polls}");
}

#[test]
fn e1_a_recall() {
    let (topic, broker_name, unique_key) = ("orders".into(), "broker".into(), "AC0A".into());
    let handle = RecallHandle { topic, broker_name, timestamp: 1, unique_key }.encode().unwrap();
    assert!(at_each_poll(Case::warm, |case| case.producer.recall("orders", &*handle)) > 5);
}

/// The local work itself takes two polls.
#[test]
fn e1_a_transaction() {
    let polls = at_each_poll(Case::warm, |case| {
        case.producer.send_transaction(case.message("dropped"), async |_| {
            let mut polled = false;
            poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending })
                .await;
            Resolution::Commit
        })
    });
    assert!(polls > 10, "{polls}");
}

/// A broker asks about two messages.
fn asked(case: &mut Case) -> TransactionChecks {
    let checks = case.producer.transaction_checks();
    ["AC0A", "AC0B"].into_iter().for_each(|id| ask(&mut case.peer, id));
    assert_eq!(case.client.stats().open_checks, 2);
    checks
}

fn next(checks: &mut TransactionChecks) -> TransactionCheck {
    Hand::new(checks.next()).output().expect("the client lives")
}

#[test]
fn e1_an_answer_to_a_check() {
    let polls = at_each_poll(Case::warm, |case| {
        let mut checks = asked(case);
        next(&mut checks).answer(Resolution::Commit)
    });
    assert!(polls > 3, "{polls}");
}

#[test]
fn e1_all_answers_to_checks() {
    // It ends with the client only.
    for polls in 0..TOO_MANY {
        let mut case = Case::warm();
        let checks = asked(&mut case);
        let other = Hand::begun(case.send("other"));
        let run = checks.run(async |_: StoredMessage| Resolution::Commit);
        let (ended, flag) = poll_and_drop(&mut case, run, polls);
        assert_eq!(Arc::strong_count(&flag), 1, "a waker is left after {polls} polls");
        assert!(!ended);
        case.finish(&mut [other]);
        let answers = case.peer.ends.len();
        assert!(answers <= polls, "{answers} answers in {polls} polls");
        if answers == 2 {
            return assert!(polls > 5, "{polls} polls");
        }
    }
}

/// A question that was not returned is returned next.
#[test]
fn e1_the_next_check() {
    for polls in 0..3 {
        let mut case = Case::warm();
        let mut checks = case.producer.transaction_checks();
        let (ended, flag) = poll_and_drop(&mut case, checks.next(), polls);
        assert!(!ended);
        ask(&mut case.peer, "AC0A");
        assert!(flag.wakes() <= 1, "an old waker may be woken, once");
        assert_eq!(next(&mut checks).message_id(), "AC0A");
        drop(checks);
        case.finish(&mut []);
        assert_eq!(Arc::strong_count(&flag), 1);
    }
}

/// It goes on by itself once it was polled.
#[test]
fn e1_a_shutdown() {
    for polls in 0..TOO_MANY {
        let mut case = Case::warm();
        let before = Hand::begun(case.send("before"));
        let shutdown = case.client.shutdown();
        let (ended, flag) = poll_and_drop(&mut case, shutdown, polls);
        assert_eq!(Arc::strong_count(&flag), 1, "a waker is left after {polls} polls");
        let mut after = Hand::new(case.send("after"));
        let is_accepted = after.poll().is_pending();
        assert_eq!(is_accepted, polls == 0);
        let mut others = vec![before];
        others.extend(is_accepted.then_some(after));
        case.finish(&mut others);
        let mut end = Hand::new(case.client.shutdown());
        let mut outcome = None;
        case.run_until(|_| {
            if let Poll::Ready(ended) = end.poll() {
                outcome = Some(ended);
            }
            outcome.is_some()
        });
        assert_eq!(outcome, Some(Ok::<(), Error>(())));
        assert_eq!((case.world.tasks(), case.world.pipes.open(), case.peer.unregistered), (0, 0, 1));
        if ended {
            return assert!(polls > 3, "{polls} polls");
        }
    }
}
