//! What goes wrong in a world, and when.

use std::ops::Range;
use std::time::Duration;

use rmq_core::Instant;
use rmq_proto::code::ResponseCode;

use super::World;
use crate::net::Fault;
use crate::run::FaultRate;

/// A server of a [`World`], to be given [faults](Fault). Made by [`World::broker`] and [`World::name_server`].
///
/// All times are since the world's beginning; what would have begun in the past begins now. Faults add up.
#[derive(Clone, Debug)]
#[must_use = "without a fault nothing goes wrong"]
pub struct ServerFaults {
    world: World,
    address: String,
}

macro_rules! spans {
    ($($(#[$doc:meta])* $name:ident($($by:ident: $type:ty)?) => $fault:expr;)*) => {
        /// Each fault by its name.
        impl ServerFaults {
            $($(#[$doc])*
            pub fn $name(&self, $($by: $type,)? span: Range<Duration>) -> &Self {
                self.fault($fault, span)
            })*
        }
    };
}

spans! {
    /// [`Fault::Refuse`]: new connections are refused.
    refuse() => Fault::Refuse;
    /// [`Fault::Blackhole`]: new connections get no answer at all.
    blackhole() => Fault::Blackhole;
    /// [`Fault::Stall`]: nothing arrives in either direction; afterwards all of it does.
    stall() => Fault::Stall;
    /// [`Fault::StallRequests`]: what clients write arrives afterwards.
    stall_requests() => Fault::StallRequests;
    /// [`Fault::StallAnswers`]: what the server writes arrives afterwards.
    stall_answers() => Fault::StallAnswers;
    /// [`Fault::Slow`]: everything takes longer by `by`.
    slow(by: Duration) => Fault::Slow(by);
    /// [`Fault::SlowAnswers`]: answers take longer by `by`.
    slow_answers(by: Duration) => Fault::SlowAnswers(by);
    /// [`Fault::Crash`]: the process dies, and is started again at the end.
    crash() => Fault::Crash;
    /// [`Fault::Vanish`]: the host is gone without a word, and back at the end.
    vanish() => Fault::Vanish;
    /// [`Fault::Hang`]: the server reads everything and does nothing.
    hang() => Fault::Hang;
    /// [`Fault::Mute`]: the server does everything and answers nothing.
    mute() => Fault::Mute;
    /// [`Fault::AnswerSends`]: sends are answered with `code`.
    answer_sends(code: ResponseCode) => Fault::AnswerSends(code);
    /// [`Fault::CloseOnRequest`]: the next request's connection is closed in place of carrying it out.
    close_on_request() => Fault::CloseOnRequest { carried_out: false };
    /// [`Fault::CloseOnRequest`]: the next request is carried out, and its connection closed in place of an answer.
    close_after_request() => Fault::CloseOnRequest { carried_out: true };
    /// [`Fault::Drain`]: clients are sent away from the connections that are open, to be served on new ones.
    drain() => Fault::Drain;
    /// [`Fault::GoAway`]: clients are sent away, on new connections too.
    go_away() => Fault::GoAway;
}

impl ServerFaults {
    /// The server's address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lets something go wrong for a span of time.
    pub fn fault(&self, fault: Fault, span: Range<Duration>) -> &Self {
        let span = Instant::ZERO + span.start..Instant::ZERO + span.end;
        let is_planned = self.world.with(|state, _| state.network.plan(&self.address, fault, span));
        debug_assert!(is_planned, "the network knows the addresses that it told");
        self
    }

    /// [`Fault::Reset`]: all connections are reset, in the middle of a frame perhaps.
    pub fn reset(&self, at: Duration) -> &Self {
        self.fault(Fault::Reset, at..at)
    }

    /// [`Fault::HalfOpen`]: the server forgets all connections, and its clients are not told.
    pub fn half_open(&self, at: Duration) -> &Self {
        self.fault(Fault::HalfOpen, at..at)
    }
}

impl World {
    /// A broker, by its name: they are called `broker-a`, `broker-b` and so on.
    ///
    /// # Panics
    ///
    /// When no broker has this name.
    pub fn broker(&self, name: &str) -> ServerFaults {
        let address = self.with(|state, _| {
            let brokers = state.network.cluster().brokers();
            match brokers.iter().find(|broker| broker.name() == name) {
                Some(broker) => Ok(broker.address().to_string()),
                None => Err(brokers.iter().map(|broker| broker.name().to_owned()).collect::<Vec<_>>()),
            }
        });
        match address {
            Ok(address) => ServerFaults { world: self.clone(), address },
            Err(names) => panic!("no broker is called {name:?}; there are {names:?}"),
        }
    }

    /// A name server, by its number, from 0.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub fn name_server(&self, index: usize) -> ServerFaults {
        let (address, count) = self.with(|state, _| {
            let mut addresses = state.network.cluster().name_server_addresses();
            let count = addresses.len();
            (addresses.nth(index).map(str::to_owned), count)
        });
        match address {
            Some(address) => ServerFaults { world: self.clone(), address },
            None => panic!("there is no name server {index}: they are counted from 0, and there are {count}"),
        }
    }

    /// Lets things go wrong at random servers for a span of time, as the seed decides. Storms add up.
    ///
    /// # Panics
    ///
    /// When a rate is of a kind that happens to clients (`Suspend`, `ClockStep`, `Kill`), or has no time between two.
    pub fn storm(&self, span: Range<Duration>, rates: &[FaultRate]) {
        for rate in rates {
            assert!(!rate.every.is_zero(), "{} would happen without end: {rate:?}", rate.kind.name());
            self.draw_faults(&span, rate);
        }
    }

    fn draw_faults(&self, span: &Range<Duration>, rate: &FaultRate) {
        let (mut rng, addresses) = self.with(|state, _| {
            let addresses: Vec<_> = state.network.addresses().map(|address| address.to_string()).collect();
            (state.rng.fork(), addresses)
        });
        let mut at = span.start;
        loop {
            at += rng.duration(&(rate.every / 5..rate.every * 9 / 5)).max(Duration::from_micros(1));
            if at >= span.end {
                return;
            }
            let lasts = rng.duration(&(Duration::from_millis(1)..rate.lasts));
            let Some(fault) = rate.kind.draw(&mut rng) else {
                panic!("{} happens to clients, and a storm to servers", rate.kind.name());
            };
            if let Some(address) = rng.pick(&addresses) {
                let server = ServerFaults { world: self.clone(), address: address.clone() };
                server.fault(fault, at..at + lasts);
            }
        }
    }
}
