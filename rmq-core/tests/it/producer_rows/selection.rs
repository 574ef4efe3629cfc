//! Rows 29 to 31: the rotation among queues. Where it begins is the seed's choice, so that a first send tells the place.

use super::*;

/// The queues of `T` in the order of the rotation, from the one that the next send goes to.
fn rotation(net: &mut Net) -> Vec<MessageQueue> {
    let first = net.next_queue("T");
    let mut queues = net.client.publish_queues(net.now, "T").unwrap().to_vec();
    let place = queues.iter().position(|queue| (&*queue.broker, queue.queue_id) == (&*first.0, first.1));
    queues.rotate_left(place.unwrap());
    queues
}

/// The broker and the queue of each send that arrived.
fn asked(net: &Net) -> Vec<(String, i32)> {
    let sends = net.sends().into_iter();
    sends.map(|seen| (seen.send().broker_name.unwrap().into_owned(), seen.send().queue_id)).collect()
}

fn pairs<'a>(queues: impl IntoIterator<Item = &'a MessageQueue>) -> Vec<(String, i32)> {
    queues.into_iter().map(|queue| (queue.broker.to_string(), queue.queue_id)).collect()
}

rows! {
    /// Of any four places to begin at.
    row_029 {
        let mut net = net(AttemptTimeout::Split);
        for _ in 0..4 {
            net.forget();
            let expected = rotation(&mut net);
            for _ in 0..5 {
                send(&mut net);
                net.run(ms(0));
            }
            assert_eq!(asked(&net), pairs(expected.iter().cycle().take(5)));
        }
    }

    /// The connection ends: what is left of the broker that failed is passed over, and the rotation goes on behind that.
    row_030 {
        for skipped in 0..4 {
            let mut net = net(AttemptTimeout::Split);
            for _ in 0..skipped {
                send(&mut net);
                net.run(ms(0));
            }
            net.forget();
            let order = rotation(&mut net);
            net.broker(&order[0].broker).sends = [Act::Close].into();
            let op = send(&mut net);
            net.run(ms(200));
            assert_eq!(net.take_sent(op).1.attempts, 2);
            let place = order.iter().position(|queue| queue.broker != order[0].broker).unwrap();
            assert_eq!(asked(&net), pairs([&order[0], &order[place]]));
            assert_eq!(pairs(&rotation(&mut net)[..1]), pairs([&order[(place + 1) % 4]]));
        }
    }

    /// There is only one broker: it is tried again, at its other queue.
    row_031 {
        let mut net = Net::new();
        net.routes.insert("T".into(), route(&[("a", 2)]));
        net.warm();
        let order = rotation(&mut net);
        net.broker("a").sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
        let op = send(&mut net);
        net.run(ms(200));
        assert_eq!(net.take_sent(op).1.attempts, 2);
        assert_eq!(asked(&net), pairs(&order));
    }
}
