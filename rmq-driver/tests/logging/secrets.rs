//! What is in no line at any level: messages, properties, credentials, and what others say of them.

use std::sync::Arc;
use std::time::Duration;

use rmq_driver::rmq_core::proto::code::RequestCode;
use rmq_driver::rmq_core::proto::recall::RecallHandle;
use rmq_driver::{
    Credentials, FaultTolerance, Forbidden, Message, ProducerConfig, Redelivery, RequestFields, RequestHook,
    ResponseCode, SendAttempt, SendBack, StoredMessage, Trace,
};
use tracing::Level;

use super::SECOND;
use super::capture::Capture;
use super::world::{BROKER, Hand, NAME_SERVER, Peer, World};

const SECRETS: [&str; 9] = [
    "the-body",
    "the-key",
    "the-tag",
    "the-value",
    "the-name",
    "the-access-key",
    "the-secret-key",
    "the-token",
    "the-remark",
];

/// Forbids what it is told to, and says why in words of its own.
struct Hook;

impl RequestHook for Hook {
    fn before_attempt(&self, attempt: &SendAttempt<'_>) -> Result<(), Forbidden> {
        match attempt.topic {
            "forbidden" => Err(Forbidden::new("the-body has the-key")),
            _ => Ok(()),
        }
    }

    fn before_request(&self, _: &rmq_driver::OutgoingRequest<'_>, fields: &mut RequestFields) {
        let _ = fields.add("the-name", "the-value");
    }
}

fn message(topic: &'static str) -> Message {
    Message::new(topic, "the-body").key("the-key").tag("the-tag").property("the-name", "the-value")
}

fn stored() -> StoredMessage {
    StoredMessage {
        topic: "orders".into(),
        body: "the-body".into(),
        properties: "KEYS\u{1}the-key\u{2}the-name\u{1}the-value\u{2}UNIQ_KEY\u{1}AC0A\u{2}".into(),
        store_host: "10.0.0.2:10911".parse().unwrap(),
        ..StoredMessage::default()
    }
}

/// Puts one of each operation on its way and lets all end.
fn all_operations(world: &World, peer: &mut Peer, producer: &rmq_driver::Producer) {
    let half = Message::new("orders", "the-body").key("the-key");
    let recall = RecallHandle {
        topic: "orders".into(),
        broker_name: "broker".into(),
        timestamp: 1,
        unique_key: "AC0A".into(),
    };
    let back = SendBack::new("group", &stored()).unwrap().broker("broker");
    let letter =
        SendBack::new("group", &stored()).unwrap().broker("broker").redelivery(Redelivery::DeadLetter);
    let mut sends =
        [Hand::begun(producer.send(message("orders"))), Hand::begun(producer.send(message("forbidden")))];
    let mut oneway = Hand::begun(producer.send_oneway(message("orders")));
    let mut batch = Hand::begun(producer.send_batch(vec![message("orders"), message("orders")]));
    let mut request = Hand::begun(producer.request_within(message("orders"), 2 * SECOND));
    let mut recall = Hand::begun(producer.recall("orders", recall.encode().unwrap()));
    let mut backs = [Hand::begun(producer.send_back(back)), Hand::begun(producer.send_back(letter))];
    let mut half = Hand::new(producer.send_transaction(half, async |_| rmq_driver::Resolution::Commit));
    let mut halves = half.poll().is_pending();
    for _ in 0..70 {
        peer.run();
        halves = halves && half.poll().is_pending();
        world.pass(Duration::from_millis(500));
    }
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.poll().is_ready()));
    assert!(batch.poll().is_ready() && request.poll().is_ready() && recall.poll().is_ready());
    assert!(backs.iter_mut().all(|back| back.poll().is_ready()) && oneway.poll().is_ready());
    assert!(!halves || half.poll().is_ready());
}

/// Every way to fail, with secrets in all that is sent, and with peers that say them back.
#[test]
fn no_line_has_a_secret() {
    let (capture, _guard) = Capture::start(Level::TRACE);
    let world = World::new();
    let mut peer = Peer::new(&world);
    let credentials =
        Credentials::new("the-access-key", "the-secret-key").unwrap().with_security_token("the-token");
    let client =
        world.builder().credentials(credentials).hook(Arc::new(Hook)).start_on(world.clone()).unwrap();
    let config = ProducerConfig::new("group").fault_tolerance(FaultTolerance::new()).trace(Trace::new());
    let producer = client.producer_with(config).unwrap();
    let codes = [
        RequestCode::SEND_MESSAGE_V2,
        RequestCode::SEND_BATCH_MESSAGE,
        RequestCode::CONSUMER_SEND_MSG_BACK,
        RequestCode::RECALL_MESSAGE,
        RequestCode::HEART_BEAT,
        RequestCode::GET_ROUTEINFO_BY_TOPIC,
        RequestCode::END_TRANSACTION,
    ];
    all_operations(&world, &mut peer, &producer);
    for code in [ResponseCode::NO_PERMISSION, ResponseCode::SYSTEM_ERROR] {
        for request in codes {
            peer.refuses.insert(request.0, (code, format!("the-remark: {}", SECRETS.join(" "))));
        }
        all_operations(&world, &mut peer, &producer);
    }
    peer.refuses.clear();
    peer.holds = true;
    peer.recalls = false;
    all_operations(&world, &mut peer, &producer);
    (peer.holds, peer.recalls) = (false, true);
    all_operations(&world, &mut peer, &producer);
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.unread.extend(b"\0\0\0\x0a\0\0\0\x06the-ke"));
    all_operations(&world, &mut peer, &producer);
    peer.holds = true;
    let mut send = Hand::begun(producer.send(message("orders")));
    peer.run();
    for address in [BROKER, NAME_SERVER] {
        world.pipes.refuse(address);
        let pipe = peer.pipe(address);
        world.pipes.with(pipe, |end| end.peer_closed = true);
    }
    all_operations(&world, &mut peer, &producer);
    send.output().unwrap_err();
    producer.send(message("unknown")).detach().unwrap();
    (0..5).for_each(|_| {
        world.pass(SECOND);
        peer.run();
    });
    producer.send(message("orders")).detach().unwrap();
    drop((producer, client));
    peer.run();
    let lines = capture.take();
    for what in ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"] {
        let told = lines.iter().filter(|line| line.starts_with(what)).count();
        assert!(told > 0 || what == "ERROR", "nothing at {what}: {lines:#?}");
    }
    for kind in ["refused", "timeout", "forbidden", "not-connected", "no-route"] {
        assert!(lines.iter().any(|line| line.contains(&format!("kind={kind} "))), "no {kind}: {lines:#?}");
    }
    assert!(
        lines
            .iter()
            .any(|line| line.contains("connection lost while waiting for the answer: closed by the peer"))
    );
    for operation in ["send", "send-back", "recall", "request"] {
        assert!(lines.iter().any(|line| line.contains(&format!("operation={operation} "))), "no {operation}");
    }
    for secret in SECRETS {
        let found = lines.iter().find(|line| line.contains(secret));
        assert_eq!(found, None, "{secret}");
    }
}
