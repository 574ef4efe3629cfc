//! Transactions of clients in worlds, where sleeping takes no time: through the model's servers on both profiles.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmq_driver::{Message, Producer, Resolution, SendResult, StoredMessage as Record, TransactionResult};
use rmq_proto::properties::TRANSACTION_CHECK_TIMES;
use rmq_sim::World;
use rmq_sim::model::Profile;
use rmq_sim::world::Outcome;

const SECOND: Duration = Duration::from_secs(1);

/// How a look at the local work went.
type Look = fn(&str) -> Result<Resolution, &'static str>;

async fn transact(producer: &Producer, resolution: Resolution) -> TransactionResult {
    let work = async |_: SendResult| resolution;
    producer.send_transaction(Message::new("orders", "hello"), work).await.unwrap()
}

/// A transaction with this outcome, then 100 s in which checks are answered so.
fn run(profile: Profile, resolution: Resolution, look: Look) -> Outcome<Vec<Duration>> {
    let world = World::builder(1).profile(profile).topic("orders", 4).build();
    let sim = world.runtime();
    world.run(async move |client| {
        let producer = client.producer("order-service").unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let task = {
            let (sim, asked, checks) = (sim.clone(), Arc::clone(&asked), producer.transaction_checks());
            sim.clone().spawn(checks.run(async move |message: Record| {
                asked.lock().unwrap().push(sim.elapsed());
                look(&message.message_id())
            }))
        };
        let result = transact(&producer, resolution).await;
        assert_eq!((result.resolution, &result.told), (resolution, &Ok(())));
        assert_eq!(result.sent.transaction_id.is_some(), profile == Profile::V5_3);
        sim.sleep(100 * SECOND).await;
        client.shutdown().await.unwrap();
        task.await;
        Arc::into_inner(asked).unwrap().into_inner().unwrap()
    })
}

fn orders<T>(outcome: &Outcome<T>) -> usize {
    outcome.stored().filter(|message| &*message.topic == "orders").count()
}

#[test]
fn a_commit_and_a_rollback_are_not_asked_about() {
    for profile in Profile::ALL {
        for (resolution, stored) in [(Resolution::Commit, 1), (Resolution::Rollback, 0)] {
            let outcome = run(profile, resolution, |_| panic!("nothing to ask"));
            assert_eq!((orders(&outcome), outcome.value.len()), (stored, 0), "{profile}: {resolution:?}");
        }
    }
}

/// Rounds are 10, 40, 70 and 100 s after the world's beginning.
#[test]
fn what_is_unknown_is_asked_about_until_it_is_known() {
    for profile in Profile::ALL {
        let rows: [(Look, usize, usize); 4] = [
            (|_| Ok(Resolution::Commit), 1, 1),
            (|_| Ok(Resolution::Rollback), 0, 1),
            (|_| Ok(Resolution::Unknown), 0, 4),
            (|_| Err("no database"), 0, 4),
        ];
        for (look, stored, asked) in rows {
            let outcome = run(profile, Resolution::Unknown, look);
            assert_eq!((orders(&outcome), outcome.value.len()), (stored, asked), "{profile}");
            assert_eq!(outcome.value[0].as_secs(), 10, "{profile}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let again = || run(Profile::V5_3, Resolution::Unknown, |_| Ok(Resolution::Commit)).hash;
    assert_eq!(again(), again());
}

/// The process ends before it has said anything; the one that is started anew is asked as soon as its broker knows it.
#[test]
fn a_producer_that_is_gone_leaves_its_transactions_to_the_next() {
    for profile in Profile::ALL {
        let world = World::builder(2).profile(profile).topic("orders", 4).build();
        let sim = world.runtime();
        let left = world.run(async |client| {
            let producer = client.producer("order-service").unwrap();
            let never = producer.send_transaction(Message::new("orders", "hello"), async |_: SendResult| {
                std::future::pending::<Resolution>().await
            });
            assert!(sim.timeout(SECOND, never).await.is_err());
            drop((client, producer));
            sim.sleep(60 * SECOND).await;
        });
        assert_eq!(orders(&left), 0);
        let done = world.run(async |client| {
            let producer = client.producer("order-service").unwrap();
            let mut checks = producer.transaction_checks();
            producer.queues("orders").await.unwrap();
            let check = checks.next().await.unwrap();
            let times = check.message().property(TRANSACTION_CHECK_TIMES).unwrap().to_owned();
            check.answer(Resolution::Commit).await.unwrap();
            sim.sleep(100 * SECOND).await;
            times
        });
        assert_eq!((orders(&done), &*done.value), (1, "3"), "{profile}: two rounds had nobody to ask");
    }
}

/// H4: the commit is lost, so the broker asks.
#[test]
fn h4_a_lost_commit_is_made_up_for() {
    for profile in Profile::ALL {
        let world = World::builder(3).profile(profile).topic("orders", 4).build();
        world.broker("broker-a").hang(5 * SECOND..8 * SECOND);
        let sim = world.runtime();
        let outcome = world.run(async |client| {
            let producer = client.producer("order-service").unwrap();
            let mut checks = producer.transaction_checks();
            let own = sim.clone();
            let work = async move |_: SendResult| {
                own.sleep(6 * SECOND).await;
                Resolution::Commit
            };
            let result = producer.send_transaction(Message::new("orders", "hello"), work).await.unwrap();
            assert_eq!(result.told, Ok(()), "its bytes were taken");
            let check = checks.next().await.unwrap();
            assert_eq!(check.message_id(), result.sent.message_id);
            check.answer(Resolution::Commit).await.unwrap();
            sim.sleep(100 * SECOND).await;
        });
        assert_eq!(orders(&outcome), 1, "{profile}");
    }
}

/// H5: the broker hears that the work still runs, and then its end. What it appended to ask about is asked about again.
#[test]
fn h5_slow_work_is_told_once_it_is_done() {
    for profile in Profile::ALL {
        let world = World::builder(4).profile(profile).topic("orders", 4).build();
        let sim = world.runtime();
        let outcome = world.run(async |client| {
            let producer = client.producer("order-service").unwrap();
            let mut checks = producer.transaction_checks();
            let own = sim.clone();
            let work = async move |_: SendResult| {
                own.sleep(20 * SECOND).await;
                Resolution::Commit
            };
            let slow = producer.send_transaction(Message::new("orders", "hello"), work);
            let result = slow.await.unwrap();
            assert_eq!(result.told, Ok(()));
            assert_eq!(client.stats().checks, 1);
            let again = checks.next().await.unwrap();
            again.answer(Resolution::Rollback).await.unwrap();
            sim.sleep(100 * SECOND).await;
            client.stats().checks
        });
        assert_eq!((orders(&outcome), outcome.value), (1, 2), "{profile}");
    }
}
