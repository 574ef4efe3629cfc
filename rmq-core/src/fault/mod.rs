//! What a producer knows of its brokers' health (producer §4.4, §4.5).
//!
//! One table per producer, as in Java: what counts as slow is the producer's setting, and times seen by one that sends large
//! messages say little to one that sends small ones.

mod probe;
mod table;

pub(crate) use probe::{Probe, ProbeId};
pub(crate) use table::{FaultTable, Health, News, Outcome, Report};
