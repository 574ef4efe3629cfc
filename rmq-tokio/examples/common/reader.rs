//! A small reader of one topic, as rmq-tokio has no consumer: it pulls what comes after it was opened. It is no consumer
//! either: it keeps no offsets, shares no queues, and follows no broker that moves.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmq_tokio::rmq_core::proto::body::TopicRouteData;
use rmq_tokio::rmq_core::proto::code::RequestCode;
use rmq_tokio::rmq_core::proto::command::RemotingCommand;
use rmq_tokio::rmq_core::proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_tokio::rmq_core::proto::header::{
    GetMaxOffsetHeader, GetRouteHeader, OffsetResponseHeader, PullMessageHeader, PullResponseHeader,
    PullSysFlag,
};
use rmq_tokio::rmq_core::proto::message::Messages;
use rmq_tokio::{HeaderFormat, ResponseCode, StoredMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Failure;

/// Time for a message to come.
const PATIENCE: Duration = Duration::from_secs(15);

/// Time between two rounds of pulls.
const PAUSE: Duration = Duration::from_millis(50);

/// A queue: its broker's address, and its id there.
type Queue = (String, i32);

pub(crate) struct Reader {
    name_server: String,
    topic: String,
    /// Where to go on, by queue.
    offsets: BTreeMap<Queue, i64>,
    found: VecDeque<StoredMessage>,
    peers: BTreeMap<String, TcpStream>,
    opaque: i32,
}

impl Reader {
    /// The topic need not exist yet.
    pub(crate) async fn open(name_servers: &str, topic: &str) -> Result<Self, Failure> {
        let name_server = name_servers.split(';').next().unwrap_or_default().to_owned();
        let (topic, offsets) = (topic.to_owned(), BTreeMap::new());
        let (found, peers) = (VecDeque::new(), BTreeMap::new());
        let mut reader = Self { name_server, topic, offsets, found, peers, opaque: 0 };
        for (broker, queue_id) in reader.queues().await? {
            let topic = reader.topic.as_str().into();
            let header = GetMaxOffsetHeader { topic, queue_id, committed: None, broker_name: None };
            let request = RemotingCommand::request(RequestCode::GET_MAX_OFFSET).with_ext(&header);
            let answer = reader.ask(&broker, request).await?;
            if ResponseCode(answer.code) != ResponseCode::SUCCESS {
                return Err(refused(&broker, &answer));
            }
            let end = answer.header::<OffsetResponseHeader>()?.offset;
            reader.offsets.insert((broker, queue_id), end);
        }
        Ok(reader)
    }

    /// The next message, of whichever queue.
    pub(crate) async fn next(&mut self) -> Result<StoredMessage, Failure> {
        self.next_within(PATIENCE).await
    }

    pub(crate) async fn next_within(&mut self, patience: Duration) -> Result<StoredMessage, Failure> {
        let late = format!("no message came out of {} within {patience:?}: see the broker's log", self.topic);
        tokio::time::timeout(patience, self.look()).await.map_err(|_| late)?
    }

    async fn look(&mut self) -> Result<StoredMessage, Failure> {
        let mut pauses = tokio::time::interval(PAUSE);
        loop {
            if let Some(message) = self.found.pop_front() {
                return Ok(message);
            }
            pauses.tick().await;
            for queue in self.queues().await? {
                self.pull(queue).await?;
            }
        }
    }

    async fn queues(&mut self) -> Result<Vec<Queue>, Failure> {
        let header = GetRouteHeader { topic: self.topic.as_str().into(), accept_standard_json_only: None };
        let request = RemotingCommand::request(RequestCode::GET_ROUTEINFO_BY_TOPIC).with_ext(&header);
        let name_server = self.name_server.clone();
        let answer = self.ask(&name_server, request).await?;
        match ResponseCode(answer.code) {
            ResponseCode::SUCCESS => {}
            ResponseCode::TOPIC_NOT_EXIST => return Ok(Vec::new()),
            _ => return Err(refused(&name_server, &answer)),
        }
        let route = TopicRouteData::decode(&answer.body)?;
        let queues = route.queue_datas.iter().filter_map(|data| {
            let broker = route.broker_datas.iter().find(|broker| broker.broker_name == data.broker_name)?;
            let address = broker.master_address()?.to_owned();
            Some((0..data.read_queue_nums).map(move |queue_id| (address.clone(), queue_id)))
        });
        Ok(queues.flatten().collect())
    }

    async fn pull(&mut self, queue: Queue) -> Result<(), Failure> {
        let topic = self.topic.clone();
        let header = PullMessageHeader {
            consumer_group: "example-reader".into(),
            topic: topic.into(),
            queue_id: queue.1,
            queue_offset: self.offsets.get(&queue).copied().unwrap_or(0),
            max_messages: 32,
            sys_flag: PullSysFlag::SUBSCRIPTION.into(),
            commit_offset: 0,
            suspend_timeout: 0,
            subscription: Some("*".into()),
            subscription_version: 0,
            max_bytes: None,
            expression_type: None,
            request_source: None,
            proxied_client_id: None,
            broker_name: None,
        };
        let request = RemotingCommand::request(RequestCode::PULL_MESSAGE).with_ext(&header);
        let answer = self.ask(&queue.0, request).await?;
        match ResponseCode(answer.code) {
            ResponseCode::SUCCESS => {
                for message in Messages::new(answer.body.clone()) {
                    self.found.push_back(message?);
                }
            }
            ResponseCode::PULL_NOT_FOUND => return Ok(()),
            ResponseCode::PULL_RETRY_IMMEDIATELY | ResponseCode::PULL_OFFSET_MOVED => {}
            _ => return Err(refused(&queue.0, &answer)),
        }
        self.offsets.insert(queue, answer.header::<PullResponseHeader>()?.next_begin_offset);
        Ok(())
    }

    /// Puts a request and waits for its answer.
    async fn ask(&mut self, address: &str, request: RemotingCommand) -> Result<RemotingCommand, Failure> {
        self.opaque += 1;
        let (opaque, mut frame) = (self.opaque, BytesMut::new());
        RemotingCommand { opaque, ..request }.encode(HeaderFormat::Json, &mut frame)?;
        let asked = async {
            if !self.peers.contains_key(address) {
                self.peers.insert(address.to_owned(), TcpStream::connect(address).await?);
            }
            let Some(peer) = self.peers.get_mut(address) else { return Err(Failure::from("not connected")) };
            peer.write_all(&frame).await?;
            receive(peer).await
        };
        asked
            .await
            .map_err(|error| format!("{address}: {error}: does a server of the cluster listen there?").into())
    }
}

/// There is one request at a time, so what comes is its answer.
async fn receive(peer: &mut TcpStream) -> Result<RemotingCommand, Failure> {
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    let mut buffer = BytesMut::new();
    loop {
        if peer.read_buf(&mut buffer).await? == 0 {
            return Err("the connection was closed".into());
        }
        let mut unread: Bytes = buffer.split().freeze();
        if let Some(frame) = decoder.decode(&mut unread)? {
            return Ok(RemotingCommand::decode(frame)?);
        }
    }
}

fn refused(address: &str, answer: &RemotingCommand) -> Failure {
    let remark = answer.remark.as_deref().unwrap_or("no reason given");
    format!("{address} answered {}: {remark}", ResponseCode(answer.code)).into()
}
