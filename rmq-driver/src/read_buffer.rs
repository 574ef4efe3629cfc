//! Where all reads of a loop go first.

use bytes::Bytes;

/// Bytes of the first read: what an answer to a single send needs.
const FIRST_LEN: usize = 8 * 1024;

/// Most bytes of a read.
const MAX_LEN: usize = 64 * 1024;

/// Zeroed once and used for every read. What a read brings is copied out into exactly as many bytes: so an idle connection
/// has no buffer at all, a small answer pins no large one, and no buffer has to be zeroed again.
///
/// It begins small, as a program may have many clients that receive little, and grows as long as reads fill it.
#[derive(Default)]
pub(crate) struct ReadBuffer(Vec<u8>);

impl ReadBuffer {
    /// Where to read to.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.0.is_empty() {
            self.0.resize(FIRST_LEN, 0);
        }
        &mut self.0
    }

    /// What a read brought.
    pub(crate) fn take(&mut self, len: usize) -> Bytes {
        let data = Bytes::copy_from_slice(&self.0[..len.min(self.0.len())]);
        if data.len() == self.0.len() && data.len() < MAX_LEN {
            self.0 = vec![0; 2 * data.len()];
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_what_comes_and_no_further() {
        let mut buffer = ReadBuffer::default();
        let mut read = |len: usize| {
            let space = buffer.space();
            let (room, len) = (space.len(), len.min(space.len()));
            space[..len].fill(b'x');
            assert_eq!(buffer.take(len), vec![b'x'; len]);
            room
        };
        assert_eq!([100, 8_192, 16_383, 16_384].map(&mut read), [8_192, 8_192, 16_384, 16_384]);
        assert_eq!([usize::MAX; 3].map(&mut read), [32_768, 65_536, 65_536]);
        assert_eq!(read(1), 65_536);
    }
}
