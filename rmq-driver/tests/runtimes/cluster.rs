//! What a real cluster can take part in, too.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmq_driver::{Error, MessageQueue, Producer, SendOptions, SendResult, SendStatus};

use super::Host;
use super::place::Place;
use super::tools::{Tasks, assert_nothing_left, begin, client, free_address, in_time, step_aside, until};

pub(crate) fn messages_are_stored<H: Host>(host: &H) {
    let place = Place::find("messages");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        let first = producer.send(place.message("first").tag("created").key("1")).await.unwrap();
        assert_eq!((first.status, &*first.queue.topic), (SendStatus::SendOk, &*place.topic));
        let mut ids = BTreeSet::from([first.message_id]);
        for number in 0..50 {
            let sent = producer.send(place.message(format!("{number}"))).await.unwrap();
            assert_eq!(sent.status, SendStatus::SendOk);
            ids.insert(sent.message_id);
        }
        assert_eq!(ids.len(), 51);
        producer.send(place.message(vec![b'x'; 3 << 20])).await.unwrap();
        in_time::<H::Runtime, _>("shutdown", client.shutdown()).await.unwrap();
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.sends_succeeded, stats.unknown_answers), (52, 0));
    });
}

/// A message to each queue; the sum of the places that they got.
async fn fill(place: &Place, producer: &Producer, queues: &[MessageQueue]) -> i64 {
    let mut sum = 0;
    for queue in queues {
        sum += producer.send_to(queue.clone(), place.message("known")).await.unwrap().queue_offset;
    }
    sum
}

/// No broker confirms it, but it takes a place in some queue.
pub(crate) fn a_oneway_message_arrives<H: Host>(host: &H) {
    let place = Place::find("a one-way message");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        producer.send(place.message("warm")).await.unwrap();
        let queues = producer.queues(&*place.topic).await.unwrap();
        let mut before = fill(&place, &producer, &queues).await;
        producer.send_oneway(place.message("oneway")).await.unwrap();
        let find = async {
            loop {
                let after = fill(&place, &producer, &queues).await;
                match after - before - queues.len() as i64 {
                    0 => before = after,
                    places => return places,
                }
            }
        };
        assert_eq!(in_time::<H::Runtime, _>("it arrives", find).await, 1);
        assert_nothing_left(&client.stats());
    });
}

pub(crate) fn ten_thousand_are_sent_at_once<H: Host>(host: &H) {
    let place = Place::find("ten thousand");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        let sends = (0..10_000_u16).map(|number| producer.send(place.message(number.to_string())));
        let results = Tasks::start::<H::Runtime, _>(sends).join::<H::Runtime>().await;
        let ids: BTreeSet<_> = results.into_iter().map(|sent| sent.unwrap().message_id).collect();
        assert_eq!(ids.len(), 10_000);
        in_time::<H::Runtime, _>("shutdown", client.shutdown()).await.unwrap();
        let stats = client.stats();
        assert_eq!(stats.sends_succeeded, 10_000);
        assert_nothing_left(&stats);
    });
}

/// Before, at and after each poll, while other sends of the same connections are under way.
pub(crate) fn futures_may_be_dropped_at_any_moment<H: Host>(host: &H) {
    let place = Place::find("dropped futures");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        producer.send(place.message("warm")).await.unwrap();
        let kept = (0..100).map(|number| producer.send(place.message(format!("kept {number}"))));
        let kept = Tasks::start::<H::Runtime, _>(kept);
        let dropped = (0..200).map(|moment| {
            let mut send = Box::pin(producer.send(place.message(vec![b'x'; 1 + moment * 500])));
            async move {
                if moment % 10 == 0 {
                    return;
                }
                if begin(&mut send).await.is_pending() {
                    for _ in 0..moment / 10 {
                        step_aside().await;
                    }
                    // It may have ended by now, with nobody looking.
                    drop(send);
                }
            }
        });
        Tasks::start::<H::Runtime, _>(dropped).join::<H::Runtime>().await;
        for sent in kept.join::<H::Runtime>().await {
            assert_eq!(sent.unwrap().status, SendStatus::SendOk);
        }
        until::<H::Runtime>("no answer is on its way", || client.stats().awaited == 0).await;
        producer.send(place.message("after")).await.unwrap();
        let stats = client.stats();
        assert_nothing_left(&stats);
        // Of the 200, 20 never began.
        assert_eq!((stats.sends, stats.sends_failed), (1 + 100 + 180 + 1, 0));
        assert_eq!(stats.disconnects, 0);
    });
}

/// Sends that are all with the client when this returns.
async fn under_way<H: Host>(
    place: &Place,
    producer: &Producer,
    sends: usize,
) -> Tasks<Result<SendResult, Error>> {
    let begun = Arc::new(AtomicUsize::new(0));
    let sends = (0..sends).map(|number| {
        let begun = Arc::clone(&begun);
        let mut send = Box::pin(producer.send(place.message(format!("{number}"))));
        async move {
            let polled = begin(&mut send).await;
            assert!(polled.is_pending(), "{polled:?}");
            begun.fetch_add(1, Ordering::Relaxed);
            send.await
        }
    });
    let sends: Vec<_> = sends.collect();
    let all = sends.len();
    let tasks = Tasks::start::<H::Runtime, _>(sends);
    until::<H::Runtime>("all have begun", || begun.load(Ordering::Relaxed) == all).await;
    tasks
}

pub(crate) fn shutdown_lets_work_finish<H: Host>(host: &H) {
    let place = Place::find("shutdown with work in flight");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        producer.send(place.message("warm")).await.unwrap();
        let sends = under_way::<H>(&place, &producer, 200).await;
        let shutdown = client.shutdown_within(super::tools::PATIENCE);
        in_time::<H::Runtime, _>("shutdown", shutdown).await.unwrap();
        for sent in sends.join::<H::Runtime>().await {
            sent.unwrap();
        }
        assert_eq!(producer.send(place.message("late")).await, Err(Error::ShutDown));
        in_time::<H::Runtime, _>("a second shutdown", client.shutdown()).await.unwrap();
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.sends_succeeded, stats.connections, stats.timers), (201, 0, 0));
    });
}

pub(crate) fn shutdown_within_no_time_ends_all_work<H: Host>(host: &H) {
    let place = Place::find("shutdown within no time");
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&place.name_server);
        producer.send(place.message("warm")).await.unwrap();
        let sends = under_way::<H>(&place, &producer, 200).await;
        // All three wait for the same end.
        let both = Tasks::start::<H::Runtime, _>([client.shutdown_within(Duration::ZERO), client.shutdown()]);
        in_time::<H::Runtime, _>("shutdown", client.shutdown()).await.unwrap();
        assert_eq!(both.join::<H::Runtime>().await, [Ok(()), Ok(())]);
        for sent in sends.join::<H::Runtime>().await {
            let Err(Error::Send(error)) = sent else { continue };
            assert!(error.to_string().contains("shut down"), "{error}");
        }
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.connections, stats.timers), (0, 0));
    });
}

pub(crate) fn a_name_server_that_is_down_does_no_harm_beside_another<H: Host>(host: &H) {
    let place = Place::find("a name server that is down");
    host.block_on(async {
        let both = format!("{};{}", free_address(), place.name_server);
        let (client, producer) = client::<H::Runtime>(both);
        assert_eq!(producer.send(place.message("x")).await.unwrap().status, SendStatus::SendOk);
        in_time::<H::Runtime, _>("shutdown", client.shutdown()).await.unwrap();
    });
}

/// Nothing listens there, or nobody knows the host.
pub(crate) fn who_does_not_answer_is_named<H: Host>(host: &H) {
    let place = Place::find("who does not answer");
    host.block_on(async {
        let refusing = free_address();
        let rows = [(refusing.as_str(), "refused"), ("no-such-host.invalid:9876", "cannot resolve")];
        for (address, reason) in rows {
            let (client, producer) = client::<H::Runtime>(address);
            let options = SendOptions::default().timeout(Duration::from_secs(5));
            let error = producer.send_with(place.message("x"), options).await.unwrap_err();
            let text = error.to_string();
            assert!(text.contains(address) && text.contains(reason), "{text}");
            assert!(error.is_retryable() && !error.may_have_been_stored());
            assert_nothing_left(&client.stats());
        }
    });
}
