//! The typed headers say what the official client and servers said.

use std::collections::{BTreeMap, BTreeSet};

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::ExtFields;

use crate::examples::{E6, E12, E13};
use crate::header_table::{Header, commands, common};
use crate::support::{FORMATS, Line, hex, json_frame, read};

const VECTORS: &str = include_str!("../golden/vectors.jsonl");
const CAPTURE: &str = include_str!("../golden/capture-5.3.3.jsonl");

/// Fields that were seen outside the headers: the request's code, whether in its response, the name and the value.
const EXTRAS: [(RequestCode, bool, &str, &str); 3] = [
    // Empty text is no value.
    (RequestCode::UPDATE_AND_CREATE_TOPIC, false, "attributes", ""),
    // Sends that failed have nothing else.
    (RequestCode::SEND_MESSAGE_V2, true, "MSG_REGION", "DefaultRegion"),
    (RequestCode::SEND_MESSAGE_V2, true, "TRACE_ON", "true"),
];

/// The header of a command that is a request with this code, or the response to one.
fn header_of(request: RequestCode, command: &RemotingCommand) -> Option<Header> {
    let row = commands().into_iter().find(|(code, ..)| *code == request);
    let (_, of_request, of_response) = row.unwrap_or_else(|| panic!("{request} is not in the table"));
    match ResponseCode(command.code) {
        _ if !command.is_response() => of_request,
        ResponseCode::SUCCESS => of_response,
        ResponseCode::PULL_NOT_FOUND => of_response
            .filter(|_| matches!(request, RequestCode::PULL_MESSAGE | RequestCode::LITE_PULL_MESSAGE)),
        ResponseCode::SYSTEM_BUSY
        | ResponseCode::TOPIC_NOT_EXIST
        | ResponseCode::QUERY_NOT_FOUND
        | ResponseCode::INVALID_PARAMETER => None,
        code => panic!("{code} is not expected"),
    }
}

/// What the typed header, with the common one, says of the command is what `stated` says, but for extras; those are noted
/// in `seen`.
fn assert_says(
    request: RequestCode,
    command: &RemotingCommand,
    stated: BTreeMap<String, String>,
    seen: &mut BTreeSet<usize>,
) {
    let header = header_of(request, command);
    let mut expected = stated.clone();
    for (index, (code, in_response, name, value)) in EXTRAS.into_iter().enumerate() {
        let known = header.is_some_and(|header| header.fields.iter().any(|field| field.name == name));
        let is_extra =
            (code, in_response) == (request, command.is_response()) && (!known || value.is_empty());
        if is_extra && stated.get(name).is_some_and(|found| found == value) {
            expected.remove(name);
            seen.insert(index);
        }
    }
    let resend = header.map_or_else(|| common().resend, |header| header.resend_pair);
    for format in FORMATS {
        let found = resend(&command.ext, format);
        assert_eq!(found, Ok(ExtFields::from_iter(expected.clone())), "{request} {command:?}");
    }
}

#[test]
fn captured_frames() {
    let mut seen = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for line in CAPTURE.lines().map(Line::of) {
        let command = read(&hex(&line.text("hex").expect("a frame"))).expect("it can be read");
        let member = if command.is_response() { "response_to" } else { "request" };
        let request = RequestCode(line.number(member));
        assert_says(request, &command, line.map("ext"), &mut seen);
        codes.insert(request);
    }
    assert_eq!(seen.len(), EXTRAS.len(), "an extra is not seen any more");
    assert_eq!(codes.len(), 28);
}

#[test]
fn vectors() {
    let lines = VECTORS.lines().map(Line::of);
    let frames = lines.filter(|line| line.text("kind").as_deref() == Some("frame"));
    let mut seen = BTreeSet::new();
    for line in frames {
        let command = read(&hex(&line.text("hex").expect("a frame"))).expect("it can be read");
        let request = match &*line.text("name").expect("a name") {
            "send-response" | "error-response-unicode-remark" | "error-response-null-remark" => {
                RequestCode::SEND_MESSAGE_V2
            }
            // No command at all.
            "unicode-ext" => continue,
            _ => RequestCode(command.code),
        };
        assert_says(request, &command, line.map("ext"), &mut seen);
    }
    assert_eq!(seen.len(), 0);
}

#[test]
fn examples_are_written_in_their_order() {
    for (text, request) in [
        (E6, RequestCode::END_TRANSACTION),
        (E12, RequestCode::PULL_MESSAGE),
        (E13, RequestCode::PULL_MESSAGE),
    ] {
        let command = read(&json_frame(text, b"")).expect("it can be read");
        let header = header_of(request, &command).expect("it has one");
        for format in FORMATS {
            let found = (header.resend)(&command.ext, format).expect("all is there");
            assert!(found.iter().eq(command.ext.iter()), "{} in {format:?}: {found:?}", header.name);
        }
    }
}
