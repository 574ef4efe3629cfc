//! What a turn of the loop costs, and whom it serves.

use super::world::{BROKER, Hand};
use super::{message, warm};

#[test]
fn callers_that_are_woken_together_share_the_next_write() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut sends: Vec<_> = (0..10).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    peer.release();
    assert!(world.run_once());
    let before = client.driver_stats();
    for send in &mut sends {
        send.output().unwrap();
        *send = Hand::begun(producer.send(message("next")));
    }
    let writes = world.pipes.with(peer.pipe(BROKER), |end| end.writes);
    peer.run();
    let cost = client.driver_stats().since(before);
    assert_eq!((cost.wakes, cost.writes), (0, 1));
    assert_eq!(world.pipes.with(peer.pipe(BROKER), |end| end.writes) - writes, 1);
    assert_eq!(peer.seen.len(), 20);
}

#[test]
fn callers_that_have_nothing_to_add_let_the_loop_sleep() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut sends: Vec<_> = (0..10).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    peer.release();
    let before = client.driver_stats();
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    assert_eq!(client.driver_stats().since(before).polls, 2);
    assert!(!world.run_once());
}

#[test]
fn a_single_send_takes_two_polls_and_one_look_at_one_stream() {
    let (_world, mut peer, client, producer) = warm();
    assert!(client.stats().connections > 1);
    let before = client.driver_stats();
    let mut send = Hand::begun(producer.send(message("alone")));
    peer.run();
    send.output().unwrap();
    let cost = client.driver_stats().since(before);
    assert_eq!((cost.polls, cost.turns), (2, 3));
    assert_eq!((cost.reads, cost.empty_reads, cost.writes), (1, 1, 1));
}

#[test]
fn many_callers_are_woken_in_waves_and_none_is_left() {
    let (world, mut peer, _client, producer) = warm();
    peer.holds = true;
    let mut sends: Vec<_> = (0..200).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    peer.release();
    let mut woken = Vec::new();
    while world.run_once() {
        woken.push(sends.iter().filter(|send| send.flag.wakes() > 0).count());
    }
    assert!(woken.len() > 2 && woken[0] < 200, "{woken:?}");
    assert_eq!(woken.last(), Some(&200));
    // First answered, first woken.
    assert!(sends[..woken[0]].iter().all(|send| send.flag.wakes() == 1));
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
}
