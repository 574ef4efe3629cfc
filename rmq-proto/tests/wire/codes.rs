//! Names of codes and languages.

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{HeaderFormat, Language, RemotingCommand};

use crate::support::{read, written};

#[test]
fn codes_say_their_names() {
    let rows = [
        (RequestCode::SEND_MESSAGE_V2.to_string(), "SEND_MESSAGE_V2 (310)"),
        (RequestCode::POP_MESSAGE.to_string(), "POP_MESSAGE (200050)"),
        (RequestCode(-7).to_string(), "(-7)"),
        (ResponseCode::SYSTEM_BUSY.to_string(), "SYSTEM_BUSY (2)"),
        (ResponseCode::RPC_TIME_OUT.to_string(), "RPC_TIME_OUT (-1006)"),
        (ResponseCode(999).to_string(), "(999)"),
    ];
    for (found, expected) in rows {
        assert_eq!(found, expected);
    }
    assert_eq!(RequestCode(105).name(), Some("GET_ROUTEINFO_BY_TOPIC"));
    assert_eq!(ResponseCode(31).name(), None);
}

#[test]
fn languages() {
    for number in 0..=13 {
        let name = Language(number).name().expect("a name");
        assert_eq!(Language::from_name(name), Some(Language(number)));
        assert_eq!(Language::from_name(&name.to_lowercase()), Some(Language(number)));
    }
    assert_eq!(Language(14).name(), None);
    assert_eq!(Language::from_name("KLINGON"), None);
    assert_eq!(Language::RUST, Language(12));
}

#[test]
fn unknown_language_and_version_of_a_peer_are_accepted() {
    let command = RemotingCommand { version: 30_000, ..RemotingCommand::request(RequestCode::HEART_BEAT) };
    let mut bytes = written(&command, HeaderFormat::RocketMq);
    assert_eq!(bytes[10], 12, "we are written in Rust");
    bytes[10] = 99;
    let command = read(&bytes).expect("fine");
    assert_eq!((command.language, command.version), (None, 30_000));
}

#[test]
fn no_language_stays_none() {
    let command = RemotingCommand { language: None, ..RemotingCommand::request(1) };
    for format in [HeaderFormat::Json, HeaderFormat::RocketMq] {
        assert_eq!(read(&written(&command, format)), Ok(command.clone()));
    }
}
