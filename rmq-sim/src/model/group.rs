//! Consumer groups as a broker keeps them.

/// One consumer group of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Its name.
    pub name: String,
    /// Queues of its retry topic. With none, what it gives back is thrown away (producer §12.4). Default: 1.
    pub retry_queue_nums: i32,
    /// How often a message is consumed again, where the client does not say. Default: 16.
    pub retry_max_times: i32,
}

impl GroupConfig {
    /// A group with the defaults, as brokers create them by themselves.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), retry_queue_nums: 1, retry_max_times: 16 }
    }
}
