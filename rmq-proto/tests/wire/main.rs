//! Frames and headers, seen from the outside.

mod chunks;
mod codes;
mod examples;
mod ext_fields;
mod golden;
mod json_headers;
mod json_texts;
mod malformed;
mod round_trips;
mod support;
mod typed_headers;
