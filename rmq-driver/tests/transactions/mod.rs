//! Transactions through the handles: whose code runs where, what brokers are told of it, and who hears their questions.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use rmq_driver::rmq_core::proto::command::RemotingCommand;
use rmq_driver::rmq_core::proto::compress::Compression;
use rmq_driver::rmq_core::proto::header::EndTransactionHeader;
use rmq_driver::rmq_core::proto::message::SysFlag;
use rmq_driver::rmq_core::proto::properties::{UNIQ_KEY, value};
use rmq_driver::{
    Client, Error, Message, Producer, RejectReason, Resolution, ResponseCode, SendResult, SendStatus,
    StoredMessage, TransactionCheck, TransactionResult,
};

use crate::world::{BROKER, Hand, Peer, World, half_message};
use crate::{message, warm};

/// What the broker was told: the numbers of `commitOrRollback`, whether a check was answered, and the remarks.
fn told(peer: &Peer) -> Vec<(i32, bool, Option<&str>)> {
    let told = |end: &RemotingCommand| {
        let header: EndTransactionHeader<'_> = end.header().unwrap();
        (header.commit_or_rollback, header.from_check.unwrap())
    };
    let ends = peer.ends.iter().map(|end| (told(end), end.remark.as_deref()));
    ends.map(|((number, from_check), remark)| (number, from_check, remark)).collect()
}

pub(crate) fn ask(peer: &mut Peer, id: &str) {
    peer.ask_about(&half_message(id));
    peer.run();
}

/// A transaction, from its first poll to its end.
fn transaction<F: Future<Output: Debug>>(peer: &mut Peer, future: F) -> F::Output {
    let mut hand = Hand::begun(future);
    peer.run();
    // The local work runs in this poll.
    assert!(hand.poll().is_pending());
    peer.run();
    hand.output()
}

fn assert_nothing_left(client: &Client<World>) {
    let stats = client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.open_checks), (0, 0, 0));
}

const fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn local_work_runs_between_the_half_message_and_its_end() {
    for (resolution, number) in
        [(Resolution::Commit, 8), (Resolution::Rollback, 12), (Resolution::Unknown, 0)]
    {
        let (_world, mut peer, client, producer) = warm();
        let sends = is_send(producer.send_transaction(message("x"), async move |sent: SendResult| {
            assert_eq!(sent.queue.to_string(), "orders/broker/0");
            resolution
        }));
        let result = transaction(&mut peer, sends).unwrap();
        assert_eq!((result.resolution, &result.told, &result.failure), (resolution, &Ok(()), &None));
        assert_eq!(result.sent.offset_message_id, "0A00000100002A9F0000000000000000");
        assert_eq!(result.sent.status, SendStatus::SendOk);
        assert_eq!(told(&peer), [(number, false, None)]);
        let end: EndTransactionHeader<'_> = peer.ends[0].header().unwrap();
        assert_eq!(end.message_id, result.sent.message_id);
        assert_eq!(end.producer_group, "group");
        assert_nothing_left(&client);
    }
}

/// H7: once, with the id that the broker has the message by.
#[test]
fn h7_local_work_runs_once_with_the_id_of_the_message() {
    let (_world, mut peer, _client, producer) = warm();
    let ran = Cell::new(0);
    let work = |sent: SendResult| {
        ran.set(ran.get() + 1);
        ready(if sent.message_id.is_empty() { Resolution::Rollback } else { Resolution::Commit })
    };
    let result = transaction(&mut peer, producer.send_transaction(message("x"), work)).unwrap();
    assert_eq!((ran.get(), result.resolution), (1, Resolution::Commit));
    let half = peer.seen.last().unwrap();
    assert_eq!(value(&half.properties, UNIQ_KEY), Some(&*result.sent.message_id));
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let (_world, mut peer, _client, producer) = warm();
    let ran = Cell::new(false);
    let idle = producer.send_transaction(message("x"), |_| {
        ran.set(true);
        ready(Resolution::Commit)
    });
    peer.run();
    drop(idle);
    assert!(!ran.get() && peer.seen.is_empty() && peer.ends.is_empty());
}

/// Row 91.
#[test]
fn bug_15_work_that_fails_is_unknown_with_a_remark() {
    let (_world, mut peer, client, producer) = warm();
    let fails = producer.send_transaction(message("x"), async |_| Err::<Resolution, _>("out of stock"));
    let result = transaction(&mut peer, fails).unwrap();
    assert_eq!((result.resolution, result.failure.as_deref()), (Resolution::Unknown, Some("out of stock")));
    let remark = "executeLocalTransactionBranch exception: out of stock";
    assert_eq!(told(&peer), [(0, false, Some(remark))]);
    assert_nothing_left(&client);
}

/// The panic goes on in the task it belongs to, once the broker was told.
#[test]
fn bug_15_work_that_panics_is_unknown_with_a_remark() {
    for at_once in [true, false] {
        let (_world, mut peer, client, producer) = warm();
        let mut hand = Hand::begun(producer.send_transaction(message("x"), |_| {
            assert!(!at_once, "in the closure");
            async { if ready(true).await { panic!("in its future") } else { Resolution::Commit } }
        }));
        peer.run();
        assert!(hand.poll().is_pending());
        peer.run();
        let panic = catch_unwind(AssertUnwindSafe(|| hand.poll())).unwrap_err();
        let text = panic.downcast_ref::<&str>().unwrap();
        assert_eq!(*text, if at_once { "in the closure" } else { "in its future" });
        assert_eq!(told(&peer), [(0, false, Some("executeLocalTransactionBranch exception: panic"))]);
        assert_nothing_left(&client);
    }
}

/// Row 92.
#[test]
fn h6_no_work_is_done_where_the_half_message_may_be_lost() {
    for status in [
        ResponseCode::FLUSH_DISK_TIMEOUT,
        ResponseCode::FLUSH_SLAVE_TIMEOUT,
        ResponseCode::SLAVE_NOT_AVAILABLE,
    ] {
        let (_world, mut peer, _client, producer) = warm();
        peer.status = Some(status);
        let sends = producer.send_transaction(message("x"), async |_| -> Resolution { panic!("{status}") });
        let result = transaction(&mut peer, sends).unwrap();
        assert_eq!((result.resolution, result.told), (Resolution::Rollback, Ok(())));
        assert_ne!(result.sent.status, SendStatus::SendOk);
        assert_eq!(told(&peer), [(12, false, None)]);
    }
}

/// Row 93.
#[test]
fn no_work_is_done_without_a_half_message() {
    let (_world, mut peer, client, producer) = warm();
    peer.status = Some(ResponseCode::MESSAGE_ILLEGAL);
    let work = async |_| -> Resolution { panic!("there is no half message") };
    let mut hand = Hand::begun(producer.send_transaction(message("x"), work));
    peer.run();
    let Err(Error::Send(error)) = hand.output() else { panic!("it is refused") };
    assert_eq!(error.code(), Some(ResponseCode::MESSAGE_ILLEGAL));
    peer.run();
    assert!(peer.ends.is_empty());
    let no_topic = Hand::new(producer.send_transaction(Message::new("no topic", "x"), work)).output();
    assert!(matches!(no_topic, Err(Error::Message(_))));
    assert_nothing_left(&client);
}

/// Dropped while the half message is on its way, while the work runs, and while the broker is told.
#[test]
fn a_dropped_transaction_says_nothing_more() {
    for stage in 0..3 {
        let (world, mut peer, client, producer) = warm();
        peer.holds = stage == 0;
        let dropped = Rc::new(());
        let held = Rc::clone(&dropped);
        let mut hand = Hand::begun(producer.send_transaction(message("x"), async move |_| {
            let _held = held;
            if stage == 1 { pending().await } else { Resolution::Commit }
        }));
        peer.run();
        if stage > 0 {
            // The end is accepted in this poll, and nothing written before the loop runs.
            assert!(hand.poll().is_pending());
        }
        drop(hand);
        assert_eq!(Rc::strong_count(&dropped), 1, "the work is dropped, too");
        peer.release();
        peer.run();
        world.pass(Duration::from_secs(10));
        peer.run();
        assert!(peer.ends.is_empty(), "stage {stage}");
        assert_nothing_left(&client);
    }
}

/// H4: the caller is told, and has done what it had to do.
#[test]
fn h4_a_broker_that_cannot_be_told_is_no_error_of_the_transaction() {
    let (world, mut peer, _client, producer) = warm();
    let broker = peer.pipe(BROKER);
    let pipes = world.pipes.clone();
    let mut hand = Hand::begun(producer.send_transaction(message("x"), async |_| {
        pipes.with(broker, |end| end.room = 0);
        Resolution::Commit
    }));
    peer.run();
    assert!(hand.poll().is_pending());
    peer.run();
    world.pass(Duration::from_secs(3));
    peer.run();
    let TransactionResult { resolution, told, .. } = hand.output().unwrap();
    assert_eq!(resolution, Resolution::Commit);
    let Err(error @ Error::EndTransaction(_)) = told else { panic!("{told:?}") };
    assert!(error.to_string().contains("broker `broker` (broker:10911)"), "{error}");
    assert!(!error.is_retryable() && error.may_have_been_stored());
}

/// While it runs, the broker is told that it does, and nobody else is asked.
#[test]
fn h5_work_that_runs_is_not_asked_about() {
    let (_world, mut peer, client, producer) = warm();
    let mut checks = producer.transaction_checks();
    let goes_on = Rc::new(Cell::new(false));
    let id = Rc::new(Cell::new(String::new()));
    let mut hand = Hand::begun(producer.send_transaction(message("x"), {
        let (goes_on, id) = (Rc::clone(&goes_on), Rc::clone(&id));
        async move |sent: SendResult| {
            id.set(sent.message_id);
            std::future::poll_fn(|_| if goes_on.get() { Poll::Ready(()) } else { Poll::Pending }).await;
            Resolution::Commit
        }
    }));
    peer.run();
    assert!(hand.poll().is_pending());
    let id = id.take();
    ask(&mut peer, &id);
    assert!(Hand::new(checks.next()).poll().is_pending());
    goes_on.set(true);
    assert!(hand.poll().is_pending());
    peer.run();
    assert_eq!(hand.output().unwrap().resolution, Resolution::Commit);
    assert_eq!(told(&peer), [(0, true, None), (8, false, None)]);
    ask(&mut peer, &id);
    assert!(Hand::new(checks.next()).poll().is_ready(), "it runs no more");
    assert_nothing_left(&client);
}

fn next(checks: &mut rmq_driver::TransactionChecks) -> TransactionCheck {
    Hand::new(checks.next()).output().expect("the client lives")
}

#[test]
fn a_check_is_answered() {
    let (_world, mut peer, client, producer) = warm();
    let mut checks = producer.transaction_checks();
    let mut waits = Hand::begun(is_send(checks.next()));
    ask(&mut peer, "AC0A");
    assert_eq!(waits.flag.wakes(), 1);
    let check = waits.output().unwrap();
    drop(waits);
    assert_eq!((check.message_id(), &*check.message().body), ("AC0A".into(), &b"hello"[..]));
    let mut answer = Hand::begun(check.answer(Resolution::Commit));
    peer.run();
    assert_eq!(answer.output(), Ok(()));
    ask(&mut peer, "AC0B");
    next(&mut checks).answer_with(Resolution::Rollback, "no such order").detach().unwrap();
    peer.run();
    assert_eq!(told(&peer), [(8, true, None), (12, true, Some("no such order"))]);
    assert_nothing_left(&client);
}

/// They wait for whoever asks for them next, and one that was dropped is the broker's to ask again.
#[test]
fn checks_wait_and_dropped_ones_are_let_go() {
    let (_world, mut peer, client, producer) = warm();
    let mut checks = producer.transaction_checks();
    drop(Hand::begun(checks.next()));
    ["1", "2", "3", "4"].into_iter().for_each(|id| ask(&mut peer, id));
    assert_eq!(client.stats().open_checks, 4);
    let first = next(&mut checks);
    assert_eq!(first.message_id(), "1");
    drop(first);
    let second = next(&mut checks);
    assert_eq!(second.message_id(), "2");
    drop(second.answer(Resolution::Commit));
    assert_eq!(client.stats().open_checks, 2);
    // An answer that is taken back before it is written.
    drop(Hand::begun(next(&mut checks).answer(Resolution::Commit)));
    drop(checks);
    peer.run();
    assert!(peer.ends.is_empty());
    assert_nothing_left(&client);
}

#[test]
fn checks_that_nobody_listens_to_are_counted_and_let_go() {
    let (_world, mut peer, client, producer) = warm();
    ask(&mut peer, "1");
    drop(producer.transaction_checks());
    ask(&mut peer, "2");
    assert_eq!((client.driver_stats().checks_unheard, client.stats().checks), (2, 2));
    assert_nothing_left(&client);
}

#[test]
fn handles_share_the_checks() {
    let (_world, mut peer, _client, producer) = warm();
    let (mut one, mut other) = (producer.transaction_checks(), producer.transaction_checks());
    let (mut waits, also) = (Hand::begun(one.next()), Hand::begun(other.next()));
    ask(&mut peer, "1");
    assert_eq!((waits.flag.wakes(), also.flag.wakes()), (1, 1));
    assert!(waits.output().is_some());
    drop((waits, also));
    drop(one);
    ask(&mut peer, "2");
    assert_eq!(next(&mut other).message_id(), "2");
}

#[test]
fn an_old_check_is_over() {
    let (world, mut peer, client, producer) = warm();
    let mut checks = producer.transaction_checks();
    ask(&mut peer, "1");
    ask(&mut peer, "2");
    let check = next(&mut checks);
    world.pass(Duration::from_secs(60));
    peer.run();
    let late = Hand::new(check.answer(Resolution::Commit)).output();
    assert_eq!(late, Err(Error::Rejected(RejectReason::CheckOver)));
    assert!(Hand::new(checks.next()).poll().is_pending(), "the second one is over, too");
    ask(&mut peer, "3");
    assert_eq!(next(&mut checks).message_id(), "3");
    assert_eq!(client.stats().checks_expired, 2);
}

/// The system flag says so.
#[test]
fn a_body_that_cannot_be_inflated_is_left_as_it_is() {
    let (_world, mut peer, _client, producer) = warm();
    let mut checks = producer.transaction_checks();
    let mut message = half_message("1");
    message.body = "no zlib".into();
    message.sys_flag = SysFlag::default().with_compression(Compression::Zlib);
    peer.ask_about(&message);
    peer.run();
    let broken = next(&mut checks);
    assert_eq!(&*broken.message().body, b"no zlib");
    assert!(broken.message().sys_flag.is_compressed());
}

#[test]
fn a_checker_answers_all_until_the_end() {
    let (world, mut peer, client, producer) = warm();
    let checker = async |message: StoredMessage| match &*message.message_id() {
        "commit" => Ok(Resolution::Commit),
        "error" => Err("no database"),
        id => panic!("what of {id}?"),
    };
    let mut runs = Hand::begun(is_send(producer.transaction_checks().run(checker)));
    for id in ["commit", "error", "panic", "commit"] {
        ask(&mut peer, id);
        assert!(runs.poll().is_pending());
        peer.run();
        assert!(runs.poll().is_pending());
    }
    let error = Some("checkLocalTransactionState Exception: no database");
    let panic = Some("checkLocalTransactionState Exception: panic");
    assert_eq!(told(&peer), [(8, true, None), (0, true, error), (0, true, panic), (8, true, None)]);
    let mut end = Hand::begun(client.shutdown());
    peer.run();
    assert_eq!(end.output(), Ok(()));
    runs.output();
    assert_eq!(world.tasks(), 0);
}

/// The client ends without its handles' doing.
#[test]
fn a_lost_task_ends_the_checks() {
    let (world, mut peer, _client, producer) = warm();
    let mut checks = producer.transaction_checks();
    ask(&mut peer, "1");
    let check = next(&mut checks);
    let mut waits = Hand::begun(checks.next());
    world.drop_tasks();
    assert_eq!(waits.flag.wakes(), 1);
    assert!(waits.output().is_none());
    assert_eq!(Hand::new(check.answer(Resolution::Commit)).output(), Err(Error::ShutDown));
}

/// A producer's handles and futures are all that keeps its client.
#[test]
fn checks_keep_their_client() {
    let (world, peer, client, producer) = warm();
    let checks = producer.transaction_checks();
    drop((client, producer));
    world.run();
    assert_eq!(world.tasks(), 1);
    drop(checks);
    world.run();
    assert_eq!(world.tasks(), 0);
    drop(peer);
}

fn _a_transaction_can_be_spawned(producer: &Producer) -> impl Future<Output = ()> + Send + use<> {
    let producer = producer.clone();
    async move {
        let sent = producer.send_transaction(message("x"), async |sent: SendResult| {
            ready(()).await;
            if sent.queue_offset == 0 { Resolution::Commit } else { Resolution::Rollback }
        });
        drop(sent.await);
    }
}
