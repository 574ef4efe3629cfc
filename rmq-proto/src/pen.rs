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
        if number < 0 {
            self.put(b"-");
        }
        let mut rest = number.unsigned_abs();
        let len = rest.checked_ilog10().map_or(1, |log| log as usize + 1);
        // Each digit goes to its place at once: to copy what was just written in smaller pieces is slow.
        let digits = self.room(len);
        let mut end = len;
        while rest >= 100 {
            digits[end - 2..end].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
            end -= 2;
        }
        let [tens, ones] = PAIRS[rest as usize];
        digits[end - 1] = ones;
        if end == 2 {
            digits[0] = tens;
        }
        self.at += len;
        len + usize::from(number < 0)
    }
}

/// The numbers below 100, two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

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
