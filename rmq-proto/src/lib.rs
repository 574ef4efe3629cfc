//! RocketMQ's remoting protocol as pure functions over bytes: frames, both header formats, typed headers, bodies,
//! messages and ids. No I/O, no clock, no policy, and no standard library: `no_std` with `alloc`.
//!
//! | To | begin at |
//! |---|---|
//! | cut a stream into frames and read their headers | [`frame::FrameDecoder`], [`command::RemotingCommand::decode`], [`header`] |
//! | write a request | [`command::encode_frame`], or [`command::RemotingCommand::encode`] |
//! | send a message | [`message::Message::prepare`], [`header::SendMessageV2Header`], [`message::encode_batch`] |
//! | read the messages of a pull, a pop or a query | [`header::PullResponseHeader`], [`message::Messages`], [`message::StoredMessage::inflate`] |
//! | read and write routes, heartbeats, locks and all other JSON | [`body`] |
//! | sign a request, or check one | [`sign::Credentials`] |
//! | pop | [`pop`], [`recall`] |
//! | read and write message trace | [`trace::records`], [`trace::TraceRecord::encode`] |
//! | know what a peer can do | [`version::Version::has`] |
//!
//! Headers borrow their texts from the command; bodies and messages own theirs, and a message's body is a slice of the frame.
//! Formats of compression are the features `zlib`, `lz4` and `zstd`, all on by default. The example `dump` prints frames given in
//! hex.
//!
//! ```
//! use bytes::BytesMut;
//! use rmq_proto::code::RequestCode;
//! use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
//! use rmq_proto::frame::FrameDecoder;
//! use rmq_proto::header::GetRouteHeader;
//!
//! let mut out = BytesMut::new();
//! let head = CommandHead::request(RequestCode::GET_ROUTEINFO_BY_TOPIC, 1);
//! let header = GetRouteHeader { topic: "TopicTest".into(), accept_standard_json_only: None };
//! encode_frame(&mut out, HeaderFormat::Json, &head, &header, 0)?;
//!
//! let mut decoder = FrameDecoder::default();
//! let mut received = out.freeze();
//! while let Some(frame) = decoder.decode(&mut received)? {
//!     let command = RemotingCommand::decode(frame)?;
//!     assert_eq!(command.opaque, 1);
//!     assert_eq!(command.header::<GetRouteHeader<'_>>()?.topic, "TopicTest");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! "wire §1.3" and "producer §5.2" in the docs name sections of docs/wire.md and docs/producer.md in the repository.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod body;
pub mod code;
pub mod command;
pub mod compress;
pub mod ext;
pub mod frame;
pub mod hash;
pub mod header;
pub mod id;
pub mod json;
pub mod message;
pub mod names;
mod pen;
pub mod pop;
pub mod properties;
pub mod recall;
pub mod sign;
pub mod trace;
pub mod version;
