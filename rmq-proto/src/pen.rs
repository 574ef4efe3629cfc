//! Writing many short pieces into one buffer.

use bytes::BytesMut;

/// Appends to a buffer. The buffer is made longer ahead of what is written, so that a short piece costs a store or two and
/// no call; what is too long is cut off when the pen is dropped.
pub(crate) struct Pen<'a> {
    out: &'a mut BytesMut,
    at: usize,
}

/// How much longer than needed the buffer is made at once.
const AHEAD: usize = 512;

impl Drop for Pen<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.at);
    }
}

impl<'a> Pen<'a> {
    pub(crate) fn new(out: &'a mut BytesMut) -> Self {
        let at = out.len();
        Self { out, at }
    }

    /// How long the buffer is, as far as it is written.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.at
    }

    /// Writes over what was written at `at`.
    #[inline]
    pub(crate) fn overwrite<const N: usize>(&mut self, at: usize, piece: [u8; N]) {
        self.out[at..at + N].copy_from_slice(&piece);
    }

    /// The next `len` bytes, to be written in part or whole.
    #[inline]
    fn room(&mut self, len: usize) -> &mut [u8] {
        if self.out.len() - self.at < len {
            self.grow(len);
        }
        &mut self.out[self.at..self.at + len]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        // Memory that is there is used up before more is asked for.
        let needed = self.at + len;
        let end = (needed + AHEAD).min(self.out.capacity().max(needed));
        self.out.resize(end, 0);
    }

    /// Writes a piece whose length the compiler knows.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, piece: &[u8; N]) {
        self.room(N).copy_from_slice(piece);
        self.at += N;
    }

    /// Writes the first `len` bytes of a piece.
    #[inline]
    pub(crate) fn put_part<const N: usize>(&mut self, piece: &[u8; N], len: usize) {
        self.room(N).copy_from_slice(piece);
        self.at += len.min(N);
    }

    /// Writes a piece in place: `write` gets the next bytes and returns how many of them it wrote, and what else it found.
    #[inline]
    pub(crate) fn put_with<const N: usize, T>(
        &mut self,
        write: impl FnOnce(&mut [u8; N]) -> (usize, T),
    ) -> T {
        let Some(room) = self.room(N).first_chunk_mut() else { unreachable!("there is room for so many") };
        let (len, found) = write(room);
        self.at += len;
        found
    }

    /// Writes the first `len` bytes of a piece, and another piece behind them.
    #[inline]
    pub(crate) fn put_part_and<const N: usize, const M: usize>(
        &mut self,
        piece: &[u8; N],
        len: usize,
        next: &[u8; M],
    ) {
        let room = self.room(N + M);
        room[..N].copy_from_slice(piece);
        room[len..len + M].copy_from_slice(next);
        self.at += len + M;
    }

    /// Writes a piece of any length.
    #[inline]
    pub(crate) fn put_slice(&mut self, piece: &[u8]) {
        copy(self.room(piece.len()), piece);
        self.at += piece.len();
    }

    /// Writes a number in decimal; returns how many characters it has.
    #[inline]
    pub(crate) fn put_integer(&mut self, number: i64) -> usize {
        match u8::try_from(number) {
            Ok(digit @ 0..=9) => {
                self.put(&[b'0' + digit]);
                1
            }
            _ => self.put_long_integer(number),
        }
    }

    #[inline(never)]
    fn put_long_integer(&mut self, number: i64) -> usize {
        let start = self.at;
        if number < 0 {
            self.put(b"-");
        }
        match number.unsigned_abs() {
            number @ ..BLOCK => self.put_first_digits(number),
            number => self.put_blocks(number),
        }
        self.at - start
    }

    /// Writes a number of more than eight digits.
    fn put_blocks(&mut self, number: u64) {
        let (rest, last) = (number / BLOCK, number % BLOCK);
        if rest < BLOCK {
            self.put_first_digits(rest);
        } else {
            self.put_first_digits(rest / BLOCK);
            self.put(&(eight_digits(rest % BLOCK) | ZEROS).to_le_bytes());
        }
        self.put(&(eight_digits(last) | ZEROS).to_le_bytes());
    }

    /// Writes a number of at most eight digits that is not zero.
    #[inline]
    fn put_first_digits(&mut self, number: u64) {
        let digits = eight_digits(number);
        // The zeros in front are the low bytes.
        let cut = digits.trailing_zeros() as usize / 8;
        self.put_part(&((digits | ZEROS) >> (8 * cut)).to_le_bytes(), 8 - cut);
    }
}

/// Digits are made in blocks of eight.
const BLOCK: u64 = 100_000_000;
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// The decimal digits of a number below 10^8 as values of eight bytes, the first one lowest. Each step splits all parts in two.
#[inline]
const fn eight_digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // Division by 100 and by 10 as multiplication: exact for parts below 10,000 and 100.
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007F_0000_007F;
    let pairs = hundreds | (fours - hundreds * 100) << 16;
    let tens = (pairs * 103) >> 10 & 0x000F_000F_000F_000F;
    tens | (pairs - tens * 10) << 8
}

/// Copies a piece that is most likely short, for which a call would cost more than the copying.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let len = from.len();
    match len {
        0 => {}
        1..4 => {
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
        }
        4..8 => copy_ends::<4>(to, from),
        8..=16 => copy_ends::<8>(to, from),
        17..=32 => copy_ends::<16>(to, from),
        _ => to[..len].copy_from_slice(from),
    }
}

/// Copies a piece of N to 2 N bytes as its first and its last N bytes.
#[inline]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    let last = from.len() - N;
    to[..N].copy_from_slice(&from[..N]);
    to[last..last + N].copy_from_slice(&from[last..]);
}
