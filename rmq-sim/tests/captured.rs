//! Frames of the official Java client, captured in talk with a real 5.3.3 cluster: the model takes them, and answers
//! with the fields that the real one answered with.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::path::Path;

use bytes::Bytes;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_sim::model::{Cluster, ClusterConfig, TopicConfig};
use support::{broker, ext_names, name_server, say};

/// A line of the capture.
struct Captured {
    of_name_server: bool,
    of_client: bool,
    /// The request's code, of answers too.
    code: i32,
    bytes: Bytes,
    command: RemotingCommand,
}

/// What stands behind `"name": ` in a line, up to the next comma.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\": "))?;
    Some(rest.split([',', '}']).next().unwrap().trim_matches('"'))
}

fn capture() -> Vec<Captured> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rmq-proto/tests/golden/capture-5.3.3.jsonl");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(parse).collect()
}

fn parse(line: &str) -> Captured {
    let hex = field(line, "hex").unwrap().as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap() as u8;
    let bytes: Bytes = hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    let frame = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut bytes.clone()).unwrap().unwrap();
    let code = field(line, "request").or_else(|| field(line, "response_to")).unwrap();
    Captured {
        of_name_server: field(line, "peer") == Some("name-server"),
        of_client: field(line, "from") == Some("client"),
        code: code.parse().unwrap(),
        bytes,
        command: RemotingCommand::decode(frame).unwrap(),
    }
}

/// A cluster like the captured one, as far as the captured requests see it.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new(ClusterConfig { broker_ports: vec![32_911], ..ClusterConfig::default() });
    cluster.create_topic(&TopicConfig::new("CapTopic", 4));
    cluster
}

/// wire §2.1, §5.1, §5.2, §5.4, §5.6, §5.7.
#[test]
fn answers_have_the_fields_of_the_real_ones() {
    let capture = capture();
    let mut compared = Vec::new();
    for (index, request) in capture.iter().enumerate() {
        if !request.of_client
            || ![310, 320, 105, 30, 34, 35].contains(&request.code)
            || request.command.is_response()
        {
            continue;
        }
        let mut cluster = cluster();
        let conn = if request.of_name_server { name_server(&mut cluster) } else { broker(&mut cluster, 0) };
        let talk = say(&mut cluster, conn, request.bytes.clone());
        assert!(!talk.closed);
        if request.command.is_oneway() {
            assert_eq!(talk.answers, []);
            compared.push(0);
            continue;
        }
        let answer = talk.only();
        let real = capture[index..].iter().find(|line| {
            line.command.is_response()
                && (line.of_name_server, line.code, line.command.opaque)
                    == (request.of_name_server, request.code, request.command.opaque)
        });
        let Some(real) = real.map(|line| &line.command) else {
            continue;
        };
        let case = format!("{:?} answered with {answer:?}, really with {real:?}", request.command);
        assert_eq!(ext_names(&answer), ext_names(real), "{case}");
        assert_eq!(answer.ext.is_absent(), real.ext.is_absent(), "{case}");
        let head =
            |of: &RemotingCommand| (of.code, of.flag, of.opaque, of.language, of.version, of.remark.clone());
        assert_eq!(head(&answer), head(real), "{case}");
        assert_eq!(answer.body, real.body, "{case}");
        compared.push(request.code);
    }
    compared.sort_unstable();
    compared.dedup();
    assert_eq!(compared, [0, 30, 34, 35, 105, 310, 320], "each kind was there, one-way sends (0) too");
}

/// wire §6.1, §6.5: the ids and offsets of the first two sends are those that the real broker gave, so the second record
/// begins where the real one did.
#[test]
fn sends_get_the_real_ids() {
    let capture = capture();
    let mut cluster = cluster();
    let conn = broker(&mut cluster, 0);
    let of_sends = |line: &&Captured| line.code == 310;
    let requests: Vec<_> = capture.iter().filter(of_sends).filter(|line| line.of_client).collect();
    let answers: Vec<_> = capture.iter().filter(of_sends).filter(|line| !line.of_client).collect();
    for (request, real) in requests.iter().zip(answers).take(2) {
        let answer = say(&mut cluster, conn, request.bytes.clone()).only();
        assert_eq!(answer, real.command);
    }
    assert_eq!(cluster.stored().last().unwrap().body, "你好 😀");
}
