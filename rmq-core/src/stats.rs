//! Counters and gauges.

use crate::error::RequestError;
use crate::event::Event;
use crate::metric::with_metrics;

with_metrics! {
    /// What a client did and holds. Counters only grow; gauges say what is there now.
    /// [`metrics`](Self::metrics) lists them all for an exporter.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Stats {
        /// Counter: sends accepted.
        pub sends: u64,
        /// Counter: sends that ended with a stored message or, one-way, with written bytes.
        pub sends_succeeded: u64,
        /// Counter: sends given up.
        pub sends_failed: u64,
        /// Counter: send-backs accepted. The messages that they send to retry topics are not counted as sends.
        pub send_backs: u64,
        /// Counter: send-backs that ended with the message given back.
        pub send_backs_succeeded: u64,
        /// Counter: send-backs given up.
        pub send_backs_failed: u64,
        /// Counter: recalls accepted.
        pub recalls: u64,
        /// Counter: recalls that a broker carried out.
        pub recalls_succeeded: u64,
        /// Counter: recalls given up.
        pub recalls_failed: u64,
        /// Counter: ends of transactions accepted, answers to checks included.
        pub transaction_ends: u64,
        /// Counter: ends of transactions whose bytes were written.
        pub transaction_ends_written: u64,
        /// Counter: ends of transactions given up.
        pub transaction_ends_failed: u64,
        /// Counter: brokers' questions about transactions that were passed on.
        pub checks: u64,
        /// Counter: such questions dropped, as there were too many, or the client was shutting down.
        pub checks_dropped: u64,
        /// Counter: such questions that could not be read.
        pub checks_undecodable: u64,
        /// Counter: such questions about a message of no group, or one that this client has no producer of.
        pub checks_of_strangers: u64,
        /// Counter: such questions that nobody answered for 60 s.
        pub checks_expired: u64,
        /// Counter: requests accepted. They are not counted as sends.
        pub requests: u64,
        /// Counter: requests that ended with their reply.
        pub requests_succeeded: u64,
        /// Counter: requests given up.
        pub requests_failed: u64,
        /// Counter: replies that nobody waits for: late, cancelled meanwhile, the second of two, or never asked for.
        pub unknown_replies: u64,
        /// Counter: operations cancelled.
        pub cancelled: u64,
        /// Counter: commands rejected.
        pub rejected: u64,
        /// Counter: attempts after the first.
        pub retries: u64,
        /// Counter: attempts that failed, for whatever reason.
        pub attempts_failed: u64,
        /// Counter: those of them that had no answer, or were not written, within their time.
        pub attempts_timed_out: u64,
        /// Counter: those of them that a broker answered with an error.
        pub attempts_refused: u64,
        /// Counter: those of them that had no connection, or whose connection was lost.
        pub attempts_unreached: u64,
        /// Counter: times that a producer began to leave a broker alone.
        pub isolations: u64,
        /// Counter: connections ordered.
        pub connects: u64,
        /// Counter: connections that were opened.
        pub connections_opened: u64,
        /// Counter: connections that could not be opened.
        pub connect_failures: u64,
        /// Counter: open connections that ended, whatever the cause.
        pub disconnects: u64,
        /// Counter: frames handed to a stream.
        pub frames_written: u64,
        /// Counter: frames received.
        pub frames_received: u64,
        /// Counter: bytes handed to streams.
        pub bytes_written: u64,
        /// Counter: bytes received.
        pub bytes_received: u64,
        /// Counter: frames and headers that broke the rules; each closed its connection.
        pub protocol_errors: u64,
        /// Counter: answers that nobody waits for: late, cancelled meanwhile, or never asked for.
        pub unknown_answers: u64,
        /// Counter: requests that a peer did not act on, as it goes away.
        pub go_aways: u64,
        /// Counter: requests that a broker made.
        pub inbound: u64,
        /// Counter: requests of a broker dropped because too many answers wait.
        pub inbound_dropped: u64,
        /// Counter: inputs for connections that are gone.
        pub stale_inputs: u64,
        /// Counter: inputs that no driver should make, such as more bytes written than were handed out. A bug.
        pub misuses: u64,
        /// Counter: questions to name servers.
        pub route_queries: u64,
        /// Counter: questions for routes that no name server answered.
        pub route_failures: u64,
        /// Counter: heartbeats made.
        pub heartbeats: u64,
        /// Counter: heartbeats that a broker refused.
        pub heartbeats_refused: u64,
        /// Counter: heartbeats that had no answer within their time.
        pub heartbeats_unanswered: u64,
        /// Counter: events that end no operation and were dropped.
        pub notices_dropped: u64,
        /// Counter: trace records made. Each ends among the next three.
        pub traces: u64,
        /// Counter: trace records that a broker stored.
        pub traces_sent: u64,
        /// Counter: trace records whose message could not be sent.
        pub traces_failed: u64,
        /// Counter: trace records that were not sent, as too many waited or no text could carry them.
        pub traces_dropped: u64,
        /// Gauge: operations under way, those included whose end was not yet polled.
        pub operations: usize,
        /// Gauge: bytes of their bodies and properties.
        pub operation_bytes: usize,
        /// Gauge: brokers' questions about transactions that are not answered yet.
        pub open_checks: usize,
        /// Gauge: bytes of the messages that they are about.
        pub check_bytes: usize,
        /// Gauge: requests under way.
        pub requests_waiting: usize,
        /// Gauge: producers.
        pub producers: usize,
        /// Gauge: messages under way of producers that limit them.
        pub permits: usize,
        /// Gauge: bytes of them.
        pub permit_bytes: usize,
        /// Gauge: sends that wait for others of their producer to end.
        pub in_line: usize,
        /// Gauge: topics known or asked for.
        pub topics: usize,
        /// Gauge: brokers that routes name.
        pub brokers: usize,
        /// Gauge: brokers whose health producers remember, counted for each producer.
        pub fault_items: usize,
        /// Gauge: those of them that are left alone.
        pub brokers_isolated: usize,
        /// Gauge: messages that wait to go out in a batch.
        pub gathered: usize,
        /// Gauge: bytes of their bodies.
        pub gathered_bytes: usize,
        /// Gauge: batches that they wait for.
        pub groups: usize,
        /// Gauge: automatic batches under way. They are no operations; those that they carry are.
        pub auto_batches: usize,
        /// Gauge: peers known.
        pub links: usize,
        /// Gauge: connections that wait for their last answers, as their peer has sent this client away.
        pub draining: usize,
        /// Gauge: connections open.
        pub connections: usize,
        /// Gauge: requests not yet handed to a stream.
        pub queued: usize,
        /// Gauge: requests written whose answer is awaited, cancelled ones included.
        pub awaited: usize,
        /// Gauge: bytes handed to streams that have not taken them yet.
        pub unwritten_bytes: usize,
        /// Gauge: bytes received of frames that are not whole yet.
        pub unread_bytes: usize,
        /// Gauge: trace records that wait to be sent.
        pub traces_waiting: usize,
        /// Gauge: messages with trace records under way. They are no operations, and not counted as sends.
        pub trace_sends: usize,
        /// Gauge: timers armed for operations and for messages with trace records.
        pub operation_timers: usize,
        /// Gauge: timers armed, those of operations included.
        pub timers: usize,
    }
}

impl Stats {
    /// Counts an operation by its end. A question for queues counts only when it is cancelled.
    pub(crate) fn count_end(&mut self, event: &Event, is_question: bool) {
        match event {
            Event::Sent { .. } | Event::OnewayWritten { .. } => self.sends_succeeded += 1,
            Event::SendFailed { .. } => self.sends_failed += u64::from(!is_question),
            Event::SentBack { .. } => self.send_backs_succeeded += 1,
            Event::SendBackFailed { .. } => self.send_backs_failed += 1,
            Event::Recalled { .. } => self.recalls_succeeded += 1,
            Event::RecallFailed { .. } => self.recalls_failed += 1,
            Event::TransactionEnded { .. } => self.transaction_ends_written += 1,
            Event::EndTransactionFailed { .. } => self.transaction_ends_failed += 1,
            Event::Replied { .. } => self.requests_succeeded += 1,
            Event::RequestFailed { .. } => self.requests_failed += 1,
            Event::Cancelled { .. } => self.cancelled += 1,
            _ => {}
        }
    }

    /// Counts an attempt that failed.
    pub(crate) fn count_failure(&mut self, error: &RequestError) {
        self.attempts_failed += 1;
        match error {
            RequestError::Timeout { .. } | RequestError::WriteTimeout { .. } => self.attempts_timed_out += 1,
            RequestError::Answered { .. } => self.attempts_refused += 1,
            RequestError::Connect(_) | RequestError::HeldOff(_) | RequestError::Closed { .. } => {
                self.attempts_unreached += 1;
            }
            _ => {}
        }
    }
}
