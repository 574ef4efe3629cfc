//! From bytes to a program: a byte names an operation, those behind it its parameters.

use core::time::Duration;

use super::peer::Reply;
use super::{Op, Ops, Setup};

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
        Some(match self.byte()? % 40 {
            0..=6 => self.send()?,
            7..=11 => Op::Serve,
            12..=16 => Op::Turn,
            17..=21 => self.answer()?,
            22..=24 => Op::Connected { conn: self.byte()? },
            25..=27 => Op::Written { conn: self.byte()?, quarters: self.byte()? % 6 },
            28 | 29 => Op::Closed { conn: self.byte()?, in_order: self.byte()? % 2 == 0 },
            30 | 31 => Op::Advance { by: self.time()? },
            32 | 33 => Op::ToTimer,
            34 => Op::Cancel { op: self.byte()? },
            35 => Op::Poll { most: self.byte()? % 8 },
            36 => Op::Routes { set: self.byte()? },
            _ => self.rare()?,
        })
    }

    fn send(&mut self) -> Option<Op> {
        let (producer, choice) = (self.byte()?, self.byte()?);
        let timeout = match self.byte()? {
            0..=127 => None,
            128 => Some(Duration::MAX),
            byte => Some(Duration::from_millis(TIMES[usize::from(byte) % 10])),
        };
        let body = BODIES[usize::from(choice >> 4) % BODIES.len()];
        Some(Op::Send { producer, topic: choice % 8, body, timeout, oneway: choice & 8 != 0 })
    }

    fn answer(&mut self) -> Option<Op> {
        let (conn, request, how) = (self.byte()?, self.byte()?, self.byte()?);
        Some(Op::Answer { conn, request, reply: Reply::of(how & 0x7f), split: how & 0x80 != 0 })
    }

    fn rare(&mut self) -> Option<Op> {
        let byte = self.byte()?;
        Some(match if byte < 252 { byte % 14 } else { byte } {
            252.. => Op::NameServers { list: self.byte()? },
            13.. => Op::Recall { producer: self.byte()?, choice: self.byte()? },
            10.. => Op::SendBack {
                producer: self.byte()?,
                choice: self.byte()?,
                timeout: if self.byte()? % 2 == 0 { None } else { Some(self.time()?) },
                dead: self.byte()? % 4 == 0,
            },
            0 | 1 => Op::AddProducer {
                group: self.byte()? % 8,
                timeout: Duration::from_millis(TIMES[usize::from(self.byte()?) % 10]),
                attempts: self.byte()? % 66,
                policy: self.byte()?,
            },
            2 | 3 => {
                Op::Ask { conn: self.byte()?, times: 1 + self.byte()? % 4, oneway: self.byte()? % 4 == 0 }
            }
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
    let setup = Setup { seed: byte(), limits: byte(), times: byte(), servers: byte() };
    Ops { setup, ops: core::iter::from_fn(|| reader.op()).collect() }
}
