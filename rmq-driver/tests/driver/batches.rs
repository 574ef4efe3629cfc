//! Batches by the handles.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rmq_driver::rmq_core::proto::message::BatchElements;
use rmq_driver::{
    AutoBatch, BatchError, Client, DelayLevel, Error, Message, Producer, ProducerConfig, SendOptions,
};

use super::world::{Hand, Peer, World};
use super::{message, warm};

fn warm_auto() -> (World, Peer, Client<World>, Producer) {
    let world = World::new();
    let mut peer = Peer::new(&world);
    let client = world.client();
    let config = ProducerConfig::new("group").auto_batch(AutoBatch::new());
    let producer = client.producer_with(config).unwrap();
    let options = SendOptions::default().timeout(Duration::from_secs(3));
    let mut first = Hand::begun(producer.send_with(message("warm"), options));
    peer.run();
    first.output().unwrap();
    peer.seen.clear();
    (world, peer, client, producer)
}

fn bodies(body: &Bytes) -> Vec<Bytes> {
    BatchElements::new(body.clone()).map(|element| element.unwrap().body).collect()
}

#[test]
fn a_batch_goes_out_as_one_request_and_has_one_result() {
    let (_world, mut peer, client, producer) = warm();
    let mut send = Hand::begun(producer.send_batch(["one", "two", "three"].map(message)));
    peer.run();
    let sent = send.output().unwrap();
    assert_eq!((sent.message_ids().count(), sent.offset_message_ids().count()), (3, 3));
    assert_eq!(sent.queue_offset, 1);
    assert_eq!(peer.seen.len(), 1);
    assert_eq!(bodies(&peer.seen[0].body), ["one", "two", "three"]);

    let queue = sent.queue;
    let mut to_queue = Hand::begun(producer.send_batch_to(queue.clone(), [message("four")]));
    let mut oneway = Hand::begun(producer.send_batch_oneway([message("five"), message("six")]));
    peer.run();
    assert_eq!(to_queue.output().unwrap().queue, queue);
    oneway.output().unwrap();
    assert_eq!(peer.seen.iter().map(|seen| seen.messages).collect::<Vec<_>>(), [3, 1, 2]);
    assert_eq!((client.stats().operations, client.stats().operation_bytes), (0, 0));
}

/// BUG-21: each at the first poll, before anything is looked up or written.
#[test]
fn bug_21_what_is_no_batch_has_an_error_of_its_own() {
    let (_world, mut peer, client, producer) = warm();
    let before = client.stats();
    let hello = |topic: &str| Message::new(topic, "hello");
    let large = || Message::new("T1", vec![b'x'; 3 << 20]);
    type Expected = fn(&BatchError) -> bool;
    let rows: [(Vec<Message>, Expected); 6] = [
        (vec![hello("T1"), hello("T2")], |error| matches!(error, BatchError::SeveralTopics { .. })),
        (vec![], |error| matches!(error, BatchError::Empty)),
        (vec![hello("T1").delay_level(DelayLevel::new(3).unwrap())], |error| {
            matches!(error, BatchError::Delayed { .. })
        }),
        (vec![hello("%RETRY%g")], |error| matches!(error, BatchError::RetryTopic { .. })),
        (vec![hello("T1"), hello("T1").wait_store_ok(false)], |error| {
            matches!(error, BatchError::MixedWait { .. })
        }),
        (vec![large(), large()], |error| matches!(error, BatchError::TooLong { .. })),
    ];
    for (messages, is_expected) in rows {
        let error = Hand::new(producer.send_batch(messages)).output().unwrap_err();
        let Error::Batch(batch) = &error else { panic!("{error}") };
        assert!(is_expected(batch), "{error}");
        assert!(!error.is_retryable() && !error.may_have_been_stored());
    }
    peer.run();
    let after = client.stats();
    assert_eq!((after.route_queries, after.bytes_written), (before.route_queries, before.bytes_written));
}

/// A body's owner runs code of its own when the last of it is dropped: never while the client is locked, or that code could
/// not use the client.
#[test]
fn bodies_of_a_batch_are_dropped_where_the_client_can_be_used() {
    struct Owner(Client<World>, Arc<AtomicUsize>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            b"owned"
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.stats();
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    for gathers in [false, true] {
        let (world, mut peer, client, producer) = if gathers { warm_auto() } else { warm() };
        let dropped = Arc::new(AtomicUsize::new(0));
        let owned = || {
            let body = Bytes::from_owner(Owner(client.clone(), Arc::clone(&dropped)));
            Message::new("orders", body)
        };
        if gathers {
            let mut sends = [Hand::begun(producer.send(owned())), Hand::begun(producer.send(owned()))];
            producer.send(owned()).detach().unwrap();
            world.pass(Duration::from_millis(10));
            peer.run();
            sends.iter_mut().for_each(|send| drop(send.output().unwrap()));
        } else {
            let mut send = Hand::begun(producer.send_batch([owned(), owned()]));
            producer.send_batch([owned()]).detach().unwrap();
            peer.run();
            send.output().unwrap();
        }
        peer.run();
        assert_eq!(dropped.load(Ordering::Relaxed), 3, "{gathers}");
    }
}

#[test]
fn sends_that_come_together_go_out_together() {
    let (world, mut peer, client, producer) = warm_auto();
    let mut sends: Vec<_> = (0..20).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    assert!(peer.seen.is_empty());
    world.pass(Duration::from_millis(10));
    peer.run();
    assert_eq!(peer.seen.len(), 1);
    for (place, send) in sends.iter_mut().enumerate() {
        let sent = send.output().unwrap();
        assert_eq!((sent.queue_offset, sent.message_ids().count()), (1 + place as i64, 1));
    }
    assert_eq!((client.stats().operations, client.stats().operation_bytes), (0, 0));
}

/// Dropping the future of one message takes it out of the batch, and leaves the others in.
#[test]
fn a_dropped_send_leaves_its_batch() {
    let (world, mut peer, client, producer) = warm_auto();
    let mut sends: Vec<_> =
        ["one", "two", "three"].map(|body| Hand::begun(producer.send(message(body)))).into();
    drop(sends.remove(1));
    world.pass(Duration::from_millis(10));
    peer.run();
    assert_eq!(bodies(&peer.seen[0].body), ["one", "three"]);
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    let stats = client.stats();
    assert_eq!((stats.cancelled, stats.operations, stats.gathered, stats.auto_batches), (1, 0, 0, 0));
}
