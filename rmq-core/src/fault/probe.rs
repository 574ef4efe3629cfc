//! The detector's watch over one broker that a producer takes to be unreachable (producer §4.5, PORT).
//!
//! | state    | leaves on                                    | to       |
//! |----------|----------------------------------------------|----------|
//! | Resting  | the interval is over                         | Queued   |
//! | Resting  | the interval is over, no master is known     | the end, and the broker's item goes |
//! | Queued   | its bytes are handed out                     | Awaiting |
//! | Queued, Awaiting | failure, timeout, an answer but success | Resting |
//! | Awaiting | success                                      | the end: the broker is reachable |
//! | any      | an attempt reaches the broker                | the end  |

use alloc::sync::Arc;

use crate::deadlines::Armed;
use crate::event::ProducerId;
use crate::link::Asking;
use crate::slab::Id;
use crate::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProbeId(pub(crate) Id);

#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) producer: ProducerId,
    pub(crate) broker: Arc<str>,
    /// A topic that the broker has, for the question.
    pub(crate) topic: Arc<str>,
    /// Where the question is; idle while the watch rests.
    pub(crate) asking: Asking,
    pub(crate) began: Instant,
    /// When the question under way has had its time.
    pub(crate) deadline: Instant,
    pub(crate) timer: Option<Armed>,
}
