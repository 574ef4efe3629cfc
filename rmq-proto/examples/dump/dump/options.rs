//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use thiserror::Error;

pub(super) const USAGE: &str = "\
Says what frames of RocketMQ's remoting protocol say.

usage: dump [--json] [HEX...]
       dump [--json] --raw [FILE]

HEX is one frame or several, one behind the other as on a connection. Blanks, line ends, `:`, `,` and `0x` may stand
between bytes; several arguments are taken as one text with blanks between them. With `-` or no HEX, the hex is read from
standard input.

  --json  one line of JSON for each frame: code, code_name, language, version, opaque, flag, remark, ext, body
  --raw   the frames are the bytes of FILE (`-` or none: of standard input), not hex
  --help  this text

exit status: 0 if all frames could be read; 1 if one is bad or incomplete; 2 if the hex or the command line is bad
";

#[derive(Debug, Error)]
pub(super) enum UsageError {
    #[error("unknown option `{}`", .0.display())]
    Unknown(OsString),
    #[error("--raw takes one file")]
    ManyFiles,
}

#[derive(Debug)]
pub(super) enum Source {
    Stdin,
    Text(Vec<u8>),
    File(PathBuf),
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) json: bool,
    pub(super) raw: bool,
    pub(super) help: bool,
    pub(super) source: Source,
}

impl Options {
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut options = Self { json: false, raw: false, help: false, source: Source::Stdin };
        let mut operands = Vec::new();
        for argument in arguments {
            match argument.as_encoded_bytes() {
                b"--json" => options.json = true,
                b"--raw" => options.raw = true,
                b"--help" | b"-h" => options.help = true,
                [b'-', _, ..] => return Err(UsageError::Unknown(argument)),
                _ => operands.push(argument),
            }
        }
        if options.raw && operands.len() > 1 {
            return Err(UsageError::ManyFiles);
        }
        options.source = match operands.as_slice() {
            [] => Source::Stdin,
            [operand] if operand == "-" => Source::Stdin,
            [file] if options.raw => Source::File(file.into()),
            texts => {
                let texts: Vec<_> = texts.iter().map(|text| text.as_encoded_bytes()).collect();
                Source::Text(texts.join(&b' '))
            }
        };
        Ok(options)
    }
}
