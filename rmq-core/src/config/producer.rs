//! Settings of a producer and of one send.

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::names;

use super::{AutoBatch, ConfigError, FaultTolerance, InFlight, Trace, at_least_a_millisecond};
use crate::link::HOLD_OFF;

/// How much of a call's time one attempt may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptTimeout {
    /// What is left, divided by the attempts left: a broker that hangs cannot eat the time of the others.
    #[default]
    Split,
    /// At most so much, the last attempt excepted. Java: `sendMsgMaxTimeoutPerRequest`.
    Cap(Duration),
    /// All that is left. Java's default.
    Whole,
}

/// Which failures another attempt follows (producer §5.3). Failures of the connection and timeouts are always
/// followed by one, as long as attempts and time are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    codes: Vec<ResponseCode>,
    not_stored_ok: bool,
    at_given_queue: bool,
}

impl Default for RetryPolicy {
    /// Another attempt follows SYSTEM_ERROR, SYSTEM_BUSY, SERVICE_NOT_AVAILABLE, NO_PERMISSION, TOPIC_NOT_EXIST,
    /// NO_BUYER_ID, NOT_IN_CURRENT_UNIT and GO_AWAY. Java: `retryResponseCodes`.
    fn default() -> Self {
        let codes = Vec::from([
            ResponseCode::SYSTEM_ERROR,
            ResponseCode::SYSTEM_BUSY,
            ResponseCode::SERVICE_NOT_AVAILABLE,
            ResponseCode::NO_PERMISSION,
            ResponseCode::TOPIC_NOT_EXIST,
            ResponseCode::NO_BUYER_ID,
            ResponseCode::NOT_IN_CURRENT_UNIT,
            ResponseCode::GO_AWAY,
        ]);
        Self { codes, not_stored_ok: false, at_given_queue: false }
    }
}

impl RetryPolicy {
    /// Every code that a broker answers is final, and a send to a given queue is [tried
    /// again](Self::at_given_queue), as in Java's asynchronous sends.
    pub fn local_failures_only() -> Self {
        Self { codes: Vec::new(), not_stored_ok: false, at_given_queue: true }
    }

    /// Another attempt follows this code too.
    #[must_use]
    pub fn also(mut self, code: ResponseCode) -> Self {
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
        self
    }

    /// Another attempt follows the statuses other than SEND_OK; the message is then stored more than once. Off by
    /// default. Java: `retryAnotherBrokerWhenNotStoreOK`.
    #[must_use]
    pub fn when_not_stored_ok(mut self, retry: bool) -> Self {
        self.not_stored_ok = retry;
        self
    }

    /// Another attempt follows a failure of the connection or a timeout of a send to a given queue, at that queue. Off
    /// by default, as in Java's synchronous sends: there is one attempt. Whatever a broker answers is final there.
    #[must_use]
    pub fn at_given_queue(mut self, retry: bool) -> Self {
        self.at_given_queue = retry;
        self
    }

    pub(crate) fn retries(&self, code: ResponseCode) -> bool {
        self.codes.contains(&code)
    }

    pub(crate) fn retries_not_stored_ok(&self) -> bool {
        self.not_stored_ok
    }
}

/// Settings of one producer group. Checked by [`Client::add_producer`](crate::Client::add_producer).
#[derive(Clone, Debug)]
pub struct ProducerConfig {
    pub(crate) group: String,
    pub(crate) send_timeout: Duration,
    pub(crate) attempts: NonZeroU32,
    pub(crate) attempt_timeout: AttemptTimeout,
    pub(crate) retry: RetryPolicy,
    pub(crate) retry_backoff: Duration,
    pub(crate) in_flight: Option<InFlight>,
    pub(crate) fault_tolerance: Option<FaultTolerance>,
    pub(crate) auto_batch: Option<AutoBatch>,
    pub(crate) default_topic_queues: NonZeroU32,
    pub(crate) trace: Option<Trace>,
}

impl ProducerConfig {
    /// The defaults, for a group name that the user chooses.
    pub fn new(group: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            send_timeout: Duration::from_secs(3),
            attempts: NonZeroU32::MIN.saturating_add(2),
            attempt_timeout: AttemptTimeout::Split,
            retry: RetryPolicy::default(),
            retry_backoff: HOLD_OFF,
            in_flight: None,
            fault_tolerance: None,
            auto_batch: None,
            default_topic_queues: NonZeroU32::MIN.saturating_add(3),
            trace: None,
        }
    }

    /// Time of one send, all attempts together; 3 s by default. Java: `sendMsgTimeout`.
    #[must_use]
    pub fn send_timeout(mut self, timeout: Duration) -> Self {
        self.send_timeout = timeout;
        self
    }

    /// Most attempts of one send; 3 by default. Java: 1 + `retryTimesWhenSendFailed`.
    #[must_use]
    pub fn attempts(mut self, attempts: NonZeroU32) -> Self {
        self.attempts = attempts;
        self
    }

    /// How the time is shared among attempts; [`AttemptTimeout::Split`] by default.
    #[must_use]
    pub fn attempt_timeout(mut self, rule: AttemptTimeout) -> Self {
        self.attempt_timeout = rule;
        self
    }

    /// Which failures another attempt follows.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Least time from the beginning of an attempt to that of the next one where both go to the same broker, as there is no
    /// other; 100 ms by default, the time in which an address that refused is not connected to again. Zero: it follows
    /// at once. An attempt at another broker never waits, and no send waits for the end of its time: it then fails at
    /// once. No Java counterpart.
    #[must_use]
    pub fn retry_backoff(mut self, wait: Duration) -> Self {
        self.retry_backoff = wait;
        self
    }

    /// Lets sends beyond these limits wait until others end; off by default, so that only [`Limits`](crate::Limits) of the
    /// client count. Java: `enableBackpressureForAsyncMode`.
    #[must_use]
    pub fn in_flight(mut self, limits: InFlight) -> Self {
        self.in_flight = Some(limits);
        self
    }

    /// Leaves brokers alone for a while that were slow or failed; off by default. Java: `sendLatencyFaultEnable`.
    #[must_use]
    pub fn fault_tolerance(mut self, tolerance: FaultTolerance) -> Self {
        self.fault_tolerance = Some(tolerance);
        self
    }

    /// Puts messages that are sent one by one into batches; off by default. Java: `autoBatch`.
    #[must_use]
    pub fn auto_batch(mut self, batches: AutoBatch) -> Self {
        self.auto_batch = Some(batches);
        self
    }

    /// Queues that a broker is asked for when it creates a topic, at most what it allows; 4 by default. Java:
    /// `defaultTopicQueueNums`.
    #[must_use]
    pub fn default_topic_queues(mut self, queues: NonZeroU32) -> Self {
        self.default_topic_queues = queues;
        self
    }

    /// Tells what became of this producer's messages in a topic that consoles read; off by default. Java: `enableTrace`.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// The group's name.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The time of one send, as set by [`send_timeout`](Self::send_timeout).
    pub fn timeout(&self) -> Duration {
        self.send_timeout
    }

    /// The most attempts of one send, as set by [`attempts`](Self::attempts).
    pub fn max_attempts(&self) -> NonZeroU32 {
        self.attempts
    }

    /// The most attempts of a send to a given queue.
    pub fn max_attempts_at_queue(&self) -> NonZeroU32 {
        if self.retry.at_given_queue { self.attempts } else { NonZeroU32::MIN }
    }

    /// What [`auto_batch`](Self::auto_batch) set.
    pub fn batches(&self) -> Option<&AutoBatch> {
        self.auto_batch.as_ref()
    }

    /// The wait set by [`retry_backoff`](Self::retry_backoff).
    pub fn backoff(&self) -> Duration {
        self.retry_backoff
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        names::validate_group(&self.group)
            .map_err(|error| ConfigError::Group { group: self.group.clone(), error })?;
        at_least_a_millisecond("send_timeout", self.send_timeout)?;
        if let AttemptTimeout::Cap(cap) = self.attempt_timeout {
            at_least_a_millisecond("attempt_timeout", cap)?;
        }
        if let Some(limits) = &self.in_flight {
            limits.check()?;
        }
        if let Some(tolerance) = &self.fault_tolerance {
            tolerance.check()?;
        }
        if let Some(batches) = &self.auto_batch {
            batches.check(self.send_timeout)?;
        }
        if let Some(trace) = &self.trace {
            trace.check()?;
        }
        if self.attempts.get() > 64 {
            return Err(ConfigError::TooLarge { name: "attempts", maximum: "64" });
        }
        if i32::try_from(self.default_topic_queues.get()).is_err() {
            return Err(ConfigError::TooLarge { name: "default_topic_queues", maximum: "2147483647" });
        }
        Ok(())
    }
}

/// Choices of one send.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SendOptions {
    /// Time of this call instead of the producer's. Java: the `timeout` argument.
    pub timeout: Option<Duration>,
    /// Do not ask for an answer: the operation ends when the bytes are handed to the stream, after one attempt.
    pub oneway: bool,
    /// Reject the send at once where it would have to wait for its producer's others to end.
    pub no_wait: bool,
}

impl SendOptions {
    /// Sets [`timeout`](Self::timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets [`no_wait`](Self::no_wait).
    #[must_use]
    pub fn no_wait(mut self) -> Self {
        self.no_wait = true;
        self
    }

    /// Sets [`oneway`](Self::oneway).
    #[must_use]
    pub fn oneway(mut self) -> Self {
        self.oneway = true;
        self
    }
}
