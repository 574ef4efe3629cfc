//! Deliberate bugs, compiled with `--cfg rmq_mutate` only: they show that a check can fail.
//!
//! One at a time is on, for the whole process. Where a bug strikes sometimes, what the client holds decides, so that a run
//! with a bug can be repeated as any other.

use core::sync::atomic::{AtomicU32, Ordering};

macro_rules! mutations {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A deliberate bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Mutation {
            $($(#[$doc])* $variant,)*
        }

        impl Mutation {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name, for command lines and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

mutations! {
    /// A send is told as stored when its bytes are handed out; the answer is not waited for.
    AcknowledgeWhenWritten = "acknowledge-when-written",
    /// Every fourth request on a connection has the opaque of the one before, which may still wait.
    ReuseOpaque = "reuse-opaque",
    /// The bytes of an operation that failed or was cancelled are never given back.
    ForgetPermit = "forget-permit",
    /// A send makes one attempt more than it may.
    RetryPastBudget = "retry-past-budget",
    /// The choice of a queue does not look at which brokers were tried.
    PickTriedBroker = "pick-tried-broker",
    /// The choice of a queue does not look at which brokers are to be left alone.
    PickIsolatedBroker = "pick-isolated-broker",
    /// What waits for an answer on a connection that ends is not told of it and waits for its time-out.
    KeepClosedRequests = "keep-closed-requests",
    /// Some of the reads that end within a frame make the decoder forget what it has of it.
    DropPartialFrame = "drop-partial-frame",
    /// No connection is closed by order: the client thinks it gone and the stream stays open.
    LeakConnection = "leak-connection",
    /// The next deadline is told in whole milliseconds, rounded down, so that nothing is due when it comes.
    SpinOnDeadline = "spin-on-deadline",
    /// A send that fails after several attempts is told twice.
    EndTwice = "end-twice",
    /// Each attempt after the first has a `UNIQ_KEY` of its own.
    RetryWithFreshKey = "retry-with-fresh-key",
    /// A written request that was cut off or timed out is said not to have been written.
    ClaimNotStored = "claim-not-stored",
    /// A write is handed out while one is outstanding.
    WriteWithoutCredit = "write-without-credit",
    /// An address that failed three times in a row is never connected to again.
    StopReconnecting = "stop-reconnecting",
    /// A random number is drawn per read, so that choices depend on how the input was cut.
    DrawPerRead = "draw-per-read",
    /// A connection that follows one that failed gets no heartbeat.
    ForgetHeartbeats = "forget-heartbeats",
    /// An attempt's timer fires half a second late.
    OverrunDeadline = "overrun-deadline",
    /// The timer of a second attempt does nothing.
    LoseTimer = "lose-timer",
    /// A dead letter that its broker does not take is sent to the retry topic.
    RetryDeadLetters = "retry-dead-letters",
    /// The model broker says yes to every other message that is given back to it, and forgets it.
    ModelForgetsBacks = "model-forgets-backs",
    /// The model broker answers that it stored every fiftieth message, and does not store it.
    ModelStoresNothing = "model-stores-nothing",
    /// The model broker stores every fiftieth message twice.
    ModelStoresTwice = "model-stores-twice",
}

impl Mutation {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|mutation| mutation.name() == name)
    }
}

/// 0, or one more than the number of the bug that is on.
static ON: AtomicU32 = AtomicU32::new(0);

/// Turns one on and all others off; `None` turns all off. Not to be called while a client runs in another thread.
pub fn set(mutation: Option<Mutation>) {
    ON.store(mutation.map_or(0, |mutation| mutation as u32 + 1), Ordering::Relaxed);
}

/// Whether it is on.
pub fn is(mutation: Mutation) -> bool {
    ON.load(Ordering::Relaxed) == mutation as u32 + 1
}
