//! A world's runtime: tasks, time, ends, and the same run for the same seed.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use rmq_driver::{Message, Producer, Runtime};
use rmq_sim::World;
use rmq_sim::net::Fault;
use rmq_sim::world::{Elapsed, FailureKind, JoinHandle, Outcome, Sim, SimStream, World as SameWorld};

const SECOND: Duration = Duration::from_secs(1);

const _: () = {
    const fn shared<T: Send + Sync + 'static>() {}
    const fn runtime<T: Runtime + Clone + Send + Sync>() {}
    shared::<SameWorld>();
    shared::<SimStream>();
    shared::<JoinHandle<u8>>();
    shared::<Outcome<u8>>();
    runtime::<Sim>();
};

/// Three brokers, trouble at two of them, and thirty sends.
fn busy_run(seed: u64, fault: Fault) -> Outcome<Vec<bool>> {
    let world = World::builder(seed).brokers(3).name_servers(2).topic("orders", 4).build();
    world.broker("broker-a").fault(fault, 2 * SECOND..9 * SECOND);
    world.broker("broker-b").reset(4 * SECOND);
    let sim = world.runtime();
    world.run(async |client| {
        let producer = client.producer("group").unwrap();
        let send = async |number: u32, producer: Producer| {
            let sent = producer.send(Message::new("orders", format!("order {number}"))).await;
            sent.is_ok()
        };
        let mut sent = Vec::new();
        for number in 0..30 {
            sent.push(send(number, producer.clone()).await);
            sim.sleep(SECOND / 2).await;
        }
        client.shutdown().await.unwrap();
        sent
    })
}

#[test]
fn the_same_seed_is_the_same_run() {
    let (first, again) = (busy_run(5, Fault::Hang), busy_run(5, Fault::Hang));
    assert_eq!((first.hash, first.time, &first.value), (again.hash, again.time, &again.value));
    assert!(first.stored().eq(again.stored()));
    assert_ne!(busy_run(6, Fault::Hang).hash, first.hash);
    assert_ne!(busy_run(5, Fault::Mute).hash, first.hash);
}

#[test]
fn worlds_in_one_process_do_not_influence_each_other() {
    let alone = busy_run(5, Fault::Crash).hash;
    let outer = World::new(1);
    let inner = outer.run_with(async |sim| {
        let task = sim.spawn(async {});
        sim.sleep(SECOND).await;
        let inner = busy_run(5, Fault::Crash).hash;
        task.await;
        inner
    });
    assert_eq!((inner.value, inner.time), (alone, SECOND));
}

#[test]
fn a_recorded_run_is_the_same_run() {
    let run = |builder: rmq_sim::world::WorldBuilder| {
        builder.build().run(async |client| {
            let producer = client.producer("group").unwrap();
            producer.send(Message::new("orders", "hello")).await.map(drop)
        })
    };
    let (silent, recorded) = (run(World::builder(3)), run(World::builder(3).record()));
    assert_eq!(silent.value, Ok(()));
    assert_eq!(silent.hash, recorded.hash);
    assert_eq!(silent.trace().entries().count(), 0);
    assert!(recorded.trace().entries().any(|entry| entry.to_string().contains("SEND_MESSAGE_V2")));
}

#[test]
fn sleeping_takes_virtual_time_and_no_other() {
    const MONTH: Duration = Duration::from_secs(30 * 86_400);
    let world = World::builder(0).time_limit(2 * MONTH).build();
    let outcome = world.run_with(async |sim| {
        let begin = sim.unix_ms();
        sim.sleep(MONTH).await;
        sim.sleep(Duration::ZERO).await;
        u128::from(sim.unix_ms() - begin)
    });
    assert_eq!((outcome.value, outcome.time), (MONTH.as_millis(), MONTH));
}

#[test]
fn timers_go_off_in_their_order_and_tasks_run_in_the_order_they_were_woken() {
    let world = World::new(0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    world.run_with(async |sim| {
        let mut tasks = Vec::new();
        for (name, millis) in [("c", 30), ("a", 10), ("b", 20), ("b2", 20)] {
            let (own, seen) = (sim.clone(), Arc::clone(&seen));
            tasks.push(sim.spawn(async move {
                seen.lock().unwrap().push((name, own.elapsed()));
                own.sleep(Duration::from_millis(millis)).await;
                seen.lock().unwrap().push((name, own.elapsed()));
            }));
        }
        for task in tasks {
            task.await;
        }
    });
    let at = Duration::from_millis;
    let begin = [("c", at(0)), ("a", at(0)), ("b", at(0)), ("b2", at(0))];
    let end = [("a", at(10)), ("b", at(20)), ("b2", at(20)), ("c", at(30))];
    assert_eq!(*seen.lock().unwrap(), [begin, end].concat());
}

#[test]
fn a_timeout_drops_what_it_cuts_short() {
    let world = World::new(0);
    let guard = Arc::new(());
    let outcome = world.run_with(async |sim| {
        let held = Arc::clone(&guard);
        let late = sim
            .timeout(SECOND, async move {
                let _held = held;
                pending::<()>().await;
            })
            .await;
        assert_eq!(late, Err(Elapsed { time: SECOND }));
        assert_eq!(Arc::strong_count(&guard), 1);
        sim.timeout(SECOND, sim.sleep(SECOND / 2)).await
    });
    assert_eq!((outcome.value, outcome.time), (Ok(()), SECOND * 3 / 2));
}

#[test]
fn an_aborted_task_is_dropped_at_once_and_a_dropped_handle_lets_it_run() {
    let world = World::new(0);
    let guard = Arc::new(());
    world.run_with(async |sim| {
        let task = |guard: Arc<()>| {
            let own = sim.clone();
            async move {
                own.sleep(SECOND).await;
                drop(guard);
            }
        };
        let aborted = sim.spawn(task(Arc::clone(&guard)));
        drop(sim.spawn(task(Arc::clone(&guard))));
        sim.sleep(SECOND / 2).await;
        assert_eq!((Arc::strong_count(&guard), aborted.is_finished()), (3, false));
        aborted.abort();
        assert_eq!(Arc::strong_count(&guard), 2);
        sim.sleep(SECOND).await;
        assert_eq!(Arc::strong_count(&guard), 1);
    });
}

#[test]
fn what_a_run_leaves_under_way_is_dropped() {
    let world = World::new(0);
    let guard = Arc::new(());
    world.run_with(async |sim| {
        let held = Arc::clone(&guard);
        drop(sim.spawn(async move {
            pending::<()>().await;
            drop(held);
        }));
        sim.sleep(SECOND).await;
    });
    assert_eq!(Arc::strong_count(&guard), 1);
}

#[test]
fn a_deadlock_is_told_at_once_with_the_tasks_that_wait() {
    let world = World::new(9);
    let failure = world
        .try_run(async |sim| {
            sim.sleep(SECOND).await;
            sim.spawn(pending::<()>()).await;
        })
        .unwrap_err();
    assert_eq!((failure.kind, failure.seed, failure.time), (FailureKind::Deadlock, 9, SECOND));
    assert_eq!(failure.tasks.len(), 2, "{failure}");
    assert!(failure.tasks.iter().all(|task| task.contains("world.rs")), "{failure}");
    assert!(failure.to_string().contains("seed 9, at 1s: deadlock"), "{failure}");
}

#[test]
fn a_service_that_hangs_meets_the_limit_of_time() {
    let world = World::builder(9).time_limit(100 * SECOND).build();
    let failure = world
        .try_run(async |sim| {
            let _client = sim.client();
            pending::<()>().await;
        })
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimeLimit);
    assert!(failure.time <= 100 * SECOND && failure.time > 30 * SECOND, "{failure}");
    assert!(failure.to_string().ends_with(", a client"), "{failure}");
}

#[test]
fn tasks_that_keep_each_other_awake_are_told() {
    let spin = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    let failure = World::new(0).try_run(async |_| spin.await).unwrap_err();
    assert_eq!((failure.kind, failure.time), (FailureKind::Busy, Duration::ZERO));
}

fn panic_text(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let text = payload.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

#[test]
fn panics_go_on_to_whoever_runs_the_world_and_the_world_can_go_on() {
    let world = World::new(0);
    let in_the_body = panic_text(|| {
        world.run(async |_| panic!("the body"));
    });
    let in_a_task = panic_text(|| {
        world.run_with(async |sim| sim.spawn(async { panic!("a task") }).await);
    });
    let in_no_time = panic_text(|| {
        world.run_with(async |_| pending::<()>().await);
    });
    assert_eq!((&*in_the_body, &*in_a_task), ("the body", "a task"));
    assert!(in_no_time.contains("deadlock"), "{in_no_time}");
    assert_eq!(world.run_with(async |_| 7).value, 7);
    assert_eq!(world.run(|client| async move { client.stats().operations }).value, 0);
}

#[test]
fn a_world_runs_once_at_a_time() {
    let world = World::new(0);
    let again = world.clone();
    let text = panic_text(|| {
        world.run_with(async |_| again.run_with(async |_| ()).value);
    });
    assert!(text.contains("runs already"), "{text}");
}

#[test]
fn a_world_goes_on_where_its_last_run_ended() {
    let world = World::new(4);
    let send = |body: &'static str| {
        world.run(async |client| {
            let producer = client.producer("group").unwrap();
            producer.send(Message::new("orders", body)).await.unwrap();
        })
    };
    let (first, second) = (send("first"), send("second"));
    assert!(second.time > first.time);
    let bodies: Vec<_> = second.stored().map(|message| &*message.body).collect();
    assert_eq!(bodies, [b"first" as &[u8], b"second"]);
    assert_eq!(first.stored().count(), 1, "an outcome is how things stood");
}

#[test]
fn each_client_is_a_process_of_its_own() {
    let world = World::new(0);
    world.run_with(async |sim| {
        let (one, other) = (sim.client(), sim.client());
        assert_ne!(one.client_id(), other.client_id());
        for client in [one, other] {
            let producer = client.producer("group").unwrap();
            producer.send(Message::new("orders", "hello")).await.unwrap();
        }
    });
    let groups = world.network(|network| network.streams_of(0).count() + network.streams_of(1).count());
    assert_eq!(groups, 0, "their connections were closed with the run");
}

#[test]
fn the_worlds_random_numbers_are_the_seeds() {
    let draw = |seed| {
        let world = World::new(seed);
        [world.rng().next_u64(), world.rng().next_u64()]
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert_ne!(draw(1)[0], draw(1)[1]);
}

#[test]
fn a_dropped_send_leaves_a_client_that_works() {
    let world = World::new(2);
    world.broker("broker-a").hang(SECOND..3 * SECOND);
    let outcome = world.run_with(async |sim| {
        let client = sim.client();
        let producer = client.producer("group").unwrap();
        producer.send(Message::new("orders", "before")).await.unwrap();
        sim.sleep(SECOND).await;
        let cut = sim.timeout(SECOND, producer.send(Message::new("orders", "dropped"))).await;
        assert!(cut.is_err());
        sim.sleep(SECOND).await;
        assert_eq!(client.stats().operations, 0);
        producer.send(Message::new("orders", "after")).await.unwrap();
    });
    let bodies: Vec<_> = outcome.stored().map(|message| &*message.body).collect();
    assert_eq!(bodies, [b"before" as &[u8], b"after"]);
    assert!(outcome.every_acknowledged_message_is_stored());
}
