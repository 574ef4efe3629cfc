//! What can go wrong between a client and a server, and in a server.

use std::fmt;
use std::time::Duration;

use rmq_proto::code::ResponseCode;

/// What goes wrong at one server, for a span of time. Several may be on at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// New connections are refused; open ones live on.
    Refuse,
    /// New connections get no answer at all.
    Blackhole,
    /// Nothing arrives, in either direction, nor are connections answered. Afterwards all of it arrives.
    Stall,
    /// What clients write does not arrive. Afterwards it does.
    StallRequests,
    /// What the server writes does not arrive. Afterwards it does.
    StallAnswers,
    /// Each piece takes this much longer on its way, in both directions.
    Slow(Duration),
    /// The server carries requests out at once and answers this much later: a slow disk.
    SlowAnswers(Duration),
    /// At its beginning all connections are reset; of what is on its way, a part arrives first, cut at any byte.
    Reset,
    /// At its beginning the server forgets all connections, and its clients are not told: they learn of it when
    /// something they write arrives.
    HalfOpen,
    /// The server's process dies, and is started again at the end. Connections are closed or reset, name servers forget
    /// the broker at once; its messages are on its disk. A name server comes back knowing nothing.
    Crash,
    /// The server's host vanishes without a word, and is back at the end. Routes still name the broker.
    Vanish,
    /// The server reads everything and does nothing.
    Hang,
    /// The server does everything and answers nothing: acknowledgements are lost.
    Mute,
    /// Sends are answered with this code. With 10, 11 and 12 they are stored (wire §4.4), with others they are not.
    AnswerSends(ResponseCode),
    /// From its beginning on, the next request's connection is closed in place of an answer.
    CloseOnRequest {
        /// Whether the request is carried out before.
        carried_out: bool,
    },
    /// The server's process shuts down while another one takes its place at the address: clients of the connections open at
    /// its beginning are sent away (wire §9.4), new ones are served, and at its end the old ones are closed. Servers
    /// of release 4.9 say nothing and go on until then.
    Drain,
    /// Clients are sent away, on new connections too. Servers of release 4.9 never do it.
    GoAway,
}

impl Fault {
    /// What counts, traces and pictures call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Blackhole => "blackhole",
            Self::Stall => "stall",
            Self::StallRequests => "stall-requests",
            Self::StallAnswers => "stall-answers",
            Self::Slow(_) => "slow",
            Self::SlowAnswers(_) => "slow-answers",
            Self::Reset => "reset",
            Self::HalfOpen => "half-open",
            Self::Crash => "crash",
            Self::Vanish => "vanish",
            Self::Hang => "hang",
            Self::Mute => "mute",
            Self::AnswerSends(_) => "answer-sends",
            Self::CloseOnRequest { carried_out: false } => "close-on-request",
            Self::CloseOnRequest { carried_out: true } => "close-after-request",
            Self::Drain => "drain",
            Self::GoAway => "go-away",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Slow(by) | Self::SlowAnswers(by) => write!(f, " by {by:?}"),
            Self::AnswerSends(code) => write!(f, " with {code}"),
            _ => Ok(()),
        }
    }
}
