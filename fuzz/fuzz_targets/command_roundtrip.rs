//! Any command, written and read in both formats.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use rmq_proto::command::{EncodeError, HeaderFormat, Language, RemotingCommand};
use rmq_proto::ext::ExtFields;
use rmq_proto::frame::FrameDecoder;

#[derive(Arbitrary, Debug)]
struct Input {
    code: i32,
    narrow_code: Option<i16>,
    language: Option<u8>,
    version: i32,
    narrow_version: Option<i16>,
    opaque: i32,
    flag: i32,
    remark: Option<String>,
    ext: Option<Vec<(String, String)>>,
    body: Vec<u8>,
}

impl Input {
    fn command(self) -> RemotingCommand {
        RemotingCommand {
            code: self.narrow_code.map_or(self.code, i32::from),
            language: self.language.map(Language).filter(|language| language.name().is_some()),
            version: self.narrow_version.map_or(self.version, i32::from),
            opaque: self.opaque,
            flag: self.flag,
            remark: self.remark,
            ext: self.ext.map_or_else(ExtFields::absent, ExtFields::from_iter),
            body: self.body.into(),
        }
    }
}

fuzz_target!(|input: Input| {
    let mut command = input.command();
    let Ok((format, json)) = round_trip(&command, HeaderFormat::Json) else {
        panic!("JSON takes any command of this size");
    };
    assert_eq!(format, HeaderFormat::Json);
    assert_eq!(json, command);
    assert_eq!(json.ext.is_absent(), command.ext.is_absent());

    let is_narrow = [command.code, command.version].iter().all(|number| i16::try_from(*number).is_ok());
    match round_trip(&command, HeaderFormat::RocketMq) {
        Ok((format, binary)) => {
            assert_eq!(format == HeaderFormat::RocketMq, is_narrow);
            // The binary format cannot tell an empty remark from none.
            command.remark.take_if(|remark| remark.is_empty() && is_narrow);
            assert_eq!(binary, command);
        }
        Err(error) => {
            assert!(matches!(error, EncodeError::NameTooLong { .. }) && is_narrow, "{error}");
        }
    }
});

/// The command as it is read back, and the format that it was written in.
fn round_trip(
    command: &RemotingCommand,
    format: HeaderFormat,
) -> Result<(HeaderFormat, RemotingCommand), EncodeError> {
    let mut out = BytesMut::new();
    command.encode(format, &mut out)?;
    let mut bytes = out.freeze();
    let frame = FrameDecoder::new(usize::MAX).decode(&mut bytes).expect("our own frame");
    assert!(bytes.is_empty());
    let frame = frame.expect("a whole frame");
    Ok((frame.format, RemotingCommand::decode(frame).expect("our own header")))
}
