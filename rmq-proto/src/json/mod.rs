//! JSON as fastjson speaks it: one lenient pull [`Reader`] and one strict [`Writer`], for headers and bodies alike.
//!
//! The reader takes what Java's reader takes (wire §2.2, §2.4): any white space, `/* */` and `//` comments, a byte order
//! mark, a trailing comma, single quotes, keys without quotes, numbers and whole objects as keys, numbers given as text
//! and text given as numbers. It goes through the text once and allocates only for text that has escapes in it.
//!
//! ```
//! use bytes::BytesMut;
//! use rmq_proto::json::{JsonError, Reader, Writer};
//!
//! fn queues(text: &[u8]) -> Result<(String, Vec<i64>), JsonError> {
//!     let (mut broker, mut queues) = (String::new(), Vec::new());
//!     let mut json = Reader::new(text)?;
//!     json.object()?;
//!     while let Some(key) = json.key()? {
//!         match &*key {
//!             "brokerName" => broker = json.text()?.unwrap_or_default().into_owned(),
//!             "queues" => {
//!                 // `null` reads as no array at all: nothing to go through.
//!                 if json.array()? {
//!                     while json.element()? {
//!                         queues.extend(json.i64()?);
//!                     }
//!                 }
//!             }
//!             _ => json.skip()?,
//!         }
//!     }
//!     json.finish()?;
//!     Ok((broker, queues))
//! }
//!
//! let lenient = b"{brokerName: 'broker-a', other: {1: [true]}, queues: [0, '1', 2,]}";
//! assert_eq!(queues(lenient), Ok(("broker-a".into(), vec![0, 1, 2])));
//! assert_eq!(queues(br#"{"brokerName":7,"queues":null}"#), Ok(("7".into(), vec![])));
//!
//! let mut out = BytesMut::new();
//! let mut json = Writer::new(&mut out);
//! json.begin_object();
//! json.key("brokerName");
//! json.text("broker-a");
//! json.key("queues");
//! json.begin_array();
//! json.integer(0);
//! json.integer(1);
//! json.end_array();
//! json.end_object();
//! assert_eq!(&out[..], br#"{"brokerName":"broker-a","queues":[0,1]}"#);
//! ```

mod double;
mod error;
mod reader;
mod reference;
pub(crate) mod text;
mod unescape;
mod writer;

pub use error::JsonError;
pub use reader::{Kind, Reader};
pub(crate) use reference::References;
pub use writer::Writer;
pub(crate) use writer::put_escaped;

/// How many objects and arrays may lie within each other. No header or body of the protocol comes near.
pub const MAX_DEPTH: usize = 32;
