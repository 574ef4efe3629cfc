//! A request, read as a consumer reads it and replied to by another client.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmq_tokio::rmq_core::proto::code::RequestCode;
use rmq_tokio::rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_tokio::rmq_core::proto::frame::FrameDecoder;
use rmq_tokio::rmq_core::proto::header::{PullMessageHeader, PullSysFlag};
use rmq_tokio::rmq_core::proto::id::OffsetMessageId;
use rmq_tokio::rmq_core::proto::message::Messages;
use rmq_tokio::rmq_core::proto::properties::{CORRELATION_ID, MSG_TYPE, PUSH_REPLY_TIME};
use rmq_tokio::{Client, Error, Message, MessageQueue, NoReplyErrorKind, StoredMessage};
use tokio::task::JoinHandle;

use crate::{client, name_server, new_topic};

/// What a queue has, from its beginning.
fn pull(broker: SocketAddr, queue: &MessageQueue) -> Vec<StoredMessage> {
    let header = PullMessageHeader {
        consumer_group: "rmq-real-readers".into(),
        topic: queue.topic.to_string().into(),
        queue_id: queue.queue_id,
        queue_offset: 0,
        max_messages: 32,
        sys_flag: PullSysFlag::SUBSCRIPTION.0,
        commit_offset: 0,
        suspend_timeout: 0,
        subscription: Some("*".into()),
        subscription_version: 0,
        max_bytes: None,
        expression_type: Some("TAG".into()),
        request_source: None,
        proxied_client_id: None,
        broker_name: Some(queue.broker.to_string().into()),
    };
    let mut out = BytesMut::new();
    let request = RemotingCommand::request(RequestCode::PULL_MESSAGE).with_ext(&header);
    request.encode(HeaderFormat::Json, &mut out).unwrap();
    let mut stream = TcpStream::connect(broker).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream.write_all(&out).unwrap();
    let (mut decoder, mut buffer) = (FrameDecoder::default(), vec![0; 65_536]);
    loop {
        let len = stream.read(&mut buffer).unwrap();
        assert!(len > 0, "closed by the broker");
        let mut data = Bytes::copy_from_slice(&buffer[..len]);
        if let Some(frame) = decoder.decode(&mut data).unwrap() {
            let answer = RemotingCommand::decode(frame).unwrap();
            return Messages::new(answer.body).map(Result::unwrap).collect();
        }
    }
}

/// The request that is under way, wherever it is.
async fn find_request(
    brokers: &BTreeMap<Arc<str>, SocketAddr>,
    topic: &str,
    asked: &mut JoinHandle<Result<StoredMessage, Error>>,
) -> StoredMessage {
    while !asked.is_finished() {
        let (brokers, topic) = (brokers.clone(), Arc::<str>::from(topic));
        let found = tokio::task::spawn_blocking(move || {
            let queues = brokers.iter().flat_map(|(broker, address)| {
                (0..4).map(|queue_id| (*address, topic.clone(), broker.clone(), queue_id))
            });
            let all = queues.flat_map(|(address, topic, broker, queue_id)| {
                pull(address, &MessageQueue { topic, broker, queue_id })
            });
            all.into_iter().find(|message| message.property(CORRELATION_ID).is_some())
        });
        if let Some(request) = found.await.unwrap() {
            return request;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no broker has the request: {:?}", asked.await);
}

#[tokio::test]
async fn a_request_is_replied_to_and_a_second_reply_is_nobodys() {
    let Some(name_server) = name_server("a request and its reply") else { return };
    let (requester, producer) = client(&name_server);
    let replier = Client::builder().name_server(&name_server).start().unwrap();
    let repliers = replier.producer("rmq-real-repliers").unwrap();
    let topic = new_topic();
    let mut brokers = BTreeMap::new();
    for _ in 0..8 {
        let sent = producer.send(Message::new(&*topic, "warm")).await.unwrap();
        let id: OffsetMessageId = sent.offset_message_id.parse().unwrap();
        brokers.insert(sent.queue.broker, id.host);
    }
    let mut asked =
        tokio::spawn(producer.request_within(Message::new(&*topic, "ping"), Duration::from_secs(20)));
    let request = find_request(&brokers, &topic, &mut asked).await;
    repliers.reply(&request, "pong").await.unwrap();
    let reply = asked.await.unwrap().unwrap();
    assert_eq!(&*reply.body, b"pong");
    assert_eq!(reply.property(MSG_TYPE), Some("reply"));
    assert_eq!(reply.property(CORRELATION_ID), request.property(CORRELATION_ID));
    assert!(reply.property(PUSH_REPLY_TIME).is_some(), "{reply:?}");
    repliers.reply(&request, "pong again").await.unwrap();
    let stats = requester.stats();
    assert_eq!((stats.requests_succeeded, stats.unknown_replies, stats.protocol_errors), (1, 1, 0));

    let short = Duration::from_millis(500);
    let error = producer.request_within(Message::new(&*topic, "ping"), short).await.unwrap_err();
    let Error::NoReply(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), NoReplyErrorKind::TimedOut);
    assert!(error.request().is_ok(), "{error}");
    requester.shutdown().await.unwrap();
    // The one who asked is gone, so no broker can push.
    let Err(Error::Send(error)) = repliers.reply(&request, "late").await else { panic!("nobody is there") };
    assert_eq!(error.attempts().len(), 3, "{error}");
    replier.shutdown().await.unwrap();
}
