use alloc::vec::Vec;

use super::DecompressError;

/// How much memory the output may take.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Longest output.
    pub(super) max: usize,
    /// Whether all of it is taken at once.
    pub(super) whole: bool,
}

/// What was decompressed so far, never over its limit.
///
/// Its room is the limit halved so often that it still fits, so the room doubles when it grows, ends at the limit exactly,
/// and the place it moves from is at most half as large as the place it moves to.
pub(super) struct Output {
    bytes: Vec<u8>,
    max: usize,
    /// Room that is taken at the least.
    least: usize,
}

impl Output {
    /// Of what is decompressed from `input_len` bytes.
    pub(super) fn new(room: Room, input_len: usize) -> Self {
        let least = if room.whole { room.max } else { input_len.saturating_mul(2).min(room.max) };
        Self { bytes: Vec::new(), max: room.max, least }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// How many bytes more there may be.
    pub(super) fn left(&self) -> usize {
        self.max - self.bytes.len()
    }

    pub(super) fn since(&self, start: usize) -> &[u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    pub(super) fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn too_long(&self) -> DecompressError {
        DecompressError::TooLong { max: self.max }
    }

    /// Makes room for so many bytes more. Returns how much room there is.
    pub(super) fn reserve(&mut self, more: usize) -> Result<usize, DecompressError> {
        if more > self.left() {
            return Err(self.too_long());
        }
        let len = self.bytes.len();
        if len + more > self.bytes.capacity() {
            let needed = self.least.max(len + more);
            let mut room = self.max;
            while room / 2 >= needed {
                room /= 2;
            }
            self.bytes
                .try_reserve_exact(room - len)
                .map_err(|_| DecompressError::OutOfMemory { len: room })?;
        }
        Ok(self.bytes.capacity().min(self.max) - len)
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) -> Result<(), DecompressError> {
        self.reserve(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn fill(&mut self, byte: u8, count: usize) -> Result<(), DecompressError> {
        self.reserve(count)?;
        self.bytes.resize(self.bytes.len() + count, byte);
        Ok(())
    }

    /// Repeats `len` bytes from `distance` bytes before the end, the repeated ones included when `len` is more than that.
    /// A distance of 0, or to before the first byte, repeats nothing and is `false`.
    pub(super) fn repeat(&mut self, distance: usize, len: usize) -> Result<bool, DecompressError> {
        let Some(start) = self.bytes.len().checked_sub(distance).filter(|_| distance > 0) else {
            return Ok(false);
        };
        self.reserve(len)?;
        let mut missing = len;
        while missing > 0 {
            let chunk = missing.min(self.bytes.len() - start);
            self.bytes.extend_from_within(start..start + chunk);
            missing -= chunk;
        }
        Ok(true)
    }

    /// Lets `write` put up to `room` bytes behind those that are there. It gets them all, and where the room begins, and
    /// returns how many it has put there.
    pub(super) fn write_with<T>(
        &mut self,
        room: usize,
        write: impl FnOnce(&mut [u8], usize) -> (usize, T),
    ) -> Result<T, DecompressError> {
        self.reserve(room)?;
        let start = self.bytes.len();
        self.bytes.resize(start + room, 0);
        let (written, result) = write(&mut self.bytes, start);
        self.bytes.truncate(start + written);
        Ok(result)
    }
}
