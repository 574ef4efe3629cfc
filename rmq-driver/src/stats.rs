//! What the loop costs.

use rmq_core::{Metric, MetricKind};

/// Defines a struct of counters, with their sums, differences and list.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[doc = $doc:literal])+ pub $field:ident: u64,)+ }) => {
        $(#[$meta])*
        pub struct $name { $($(#[doc = $doc])+ pub $field: u64,)+ }

        impl $name {
            pub(crate) const fn add(&mut self, more: Self) {
                $(self.$field += more.$field;)+
            }

            /// What was counted since `earlier`.
            #[must_use]
            pub const fn since(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)+ }
            }

            /// Each field by its name, with what it counts: to export all of them takes one loop.
            pub fn metrics(&self) -> impl Iterator<Item = Metric> + use<> {
                [$(Metric {
                    name: stringify!($field),
                    help: concat!($($doc),+).trim_start(),
                    kind: MetricKind::Counter,
                    value: self.$field,
                }),+].into_iter()
            }
        }
    };
}

counters! {
    /// Counters of a client's loop; they only grow, and
    /// [`metrics`](Self::metrics) lists them for an exporter. Divided by the sends of [`rmq_core::Stats`] they say what a send costs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DriverStats {
        /// Times the loop's task was polled by its runtime.
        pub polls: u64,
        /// Turns: each feeds what came in to the core and takes out what is to be done, under one lock.
        pub turns: u64,
        /// Times a handle woke the loop's task.
        pub wakes: u64,
        /// Reads of a stream that brought bytes or its end.
        pub reads: u64,
        /// Reads of a stream that found nothing. Some runtimes know that without asking the system.
        pub empty_reads: u64,
        /// Writes that a stream took bytes of, many frames at a time.
        pub writes: u64,
        /// Writes that a stream took nothing of.
        pub blocked_writes: u64,
        /// Timers armed at the runtime.
        pub timers: u64,
        /// Events that end no operation, such as a connection closed or a heartbeat refused.
        pub notices: u64,
        /// Looks for name servers at a source.
        pub fetches: u64,
        /// Looks that brought no list.
        pub failed_fetches: u64,
        /// Brokers' questions about transactions that nobody listened to.
        pub checks_unheard: u64,
    }
}
