//! Misbehaviour that a test asks for.

use std::collections::VecDeque;

use rmq_proto::code::ResponseCode;

/// What one address does wrong from now on. Faults of an address add up until
/// [`Cluster::heal`](super::Cluster::heal).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// New connections are refused. Open ones live on.
    Refuse,
    /// Everything is read and nothing is done or answered, on open connections too.
    Hang,
    /// Requests are carried out and not answered, on open connections too: all acknowledgements are lost. Beside
    /// [`Hang`](Self::Hang), which does nothing, it makes no difference.
    Mute,
    /// The next sends are answered with a code of the test's choice.
    ///
    /// With 10, 11 and 12 the message is stored and the answer has all fields of a success (wire §4.4); with any other
    /// code nothing is looked at and nothing stored.
    AnswerSends {
        /// How many sends.
        count: u32,
        /// The code.
        code: ResponseCode,
        /// The remark, if any.
        remark: Option<String>,
    },
    /// The next request's connection is closed in place of an answer.
    CloseOnRequest {
        /// Whether the request is carried out before: then only the answer is lost.
        carried_out: bool,
    },
    /// Clients are sent away, on new connections too: requests are not carried out and answered GO_AWAY, if the servers are of a
    /// release that does so and the client of one that knows it (wire §9.4). With [`Cluster::drain`](super::Cluster::drain)
    /// new connections are served.
    GoAway,
}

/// The code that a send gets in place of its own.
#[derive(Clone, Debug)]
pub(crate) struct ForcedCode {
    pub(crate) code: ResponseCode,
    pub(crate) remark: Option<String>,
}

/// Whether a send that is answered with this code is stored (wire §4.4).
pub(crate) const fn is_stored(code: ResponseCode) -> bool {
    matches!(
        code,
        ResponseCode::FLUSH_DISK_TIMEOUT
            | ResponseCode::FLUSH_SLAVE_TIMEOUT
            | ResponseCode::SLAVE_NOT_AVAILABLE
            | ResponseCode::SUCCESS
    )
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    Serve,
    Ignore,
    /// Carried out, not answered.
    Swallow,
    Close {
        carried_out: bool,
    },
}

impl Treatment {
    pub(crate) const fn carries_out(self) -> bool {
        !matches!(self, Self::Ignore | Self::Close { carried_out: false })
    }
}

/// The faults of one address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) refuse: bool,
    hang: bool,
    mute: bool,
    pub(crate) go_away: bool,
    close: VecDeque<bool>,
    sends: VecDeque<(u32, ForcedCode)>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        match fault {
            Fault::Refuse => self.refuse = true,
            Fault::Hang => self.hang = true,
            Fault::Mute => self.mute = true,
            Fault::AnswerSends { count, code, remark } => {
                self.sends.push_back((count, ForcedCode { code, remark }));
            }
            Fault::CloseOnRequest { carried_out } => self.close.push_back(carried_out),
            Fault::GoAway => self.go_away = true,
        }
    }

    /// Whether nothing at all is done.
    pub(crate) const fn hangs(&self) -> bool {
        self.hang
    }

    /// What becomes of the next request. Takes the order to close in place of answering, if there is one.
    pub(crate) fn treat(&mut self) -> Treatment {
        if self.hang {
            return Treatment::Ignore;
        }
        match self.close.pop_front() {
            Some(carried_out) => Treatment::Close { carried_out },
            None if self.mute => Treatment::Swallow,
            None => Treatment::Serve,
        }
    }

    pub(crate) fn take_send(&mut self) -> Option<ForcedCode> {
        while let Some((left, forced)) = self.sends.front_mut() {
            if *left > 0 {
                *left -= 1;
                return Some(forced.clone());
            }
            self.sends.pop_front();
        }
        None
    }
}
