//! Codes of requests and responses (wire §4). Both sets are open: peers may send numbers that have no name here.

#[macro_use]
mod table;
mod request;
mod response;

pub use request::RequestCode;
pub use response::ResponseCode;
