//! RocketMQ's remoting protocol as pure functions over bytes: frames, both header formats, typed headers, bodies,
//! messages and ids. No I/O, no clock, no policy, and no standard library: `no_std` with `alloc`.
//!
//! From bytes to what they say: a [`frame::FrameDecoder`] cuts a stream of bytes into frames,
//! [`command::RemotingCommand::decode`] reads a frame's header, and [`command::RemotingCommand::header`] reads the fields of
//! one kind of command straight from the bytes of the frame. From what is to be said to bytes: [`command::encode_frame`]
//! writes a typed header straight into the output.
//!
//! ```
//! use bytes::BytesMut;
//! use rmq_proto::code::RequestCode;
//! use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
//! use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
//! use rmq_proto::header::GetRouteHeader;
//!
//! let mut out = BytesMut::new();
//! let head = CommandHead::request(RequestCode::GET_ROUTEINFO_BY_TOPIC, 1);
//! let header = GetRouteHeader { topic: "TopicTest".into(), accept_standard_json_only: None };
//! encode_frame(&mut out, HeaderFormat::Json, &head, &header, 0)?;
//!
//! let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
//! let frame = decoder.decode(&mut out.freeze())?.expect("the whole frame is there");
//! let command = RemotingCommand::decode(frame)?;
//! assert_eq!(command.opaque, 1);
//! assert_eq!(command.header::<GetRouteHeader<'_>>()?.topic, "TopicTest");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! "wire §1.3" and "producer §5.2" in the docs name sections of the protocol's description; ARCHITECTURE.md says what
//! they are.

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
pub mod version;
