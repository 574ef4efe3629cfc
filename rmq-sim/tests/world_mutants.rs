//! A world sees what a server lost, though the user's code said nothing of it.

#![cfg(rmq_mutate)]

use rmq_core::mutate::{self, Mutation};
use rmq_driver::Message;
use rmq_sim::World;

/// In one test: a bug is on for the whole process.
#[test]
fn a_broker_that_acknowledges_and_does_not_store_is_found() {
    mutate::set(Some(Mutation::ModelStoresNothing));
    let outcome = World::new(0).run(async |client| {
        let producer = client.producer("group").expect("a good name");
        for number in 0..100 {
            let sent = producer.send(Message::new("orders", format!("order {number}"))).await;
            assert!(sent.is_ok(), "{sent:?}");
        }
    });
    mutate::set(None);
    assert_eq!((outcome.acknowledgements().len(), outcome.missing().count()), (100, 2));
}
