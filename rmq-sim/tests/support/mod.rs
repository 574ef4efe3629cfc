//! A client without a driver: hand-made frames in, answers out.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part; helpers of tests are tests")]

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{FLAG_ONEWAY, HeaderFormat, RemotingCommand};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::header::{GetRouteHeader, SendMessageV2Header};
use rmq_sim::model::{Cluster, ClusterConfig, PeerConn, PeerOutput, Profile};

pub(crate) const NOW: u64 = 1_700_000_000_000;

/// What the peers of a cluster answered on one connection.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Talk {
    pub(crate) answers: Vec<RemotingCommand>,
    pub(crate) formats: Vec<HeaderFormat>,
    pub(crate) closed: bool,
}

impl Talk {
    pub(crate) fn only(self) -> RemotingCommand {
        assert_eq!(self.answers.len(), 1, "{self:?}");
        self.answers.into_iter().next().unwrap()
    }
}

pub(crate) fn config(profile: Profile) -> ClusterConfig {
    ClusterConfig { profile, ..ClusterConfig::default() }
}

pub(crate) fn name_server(cluster: &mut Cluster) -> PeerConn {
    let address = cluster.name_server().to_owned();
    cluster.connect(&address).unwrap()
}

pub(crate) fn broker(cluster: &mut Cluster, index: usize) -> PeerConn {
    let address = cluster.broker_address(index).to_owned();
    cluster.connect(&address).unwrap()
}

/// What the cluster puts out now, which has to be for `conn`.
pub(crate) fn drain(cluster: &mut Cluster, conn: PeerConn) -> Talk {
    let mut talk = Talk::default();
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    while let Some(output) = cluster.poll_output() {
        match output {
            PeerOutput::Write { conn: of, mut data } => {
                assert_eq!(of, conn);
                while let Some(frame) = decoder.decode(&mut data).unwrap() {
                    talk.formats.push(frame.format);
                    talk.answers.push(RemotingCommand::decode(frame).unwrap());
                }
            }
            PeerOutput::Close { conn: of } => {
                assert_eq!(of, conn);
                talk.closed = true;
            }
        }
    }
    assert_eq!(decoder.buffered(), 0, "writes end with whole frames");
    talk
}

pub(crate) fn say(cluster: &mut Cluster, conn: PeerConn, bytes: impl Into<Bytes>) -> Talk {
    cluster.receive(NOW, conn, bytes.into());
    drain(cluster, conn)
}

pub(crate) fn ask_in(
    cluster: &mut Cluster,
    conn: PeerConn,
    format: HeaderFormat,
    request: &RemotingCommand,
) -> Talk {
    let frame = encoded(request, format);
    say(cluster, conn, frame)
}

pub(crate) fn ask(cluster: &mut Cluster, conn: PeerConn, request: &RemotingCommand) -> Talk {
    ask_in(cluster, conn, HeaderFormat::Json, request)
}

pub(crate) fn encoded(request: &RemotingCommand, format: HeaderFormat) -> Bytes {
    let mut out = BytesMut::new();
    request.encode(format, &mut out).unwrap();
    out.freeze()
}

pub(crate) fn route_request(topic: &str) -> RemotingCommand {
    let header = GetRouteHeader { topic: topic.into(), accept_standard_json_only: None };
    with_opaque(RemotingCommand::request(RequestCode::GET_ROUTEINFO_BY_TOPIC).with_ext(&header), 7)
}

pub(crate) fn send_header(topic: &str) -> SendMessageV2Header<'static> {
    SendMessageV2Header {
        producer_group: "group".into(),
        topic: Cow::Owned(topic.to_owned()),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 0,
        sys_flag: 0,
        born_timestamp: 1_699_999_999_999,
        flag: 0,
        properties: Some("UNIQ_KEY\u{1}AA\u{2}WAIT\u{1}true\u{2}".into()),
        reconsume_times: Some(0),
        unit_mode: Some(false),
        max_reconsume_times: None,
        batch: Some(false),
        broker_name: Some("broker-a".into()),
    }
}

pub(crate) fn send_request(header: &SendMessageV2Header<'_>, body: impl Into<Bytes>) -> RemotingCommand {
    let request =
        RemotingCommand::request(RequestCode::SEND_MESSAGE_V2).with_ext(header).with_body(body.into());
    with_opaque(request, 11)
}

pub(crate) fn oneway(mut request: RemotingCommand) -> RemotingCommand {
    request.flag |= FLAG_ONEWAY;
    request
}

pub(crate) fn with_opaque(mut request: RemotingCommand, opaque: i32) -> RemotingCommand {
    request.opaque = opaque;
    request
}

pub(crate) fn ext_names(command: &RemotingCommand) -> Vec<String> {
    let mut names: Vec<_> = command.ext.iter().map(|(name, _)| name.into_owned()).collect();
    names.sort();
    names
}
