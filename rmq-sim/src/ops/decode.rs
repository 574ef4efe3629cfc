//! From bytes to a program: a byte names an operation, those behind it its parameters.

use core::time::Duration;

use rmq_core::Resolution;

use super::peer::Reply;
use super::{Op, Ops, Setup, What};

const TIMES: [u64; 12] = [0, 1, 20, 99, 100, 250, 500, 1_000, 1_001, 3_000, 31_000, 121_000];
const HOUR: Duration = Duration::from_secs(3_600);
const BODIES: [usize; 6] = [1, 60, 400, 1_500, 4_097, 70_000];

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> Option<T> {
        Some(choices[usize::from(self.byte()?) % N])
    }

    fn time(&mut self) -> Option<Duration> {
        self.of(TIMES).map(Duration::from_millis)
    }

    fn op(&mut self) -> Option<Op> {
        Some(match self.byte()? % 52 {
            0..=4 => self.send(What::Message)?,
            5..=9 => {
                let what = self.what()?;
                self.send(what)?
            }
            10..=14 => Op::Serve,
            15..=18 => Op::Turn,
            19..=23 => self.answer()?,
            24..=26 => Op::Connected { conn: self.byte()? },
            27..=29 => Op::Written { conn: self.byte()?, quarters: self.byte()? % 6 },
            30 | 31 => Op::Closed { conn: self.byte()?, in_order: self.byte()? % 2 == 0 },
            32 | 33 => Op::Advance { by: self.time()? },
            34 | 35 => Op::ToTimer,
            36 => Op::Cancel { op: self.byte()? },
            37 => Op::Poll { most: self.byte()? % 8 },
            38 => Op::Routes { set: self.byte()? },
            39..=48 => self.exchange()?,
            _ => self.rare()?,
        })
    }

    fn what(&mut self) -> Option<What> {
        let byte = self.byte()?;
        let messages = (byte >> 3) % 6;
        Some(match byte % 8 {
            0 | 1 => What::To(self.byte()?),
            2 => What::Batch { messages, queue: None },
            3 => What::Batch { messages, queue: Some(self.byte()?) },
            4 => What::Half,
            5 | 6 => What::Request,
            _ => What::Reply,
        })
    }

    /// What needs a message or a question of before.
    fn exchange(&mut self) -> Option<Op> {
        let kind = self.byte()?;
        Some(match kind % 14 {
            0..=2 => Op::Push { conn: self.byte()?, request: self.byte()?, choice: self.byte()? },
            3..=6 => Op::Check { conn: self.byte()?, group: self.byte()?, choice: self.byte()? },
            7 | 8 => {
                let resolution = self.resolution()?;
                let resolution = (kind < 200).then_some(resolution);
                Op::AnswerCheck { check: self.byte()?, resolution, remark: self.byte()? }
            }
            9..=11 => Op::EndTransaction {
                producer: self.byte()?,
                half: self.byte()?,
                resolution: self.resolution()?,
                remark: self.byte()?,
            },
            _ => Op::Queues {
                producer: self.byte()?,
                topic: self.byte()? % 8,
                timeout: if kind < 128 { None } else { Some(self.time()?) },
                wait: kind % 14 == 12,
            },
        })
    }

    fn resolution(&mut self) -> Option<Resolution> {
        self.of([Resolution::Commit, Resolution::Rollback, Resolution::Unknown])
    }

    fn send(&mut self, what: What) -> Option<Op> {
        let (producer, choice) = (self.byte()?, self.byte()?);
        let (no_wait, times) = (producer >= 0xe0, [1, 1, 2, 3][usize::from(producer >> 3) % 4]);
        let producer = producer % 8;
        let timeout = match self.byte()? {
            0..=127 => None,
            128 => Some(Duration::MAX),
            byte => Some(Duration::from_millis(TIMES[usize::from(byte) % 10])),
        };
        let body = BODIES[usize::from(choice >> 4) % BODIES.len()];
        let (topic, oneway) = (choice % 8, choice & 8 != 0);
        Some(Op::Send { producer, topic, body, timeout, oneway, no_wait, what, times })
    }

    fn answer(&mut self) -> Option<Op> {
        let (conn, request, how) = (self.byte()?, self.byte()?, self.byte()?);
        Some(Op::Answer { conn, request, reply: Reply::of(how & 0x7f), split: how & 0x80 != 0 })
    }

    fn rare(&mut self) -> Option<Op> {
        let byte = self.byte()?;
        Some(match if byte < 248 { byte % 14 } else { byte } {
            248..=251 => Op::Credentials { some: byte % 2 == 0 },
            252.. => Op::NameServers { list: self.byte()? },
            13.. => Op::Recall { producer: self.byte()?, choice: self.byte()? },
            10.. => Op::SendBack {
                producer: self.byte()?,
                choice: self.byte()?,
                timeout: if self.byte()? % 2 == 0 { None } else { Some(self.time()?) },
                dead: self.byte()? % 4 == 0,
            },
            0..=2 => Op::AddProducer {
                group: self.byte()? % 8,
                timeout: Duration::from_millis(TIMES[usize::from(self.byte()?) % 10]),
                attempts: self.byte()? % 66,
                policy: [self.byte()?, self.byte()?],
            },
            3 => Op::Ask { conn: self.byte()?, times: 1 + self.byte()? % 4, oneway: self.byte()? % 4 == 0 },
            4 => Op::Garbage { conn: self.byte()?, bytes: [self.byte()?, self.byte()?] },
            5 => Op::Back { by: self.of([Duration::from_millis(1), Duration::from_secs(5), HOUR])? },
            6 => Op::Advance { by: HOUR },
            7 => Op::Timeout,
            8 => Op::WallClock { unix_ms: self.of([0, 1_700_000_000_000, 1_600_000_000_000, u64::MAX])? },
            _ => Op::Shutdown { within: self.time()? },
        })
    }
}

pub(super) fn ops(bytes: &[u8]) -> Ops {
    let mut reader = Reader(bytes);
    let mut byte = || reader.byte().unwrap_or_default();
    let setup = Setup { seed: byte(), limits: byte(), times: byte(), servers: byte(), producer: byte() };
    Ops { setup, ops: core::iter::from_fn(|| reader.op()).collect() }
}
