//! What the codes of sequences stand for, and how they are written (RFC 8878, 3.1.1.3.2.1).

use super::fse::Table;
use crate::compress::error::Flaw;

/// A code's lowest value, and how many bits are added to it.
pub(super) type Code = (u32, u8);

#[rustfmt::skip]
pub(super) const LITERAL_LENGTHS: [Code; 36] = [
    (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0),
    (14, 0), (15, 0), (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6), (128, 7),
    (256, 8), (512, 9), (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14), (32768, 15), (65536, 16),
];

#[rustfmt::skip]
pub(super) const MATCH_LENGTHS: [Code; 53] = [
    (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0), (16, 0),
    (17, 0), (18, 0), (19, 0), (20, 0), (21, 0), (22, 0), (23, 0), (24, 0), (25, 0), (26, 0), (27, 0), (28, 0), (29, 0),
    (30, 0), (31, 0), (32, 0), (33, 0), (34, 0), (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3),
    (67, 4), (83, 4), (99, 5), (131, 7), (259, 8), (515, 9), (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14),
    (32771, 15), (65539, 16),
];

/// How the codes of one kind are written, and how probable they are unless a block says otherwise.
pub(super) struct Kind {
    max_log: u32,
    max_symbol: u8,
    default_log: u32,
    default: &'static [i16],
}

#[rustfmt::skip]
pub(super) const LITERAL_LENGTH: Kind = Kind {
    max_log: 9,
    max_symbol: 35,
    default_log: 6,
    default: &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
    ],
};

#[rustfmt::skip]
pub(super) const OFFSET: Kind = Kind {
    max_log: 8,
    max_symbol: 31,
    default_log: 5,
    default: &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
};

#[rustfmt::skip]
pub(super) const MATCH_LENGTH: Kind = Kind {
    max_log: 9,
    max_symbol: 52,
    default_log: 6,
    default: &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
};

impl Kind {
    /// Reads a table into its place. Returns how many bytes it takes.
    pub(super) fn read(&self, mode: u8, bytes: &[u8], table: &mut Option<Table>) -> Result<usize, Flaw> {
        let (read, len) = match mode {
            0 => (Table::of(self.default_log, self.default), 0),
            1 => match bytes.first() {
                Some(&symbol) if symbol <= self.max_symbol => (Table::of_one(symbol), 1),
                _ => return Err(Flaw::Rule("the only code of sequences does not exist")),
            },
            2 => Table::read(bytes, self.max_log, self.max_symbol)?,
            _ if table.is_some() => return Ok(0),
            _ => return Err(Flaw::Rule("sequences use codes of a block before, and there is none")),
        };
        *table = Some(read);
        Ok(len)
    }
}
