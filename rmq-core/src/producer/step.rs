//! The steps of a send.
//!
//! | step     | leaves on                                  | to                                   |
//! |----------|--------------------------------------------|--------------------------------------|
//! | Gathered | its group goes out, it being alone there    | Resolve                              |
//! | Gathered | its group goes out                         | Riding                               |
//! | Riding   | the batch that carries it ends (producer §10.6) | the end                         |
//! | Asleep   | a send-back falls back on it (producer §12) | Resolve                              |
//! | InLine   | a permit is free (producer §5.8)           | Resolve                              |
//! | Resolve  | a usable route is known                    | Pick                                 |
//! | Resolve  | no usable route is known                   | Waiting                              |
//! | Waiting  | route                                      | Pick, or the end without a queue     |
//! | Waiting  | no such topic                              | Waiting for the default topic's route |
//! | Resolve, Waiting | route, of a request                | Registering, then Pick               |
//! | Registering | brokers know this client, or had their time | Pick                             |
//! | Pick     | only the queues were asked for             | the end                              |
//! | Pick     | time used up                               | the end                              |
//! | Pick     | queue chosen                               | Queued                               |
//! | Queued   | its bytes are handed out                   | Awaiting; one-way: Writing           |
//! | Queued, Awaiting | failure, attempt's deadline        | Pick, Pausing, or the end            |
//! | Awaiting | answer                                     | the end, Pick, or Pausing; Replying  |
//! | Replying | the reply to a request, its deadline       | the end                              |
//! | Pausing  | the back-off is over                       | Pick                                 |
//! | Writing  | all bytes taken by the stream              | the end                              |

use alloc::vec::Vec;

use super::GroupId;
use crate::address::Address;
use crate::error::{SendErrorKind, ServerOutcome};
use crate::event::{OpId, SendResult};
use crate::link::{LinkId, Ticket};
use crate::route::{Choice, TopicId};
use crate::time::Instant;

/// Which route a send waits for.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Topic,
    /// The default topic's, with what each server said of the topic itself.
    Default {
        servers: Vec<ServerOutcome>,
        unanimous: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A broker is asked first to take the message back.
    Asleep,
    /// Waits for others to go out with.
    Gathered {
        group: GroupId,
        place: u64,
    },
    /// An automatic batch carries its message.
    Riding {
        batch: OpId,
    },
    /// Others of its producer have to end first.
    InLine,
    Resolve,
    Waiting {
        topic: TopicId,
        serial: u64,
        stage: Stage,
    },
    Pick,
    /// A request waits until brokers know this client.
    Registering,
    /// A request is stored; its reply is waited for.
    Replying,
    /// Waits before another attempt at the only broker there is.
    Pausing,
    Queued {
        link: LinkId,
        ticket: Ticket,
    },
    Awaiting {
        link: LinkId,
        opaque: i32,
    },
    Writing,
}

/// The attempt under way.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) choice: Choice,
    pub(crate) address: Option<Address>,
    pub(crate) began: Instant,
    pub(crate) deadline: Instant,
}

/// What follows an answer or a failure.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Again,
    Stored(SendResult),
    GivenUp(SendErrorKind),
}
