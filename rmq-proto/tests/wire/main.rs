//! Frames and headers, seen from the outside.

mod binary_headers;
mod chunks;
mod codes;
mod damage;
mod escapes;
mod examples;
mod ext_fields;
mod golden;
mod golden_headers;
mod header_table;
mod json_headers;
mod json_texts;
mod malformed;
mod round_trips;
mod send_headers;
mod support;

mod two_ways;
mod typed_headers;
mod typed_headers_all;
mod typed_headers_examples;
mod typed_headers_pop;
