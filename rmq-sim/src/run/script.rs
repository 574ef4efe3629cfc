//! Runs whose actions are written down instead of drawn, and a code for them in bytes: what a fuzzer changes.

use std::time::Duration;

use rmq_core::proto::command::HeaderFormat;
use rmq_core::{AttemptTimeout, CloseOnTimeout, RetryPolicy};
use rmq_proto::body::{PERM_READ, PERM_WRITE};

use super::options::{ClientSettings, FaultKind, FaultRate, RunOptions};
use crate::model::{ClusterConfig, Profile};
use crate::net::{Fault, NetworkConfig};
use crate::rng::Rng;

/// Most operations that decoded actions begin.
const MAX_OPERATIONS: u32 = 40;
/// Longest time that a decoded action lets a client stand still: a client forgets a topic that it did not send to for 600 s,
/// and has no longer time than that.
const LONG: Duration = Duration::from_secs(700);
/// Most actions that are decoded.
const MAX_ACTIONS: usize = 64;

/// Something that a script does. Clients, topics and addresses are numbers of any size: they wrap around at how many
/// there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A client begins to send.
    Send {
        /// The client.
        client: u32,
        /// One of the topics of the run, or one more that nobody created.
        topic: u32,
        /// Least length of the body, in bytes.
        body_len: usize,
        /// The time of the call; `None`: the producer's.
        timeout: Option<Duration>,
        /// Whether no answer is asked for.
        oneway: bool,
        /// How many, at the same moment.
        count: u32,
    },
    /// A client takes back one of the operations that it has under way, if it has any.
    Cancel {
        /// The client.
        client: u32,
        /// Which.
        which: usize,
    },
    /// Something goes wrong at a server.
    Fault {
        /// The server.
        address: usize,
        /// What.
        fault: Fault,
        /// For how long.
        lasts: Duration,
    },
    /// A client's process stands still.
    Suspend {
        /// The client.
        client: u32,
        /// For how long.
        time: Duration,
    },
    /// A client's wall clock jumps.
    StepClock {
        /// The client.
        client: u32,
        /// By how many milliseconds.
        millis: i64,
    },
    /// A client is killed, and another takes its place.
    Kill {
        /// The client.
        client: u32,
    },
    /// An administrator changes a topic.
    Change {
        /// The topic.
        topic: u32,
        /// On which broker; `None`: on all.
        broker: Option<usize>,
        /// Queues to write to and to read.
        queues: i32,
        /// Permissions (wire §2.5).
        perm: i32,
    },
    /// Each client sends to each topic, once all of them are awake for long enough that every send must succeed.
    Probe,
}

/// A run that is written down.
#[derive(Clone, Debug)]
pub struct Script {
    /// What the run is made of.
    pub options: RunOptions,
    /// What happens and when, counted from the beginning.
    pub actions: Vec<(Duration, Action)>,
}

impl Script {
    /// Any bytes are a script: 32 for the options, then six for each action. Missing ones count as 0. A storm has at most
    /// 20 s, and there are at most about 40 operations in it.
    ///
    /// ```
    /// use rmq_sim::run::{Run, script::Script};
    ///
    /// let Script { options, actions } = Script::decode(b"any bytes at all");
    /// assert_eq!(Run::scripted(options, actions).finish().violation, None);
    /// ```
    pub fn decode(bytes: &[u8]) -> Self {
        let (options, actions) = bytes.split_at(bytes.len().min(32));
        let options = decode_options(&mut Code(options));
        let mut script = Self { options, actions: Vec::new() };
        script.decode_actions(actions);
        script
    }

    /// All of them lie within the storm.
    fn decode_actions(&mut self, bytes: &[u8]) {
        let (mut at, mut operations) = (Duration::ZERO, 0);
        for code in bytes.chunks(6).take(MAX_ACTIONS) {
            let mut code = Code(code);
            let action = decode_action(code.byte(), &mut code);
            at += code.spread(Duration::from_secs(4));
            if at >= self.options.storm {
                return;
            }
            if let Action::Send { count, .. } = &action {
                operations += count;
                if operations > MAX_OPERATIONS {
                    continue;
                }
            }
            self.actions.push((at, action));
        }
    }
}

/// Bytes that decide; behind their end there are zeros.
struct Code<'a>(&'a [u8]);

impl Code<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }

    fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        from[usize::from(self.byte()) % N]
    }

    /// A time up to `most`; short ones are told apart more finely.
    fn spread(&mut self, most: Duration) -> Duration {
        let byte = u32::from(self.byte());
        most * (byte * byte) / (255 * 255)
    }

    /// A time of `least` and so many steps of `step` more.
    fn steps(&mut self, least: u64, step: u64, steps: u8) -> Duration {
        Duration::from_millis(least + step * u64::from(self.below(steps)))
    }
}

fn decode_options(code: &mut Code<'_>) -> RunOptions {
    let seed = code.byte().into();
    let settings = decode_settings(code);
    let network = decode_network(code);
    RunOptions {
        seed,
        network,
        clients: 1 + u32::from(code.below(3)),
        topics: 1 + u32::from(code.below(3)),
        operations: code.below(16).into(),
        storm: code.steps(1_000, 1_000, 20),
        calm: code.steps(80_000, 1_000, 16),
        settings,
        faults: (0..code.below(3))
            .map(|_| FaultRate {
                kind: fault_kind(code.byte(), FaultKind::ALL.len() - FaultKind::NEWER.len()),
                every: code.steps(1_000, 100, 255),
                lasts: code.steps(10, 100, 255),
            })
            .collect(),
    }
}

fn decode_settings(code: &mut Code<'_>) -> ClientSettings {
    let send_timeout = code.steps(500, 50, 110);
    ClientSettings {
        header_format: code.pick([HeaderFormat::Json, HeaderFormat::RocketMq]),
        close_on_timeout: code.pick([CloseOnTimeout::Silent, CloseOnTimeout::Java]),
        heartbeat_interval: code.steps(5_000, 1_000, 26),
        route_refresh_interval: code.steps(5_000, 1_000, 26),
        idle_timeout: code.steps(10_000, 1_000, 111),
        connect_timeout: code.steps(200, 20, 191),
        attempts: std::num::NonZeroU32::MIN.saturating_add(code.below(4).into()),
        attempt_timeout: code.pick([
            AttemptTimeout::Split,
            AttemptTimeout::Whole,
            AttemptTimeout::Cap(send_timeout / 3),
        ]),
        send_timeout,
        retry: match code.below(4) {
            0 => RetryPolicy::local_failures_only(),
            1 => RetryPolicy::default().when_not_stored_ok(true),
            _ => RetryPolicy::default(),
        },
        read_len: code.pick([65_536, 4_096, 100, 7]),
        retry_backoff: Duration::from_millis(100),
        fault_tolerance: None,
        trace: None,
        to_queue: 0,
        auto_batch: None,
    }
}

fn decode_network(code: &mut Code<'_>) -> NetworkConfig {
    let cluster = ClusterConfig {
        profile: code.pick([Profile::V5_3, Profile::V4_9]),
        brokers: 1 + usize::from(code.below(4)),
        name_servers: 1 + usize::from(code.below(3)),
        auto_create: code.flag(),
        ..ClusterConfig::default()
    };
    let latency = Duration::from_micros(50 + 20 * u64::from(code.byte()));
    NetworkConfig {
        cluster,
        latency: latency..latency * 4,
        split_per_mille: code.pick([0, 50, 300, 1_000]),
        send_buffer: code.pick([65_536, 16_384, 4_096]),
        ..NetworkConfig::default()
    }
}

/// One of the first `of` kinds, or one of the newer ones, which have bytes of their own.
fn fault_kind(byte: u8, of: usize) -> FaultKind {
    match byte {
        240.. => FaultKind::NEWER[usize::from(byte) % FaultKind::NEWER.len()],
        _ => FaultKind::ALL[usize::from(byte) % of],
    }
}

fn decode_action(kind: u8, code: &mut Code<'_>) -> Action {
    let client = u32::from(kind >> 4);
    match kind & 15 {
        0..=5 => {
            let shape = code.byte();
            let timeout = code.byte();
            Action::Send {
                client,
                topic: (shape & 3).into(),
                oneway: shape & 12 == 12,
                count: if shape & 0xF0 == 0xF0 { 8 } else { 1 },
                timeout: (timeout > 0).then(|| Duration::from_millis(20 * u64::from(timeout))),
                body_len: usize::from(code.byte()).pow(2) / 2,
            }
        }
        6 => Action::Cancel { client, which: code.byte().into() },
        7..=10 => {
            // What happens to clients has actions of its own.
            let kind = fault_kind(code.byte(), 16);
            let fault = kind.draw(&mut Rng::new(code.byte().into())).unwrap_or(Fault::Reset);
            let lasts = code.spread(Duration::from_secs(20));
            Action::Fault { address: client as usize, fault, lasts }
        }
        11 => match code.byte() {
            255 => Action::Suspend { client, time: LONG },
            byte => Action::Suspend { client, time: Duration::from_millis(80 * u64::from(byte)) },
        },
        12 => Action::StepClock { client, millis: (i64::from(code.byte()) - 128) * 720_000 },
        13 => Action::Kill { client },
        _ => Action::Change {
            topic: client,
            broker: code.flag().then(|| code.byte().into()),
            queues: code.below(9).into(),
            perm: code.pick([PERM_READ | PERM_WRITE, PERM_READ, PERM_WRITE, 0]),
        },
    }
}
