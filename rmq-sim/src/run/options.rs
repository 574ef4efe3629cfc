//! What a run is made of: drawn from its seed, so that each run has another mixture.

use std::num::NonZeroU32;
use std::time::Duration;

use rmq_core::proto::command::HeaderFormat;
use rmq_core::{
    AttemptTimeout, AutoBatch, ClientConfig, ClientConfigBuilder, CloseOnTimeout, FaultTolerance,
    ProducerConfig, RetryPolicy, Trace,
};
use rmq_proto::code::ResponseCode;

use crate::model::{ClusterConfig, Profile};
use crate::net::{Fault, NetworkConfig};
use crate::rng::Rng;

/// How often one kind of fault happens, and for how long.
#[derive(Clone, Debug)]
pub struct FaultRate {
    /// Draws the fault itself.
    pub kind: FaultKind,
    /// Time between two of them, on average.
    pub every: Duration,
    /// Longest time that one lasts.
    pub lasts: Duration,
}

/// The kinds of faults that a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the fault, or the happening, of the same name")]
pub enum FaultKind {
    Refuse,
    Blackhole,
    Stall,
    StallRequests,
    StallAnswers,
    Slow,
    SlowAnswers,
    Reset,
    HalfOpen,
    Crash,
    Vanish,
    Hang,
    Mute,
    AnswerSends,
    CloseOnRequest,
    CloseAfterRequest,
    Suspend,
    ClockStep,
    Kill,
    Drain,
    GoAway,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Refuse,
        Self::Blackhole,
        Self::Stall,
        Self::StallRequests,
        Self::StallAnswers,
        Self::Slow,
        Self::SlowAnswers,
        Self::Reset,
        Self::HalfOpen,
        Self::Crash,
        Self::Vanish,
        Self::Hang,
        Self::Mute,
        Self::AnswerSends,
        Self::CloseOnRequest,
        Self::CloseAfterRequest,
        Self::Suspend,
        Self::ClockStep,
        Self::Kill,
        Self::Drain,
        Self::GoAway,
    ];

    /// Those that were added later, at the end of [`ALL`](Self::ALL): what is drawn of the others does not depend on them.
    pub(crate) const NEWER: [Self; 2] = [Self::Drain, Self::GoAway];

    /// What counts call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => Fault::Refuse.name(),
            Self::Blackhole => Fault::Blackhole.name(),
            Self::Stall => Fault::Stall.name(),
            Self::StallRequests => Fault::StallRequests.name(),
            Self::StallAnswers => Fault::StallAnswers.name(),
            Self::Slow => Fault::Slow(Duration::ZERO).name(),
            Self::SlowAnswers => Fault::SlowAnswers(Duration::ZERO).name(),
            Self::Reset => Fault::Reset.name(),
            Self::HalfOpen => Fault::HalfOpen.name(),
            Self::Crash => Fault::Crash.name(),
            Self::Vanish => Fault::Vanish.name(),
            Self::Hang => Fault::Hang.name(),
            Self::Mute => Fault::Mute.name(),
            Self::AnswerSends => Fault::AnswerSends(ResponseCode::SUCCESS).name(),
            Self::CloseOnRequest => Fault::CloseOnRequest { carried_out: false }.name(),
            Self::CloseAfterRequest => Fault::CloseOnRequest { carried_out: true }.name(),
            Self::Suspend => "suspend",
            Self::ClockStep => "clock-step",
            Self::Kill => "kill",
            Self::Drain => Fault::Drain.name(),
            Self::GoAway => Fault::GoAway.name(),
        }
    }

    /// The fault at a server; `None` for what happens to clients.
    pub(crate) fn draw(self, rng: &mut Rng) -> Option<Fault> {
        let while_ = |rng: &mut Rng, most| rng.duration(&(Duration::from_millis(1)..most));
        Some(match self {
            Self::Refuse => Fault::Refuse,
            Self::Blackhole => Fault::Blackhole,
            Self::Stall => Fault::Stall,
            Self::StallRequests => Fault::StallRequests,
            Self::StallAnswers => Fault::StallAnswers,
            Self::Slow => Fault::Slow(while_(rng, Duration::from_secs(2))),
            Self::SlowAnswers => Fault::SlowAnswers(while_(rng, Duration::from_secs(5))),
            Self::Reset => Fault::Reset,
            Self::HalfOpen => Fault::HalfOpen,
            Self::Crash => Fault::Crash,
            Self::Vanish => Fault::Vanish,
            Self::Hang => Fault::Hang,
            Self::Mute => Fault::Mute,
            Self::AnswerSends => {
                let codes = ANSWERS.map(ResponseCode);
                Fault::AnswerSends(*rng.pick(&codes).unwrap_or(&ResponseCode::SYSTEM_ERROR))
            }
            Self::CloseOnRequest => Fault::CloseOnRequest { carried_out: false },
            Self::CloseAfterRequest => Fault::CloseOnRequest { carried_out: true },
            Self::Drain => Fault::Drain,
            Self::GoAway => Fault::GoAway,
            Self::Suspend | Self::ClockStep | Self::Kill => return None,
        })
    }
}

/// Codes that brokers answer to sends (wire §4.4), and one that nobody knows.
const ANSWERS: [i32; 12] = [1, 2, 10, 11, 12, 13, 14, 16, 17, 204, 215, 9_999];

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The seed of everything.
    pub seed: u64,
    /// The network and the servers.
    pub network: NetworkConfig,
    /// How many clients.
    pub clients: u32,
    /// Topics that exist from the beginning.
    pub topics: u32,
    /// How many operations the clients begin, all together.
    pub operations: u32,
    /// For how long there are faults.
    pub storm: Duration,
    /// For how long there are none afterwards, before the clients shut down.
    pub calm: Duration,
    /// The faults. Empty: there are none.
    pub faults: Vec<FaultRate>,
    /// The clients.
    pub settings: ClientSettings,
}

/// What all clients of a run have in common.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the setting of the same name")]
pub struct ClientSettings {
    pub header_format: HeaderFormat,
    pub close_on_timeout: CloseOnTimeout,
    pub heartbeat_interval: Duration,
    pub route_refresh_interval: Duration,
    pub idle_timeout: Duration,
    pub connect_timeout: Duration,
    pub attempts: NonZeroU32,
    pub attempt_timeout: AttemptTimeout,
    pub send_timeout: Duration,
    pub retry: RetryPolicy,
    /// Most bytes of one read.
    pub read_len: usize,
    pub retry_backoff: Duration,
    pub fault_tolerance: Option<FaultTolerance>,
    /// No seed draws it: the records are more messages than those that the run is about.
    pub trace: Option<Trace>,
    /// Of a thousand sends, how many go to a given queue.
    pub to_queue: u32,
    pub auto_batch: Option<AutoBatch>,
}

impl RunOptions {
    /// The run of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5EED_0F0A_5707_1C00);
        let storm = Duration::from_secs(rng.within(30..90));
        Self {
            seed,
            network: draw_network(&mut rng),
            clients: rng.within(1..4) as u32,
            topics: rng.within(1..4) as u32,
            operations: rng.within(150..450) as u32,
            storm,
            // Longer than any idle connection stays open.
            calm: Duration::from_secs(130),
            faults: draw_faults(&mut rng),
            settings: ClientSettings::draw(&mut rng),
        }
    }

    /// The same run, but for how much one read of a client takes. What happens must be the same, as what a client
    /// does depends on no bounds of pieces.
    #[must_use]
    pub fn in_other_pieces(mut self) -> Self {
        let read_len = &mut self.settings.read_len;
        *read_len = if *read_len < 1_000 { 64 * 1_024 } else { 11 };
        self
    }

    /// Whether faults of a kind may happen.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|rate| rate.kind == kind)
    }
}

fn draw_network(rng: &mut Rng) -> NetworkConfig {
    let cluster = ClusterConfig {
        profile: if rng.chance(500) { Profile::V5_3 } else { Profile::V4_9 },
        brokers: rng.within(1..5) as usize,
        name_servers: rng.within(1..4) as usize,
        auto_create: rng.chance(700),
        ..ClusterConfig::default()
    };
    let latency = Duration::from_micros(rng.within(50..5_000));
    NetworkConfig {
        cluster,
        latency: latency..latency * 4,
        split_per_mille: *rng.pick(&[0, 50, 300, 1_000]).unwrap_or(&0),
        send_buffer: *rng.pick(&[4_096, 16_384, 65_536]).unwrap_or(&65_536),
        ..NetworkConfig::default()
    }
}

/// Each kind is there or not, by itself: runs with few kinds go deep, runs with many go wide. One run in twenty has none.
fn draw_faults(rng: &mut Rng) -> Vec<FaultRate> {
    if rng.chance(50) {
        return Vec::new();
    }
    let share = *rng.pick(&[100, 250, 500]).unwrap_or(&250);
    // The newer kinds have chance of their own: whatever else is drawn does not depend on them.
    let mut newer = rng.clone().fork();
    let mut faults = Vec::new();
    for kind in FaultKind::ALL {
        let rng = if FaultKind::NEWER.contains(&kind) { &mut newer } else { &mut *rng };
        if rng.chance(share) {
            let every = Duration::from_millis(rng.within(2_000..30_000));
            let lasts = Duration::from_millis(rng.within(20..20_000));
            faults.push(FaultRate { kind, every, lasts });
        }
    }
    faults
}

impl ClientSettings {
    fn draw(rng: &mut Rng) -> Self {
        let seconds = |rng: &mut Rng, range| Duration::from_secs(rng.within(range));
        let send_timeout = Duration::from_millis(rng.within(500..6_000));
        Self {
            header_format: if rng.chance(500) { HeaderFormat::Json } else { HeaderFormat::RocketMq },
            close_on_timeout: if rng.chance(700) { CloseOnTimeout::Silent } else { CloseOnTimeout::Java },
            heartbeat_interval: seconds(rng, 5..31),
            route_refresh_interval: seconds(rng, 5..31),
            idle_timeout: seconds(rng, 10..121),
            connect_timeout: Duration::from_millis(rng.within(200..4_000)),
            attempts: NonZeroU32::MIN.saturating_add(rng.within(0..4) as u32),
            attempt_timeout: match rng.below(4) {
                0 => AttemptTimeout::Whole,
                1 => AttemptTimeout::Cap(send_timeout / 3),
                _ => AttemptTimeout::Split,
            },
            send_timeout,
            retry: match rng.below(4) {
                0 => RetryPolicy::local_failures_only(),
                1 => RetryPolicy::default().when_not_stored_ok(true),
                _ => RetryPolicy::default(),
            },
            read_len: *rng.pick(&[7, 100, 4_096, 65_536]).unwrap_or(&4_096),
            retry_backoff: Duration::from_millis(*rng.pick(&[0, 100, 100, 700]).unwrap_or(&100)),
            fault_tolerance: match rng.below(4) {
                0 => Some(FaultTolerance::new()),
                1 => Some(FaultTolerance::new().detector(true)),
                _ => None,
            },
            trace: None,
            to_queue: *rng.pick(&[0, 0, 150]).unwrap_or(&0),
            auto_batch: rng.chance(200).then(|| {
                let delay = Duration::from_millis(rng.within(1..200));
                AutoBatch::new().delay(delay).bytes(rng.within(1..2_000) as usize)
            }),
        }
    }

    pub(crate) fn client(&self, mut builder: ClientConfigBuilder) -> ClientConfig {
        builder = builder
            .header_format(self.header_format)
            .close_on_timeout(self.close_on_timeout)
            .heartbeat_interval(self.heartbeat_interval)
            .route_refresh_interval(self.route_refresh_interval)
            .idle_timeout(self.idle_timeout)
            .connect_timeout(self.connect_timeout)
            // Frames are as long as the bodies drawn.
            .compression(None);
        match builder.build() {
            Ok(config) => config,
            Err(error) => unreachable!("the settings of a run are checked by its tests: {error}"),
        }
    }

    pub(crate) fn producer(&self, group: String) -> ProducerConfig {
        let config = ProducerConfig::new(group)
            .attempts(self.attempts)
            .attempt_timeout(self.attempt_timeout)
            .send_timeout(self.send_timeout)
            .retry(self.retry.clone())
            .retry_backoff(self.retry_backoff);
        let config = match &self.fault_tolerance {
            Some(tolerance) => config.fault_tolerance(tolerance.clone()),
            None => config,
        };
        let config = match self.auto_batch {
            Some(batches) => config.auto_batch(batches),
            None => config,
        };
        match &self.trace {
            Some(trace) => config.trace(trace.clone()),
            None => config,
        }
    }
}
