//! Records and batches that the official encoder wrote, with what the official decoder says of them.

use std::net::{IpAddr, SocketAddr};

use rmq_proto::compress::DEFAULT_MAX_LEN;
use rmq_proto::message::{BatchElement, BatchElements, RecordVersion, StoredMessage, SysFlag};
use rmq_proto::properties;

use crate::support::*;

const VECTORS: &str = include_str!("../golden/vectors.jsonl");

fn lines(kind: &str) -> Vec<Line> {
    VECTORS.lines().map(Line::of).filter(|line| line.text("kind").as_deref() == Some(kind)).collect()
}

fn host(line: &Line, name: &str) -> SocketAddr {
    let text = line.text(name).expect("a host");
    let (ip, port) = text.split_once('|').expect("ip and port");
    SocketAddr::new(ip.parse::<IpAddr>().expect("an ip"), port.parse().expect("a port"))
}

/// The message that the line states. Body, checksum and flags are of the message once it is inflated.
fn stated(line: &Line) -> StoredMessage {
    let number = |name| line.number(name).expect("a number");
    StoredMessage {
        version: RecordVersion::V1,
        body_crc: number("bodyCRC") as u32,
        queue_id: number("queueId") as i32,
        flag: number("flag") as i32,
        queue_offset: number("queueOffset"),
        commit_log_offset: number("commitLogOffset"),
        sys_flag: SysFlag(number("sysFlag") as i32),
        born_timestamp: number("bornTimestamp"),
        born_host: host(line, "bornHost"),
        store_timestamp: number("storeTimestamp"),
        store_host: host(line, "storeHost"),
        reconsume_times: number("reconsumeTimes") as i32,
        prepared_transaction_offset: 0,
        body: hex(&line.text("body").expect("a body")),
        topic: line.text("topic").expect("a topic").into(),
        properties: line.text("properties").expect("properties"),
    }
}

fn sorted(text: &str) -> Vec<(&str, &str)> {
    let mut pairs: Vec<_> = properties::iter(text).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn stored_messages() {
    let lines = lines("stored-message");
    let names: Vec<_> = lines.iter().filter_map(|line| line.text("name")).collect();
    assert_eq!(names, ["v4", "v6", "zlib", "lz4"]);
    for line in lines {
        let name = line.text("name").expect("a name");
        let bytes = hex(&line.text("hex").expect("a record"));
        let message = StoredMessage::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let plain = stated(&line);
        let (sys_flag, body) = match name.as_str() {
            "zlib" => (SysFlag(0x301), hex("785eabaa1a1e00006ddb5f51")),
            "lz4" => (SysFlag(0x101), hex("04224d186070730b0000001f7a0100af507a7a7a7a7a00000000")),
            _ => (plain.sys_flag, plain.body.clone()),
        };
        // The line has them sorted.
        let properties = message.properties.clone();
        assert_eq!(sorted(&properties), sorted(&plain.properties), "{name}");
        assert_eq!(message, StoredMessage { sys_flag, body, properties, ..plain.clone() }, "{name}");
        // The program that wrote the compressed two set the checksum of the plain body.
        assert!(StoredMessage { body: plain.body.clone(), ..message.clone() }.crc_matches(), "{name}");
        assert_eq!(Some(message.offset_message_id().to_string()), line.text("offsetMsgId"), "{name}");
        assert_eq!(message.keys().collect::<Vec<_>>(), ["k1", "k2"]);
        assert_eq!((message.tags(), message.property("u")), (Some("TagA"), Some("v")));
        assert_eq!(record(&message), bytes, "{name}: written as it was");

        let mut inflated = message;
        inflated.inflate(DEFAULT_MAX_LEN).unwrap_or_else(|error| panic!("{name}: {error}"));
        let properties = inflated.properties.clone();
        assert_eq!(inflated, StoredMessage { properties, ..plain }, "{name}: inflated");
    }
}

#[test]
fn batch_of_three() {
    let lines = lines("batch-body");
    let [line] = &lines[..] else { panic!("one line") };
    let bytes = hex(&line.text("hex").expect("a batch"));
    let elements: Vec<_> = BatchElements::new(bytes.clone()).map(|element| element.unwrap()).collect();
    let expected = ["0", "1", "2"].map(|i| BatchElement {
        flag: i.parse().unwrap(),
        body: format!("body{i}").into(),
        properties: format!("KEYS\u{1}k{i}\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA\u{2}"),
    });
    assert_eq!(elements, expected);
    assert_eq!(batch(&elements), bytes);
}
