//! Pop consumption's strings (wire §11.1): what a broker answers beside popped messages, and the receipt that a client makes
//! of it for each message, to acknowledge it by.

mod error;
mod info;
mod parts;
mod receipt;
mod receipts;

pub use error::{PopError, ReceiptError};
pub use info::{OrderCounts, QueueKey, parse_message_offsets, parse_order_counts, parse_start_offsets};
pub use receipt::{ORDERED_REVIVE_QUEUE, Receipt};
pub use receipts::{PopAnswer, Popped, PoppedMessage};
