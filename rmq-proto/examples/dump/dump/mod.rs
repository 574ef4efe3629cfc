//! From the command line to exit status, with nothing of the process in between, so that a test can do it too.

mod hex;
mod json;
mod options;
mod records;
mod stream;
mod text;

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};

use bytes::Bytes;

use hex::HexDecoder;
use options::{Options, Source, USAGE};
use stream::FrameStream;

/// Each frame was whole and could be read.
pub(crate) const FINE: u8 = 0;
/// A frame is bad or incomplete.
pub(crate) const BAD_FRAME: u8 = 1;
/// The hex or the command line is bad, or the input cannot be read.
pub(crate) const BAD_INPUT: u8 = 2;

/// How much is read at once. Besides this, what is in memory is one frame and what is printed of it.
const CHUNK: usize = 64 * 1024;

/// Prints the frames that `arguments` give or name. Returns the exit status; an error is one of `out` or `errors`.
pub(crate) fn run(
    arguments: impl IntoIterator<Item = OsString>,
    stdin: &mut dyn Read,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> io::Result<u8> {
    let mut console = Console { out, errors };
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(error) => return console.bad_input(format_args!("{error}\n\n{USAGE}")),
    };
    if options.help {
        console.out.write_all(USAGE.as_bytes())?;
        return Ok(FINE);
    }
    let hex = (!options.raw).then(HexDecoder::default);
    let frames = FrameStream::new(options.json);
    match options.source {
        Source::Stdin => dump(stdin, hex, frames, &mut console),
        Source::Text(text) => dump(&mut text.as_slice(), hex, frames, &mut console),
        Source::File(path) => match File::open(&path) {
            Ok(mut file) => dump(&mut file, hex, frames, &mut console),
            Err(error) => console.bad_input(format_args!("{}: {error}", path.display())),
        },
    }
}

/// Reads to the end, or to what cannot be read.
fn dump(
    input: &mut dyn Read,
    mut hex: Option<HexDecoder>,
    mut frames: FrameStream,
    console: &mut Console<'_>,
) -> io::Result<u8> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(len) => &chunk[..len],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return console.bad_input(format_args!("reading failed: {error}")),
        };
        let mut bytes = Vec::new();
        let decoded = match &mut hex {
            Some(hex) => hex.decode(read, &mut bytes),
            None => {
                bytes.extend_from_slice(read);
                Ok(())
            }
        };
        if !frames.feed(Bytes::from(bytes), console)? {
            return Ok(BAD_FRAME);
        }
        if let Err(error) = decoded {
            return console.bad_input(error);
        }
    }
    if let Some(Err(error)) = hex.map(HexDecoder::finish) {
        return console.bad_input(error);
    }
    frames.finish(console)
}

/// Where what is found goes.
struct Console<'a> {
    out: &'a mut dyn Write,
    errors: &'a mut dyn Write,
}

impl Console<'_> {
    /// Says what is wrong, after all that came before it.
    fn complain(&mut self, error: impl Display) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.errors, "{error}")
    }

    fn bad_input(&mut self, error: impl Display) -> io::Result<u8> {
        self.complain(error)?;
        Ok(BAD_INPUT)
    }
}
