//! What the loop costs.

/// Counters of a client's loop; they only grow. Divided by the sends of [`rmq_core::Stats`] they say what a send costs.
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
    /// Events that end no operation, such as a connection closed or a heartbeat refused. They are counted and dropped.
    pub notices: u64,
    /// Looks for name servers at a [source](crate::NameServerSource).
    pub fetches: u64,
    /// Looks that brought no list.
    pub failed_fetches: u64,
    /// Brokers' questions about transactions that nobody [listened](crate::Producer::transaction_checks) to.
    pub checks_unheard: u64,
}

impl DriverStats {
    pub(crate) const fn add(&mut self, more: Self) {
        self.polls += more.polls;
        self.turns += more.turns;
        self.wakes += more.wakes;
        self.reads += more.reads;
        self.empty_reads += more.empty_reads;
        self.writes += more.writes;
        self.blocked_writes += more.blocked_writes;
        self.timers += more.timers;
        self.notices += more.notices;
        self.fetches += more.fetches;
        self.failed_fetches += more.failed_fetches;
        self.checks_unheard += more.checks_unheard;
    }

    /// What was counted since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            polls: self.polls - earlier.polls,
            turns: self.turns - earlier.turns,
            wakes: self.wakes - earlier.wakes,
            reads: self.reads - earlier.reads,
            empty_reads: self.empty_reads - earlier.empty_reads,
            writes: self.writes - earlier.writes,
            blocked_writes: self.blocked_writes - earlier.blocked_writes,
            timers: self.timers - earlier.timers,
            notices: self.notices - earlier.notices,
            fetches: self.fetches - earlier.fetches,
            failed_fetches: self.failed_fetches - earlier.failed_fetches,
            checks_unheard: self.checks_unheard - earlier.checks_unheard,
        }
    }
}
