//! Bytes that come in pieces, cut into frames and told.

use std::fmt::Display;
use std::io;

use bytes::Bytes;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::{Frame, FrameDecoder};

use super::{BAD_FRAME, Console, FINE, json, text};

/// Size of the length word.
const WORD: usize = 4;

pub(super) struct FrameStream {
    json: bool,
    decoder: FrameDecoder,
    /// Where the next frame begins, in bytes from the start.
    offset: u64,
    /// The first bytes of the frame that is not whole yet: of its length word.
    length_word: Vec<u8>,
    status: u8,
}

/// One frame that could be cut out.
pub(super) struct Cut {
    /// Where it begins, in bytes from the start.
    pub(super) offset: u64,
    pub(super) frame: Frame,
}

impl Cut {
    /// Bytes of the frame, its two words included.
    pub(super) fn len(&self) -> usize {
        2 * WORD + self.frame.header.len() + self.frame.body.len()
    }
}

impl FrameStream {
    pub(super) fn new(json: bool) -> Self {
        let decoder = FrameDecoder::default();
        Self { json, decoder, offset: 0, length_word: Vec::new(), status: FINE }
    }

    /// Prints the frames that end in this piece. `false` if nothing more can be read.
    pub(super) fn feed(&mut self, piece: Bytes, console: &mut Console<'_>) -> io::Result<bool> {
        let mut rest = piece.clone();
        loop {
            match self.decoder.decode(&mut rest) {
                Ok(Some(frame)) => self.tell(frame, console)?,
                Ok(None) => break,
                Err(error) => {
                    self.complain("bad frame", error, console)?;
                    return Ok(false);
                }
            }
        }
        self.remember(&piece);
        // Who follows a connection sees a frame when it comes.
        console.out.flush()?;
        Ok(true)
    }

    /// Ends the stream. Returns the exit status.
    pub(super) fn finish(mut self, console: &mut Console<'_>) -> io::Result<u8> {
        let there = self.decoder.buffered();
        if there > 0 {
            let length = self.length_word.first_chunk().map(|word| u32::from_be_bytes(*word));
            let whole = length.map_or_else(
                || format!("at least {}", 2 * WORD),
                |length| (u64::from(length) + WORD as u64).to_string(),
            );
            self.complain("incomplete frame", format_args!("{there} of {whole} bytes"), console)?;
        }
        Ok(self.status)
    }

    fn tell(&mut self, frame: Frame, console: &mut Console<'_>) -> io::Result<()> {
        let cut = Cut { offset: self.offset, frame };
        match RemotingCommand::decode(cut.frame.clone()) {
            Ok(command) if self.json => json::write(&command, console.out)?,
            Ok(command) => text::write(&cut, &command, console.out)?,
            // Where the next frame begins is known all the same.
            Err(error) => self.complain("bad header in the frame", error, console)?,
        }
        self.offset += cut.len() as u64;
        Ok(())
    }

    /// Says what is wrong with the frame that comes next.
    fn complain(&mut self, what: &str, why: impl Display, console: &mut Console<'_>) -> io::Result<()> {
        self.status = BAD_FRAME;
        console.complain(format_args!("{what} at offset {}: {why}", self.offset))
    }

    /// Keeps the length word of the frame that is not whole, of which the end of `piece` is the end.
    fn remember(&mut self, piece: &Bytes) {
        let there = self.decoder.buffered();
        if there <= piece.len() {
            self.length_word.clear();
        }
        let new = &piece[piece.len().saturating_sub(there)..];
        let missing = WORD - self.length_word.len();
        self.length_word.extend_from_slice(&new[..missing.min(new.len())]);
    }
}
