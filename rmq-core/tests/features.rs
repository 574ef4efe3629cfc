//! Formats of compression and signatures, which a build may leave out. Worth running with any features, none among them.

use rmq_core::proto::compress::Compression;
use rmq_core::proto::message::Message;
use rmq_core::proto::sign::{Credentials, CredentialsError};
use rmq_core::{ClientConfig, ConfigError};

#[test]
fn a_format_that_is_left_out_cannot_be_configured() {
    for kind in Compression::ALL {
        let error = ClientConfig::builder().compression(kind).build().err();
        let expected = (!kind.is_enabled()).then_some(ConfigError::CompressionDisabled { kind });
        assert_eq!(error, expected);
    }
    let error = ConfigError::CompressionDisabled { kind: Compression::Lz4 };
    assert_eq!(
        error.to_string(),
        "bodies cannot be compressed with LZ4: the cargo feature `lz4` is off in this build"
    );
}

#[test]
fn without_zlib_bodies_go_out_as_they_are() {
    let config = ClientConfig::builder().build().expect("the defaults work in any build");
    let message =
        Message::new("orders", vec![b'x'; 5_000]).prepare(config.message_rules()).expect("it is good");
    assert_eq!(message.sys_flag() != 0, Compression::Zlib.is_enabled());
    assert_eq!(message.body().len() < 5_000, Compression::Zlib.is_enabled());
}

#[test]
fn without_signing_there_are_no_credentials() {
    let made = Credentials::new("key", "secret");
    if cfg!(feature = "signing") {
        assert_eq!(made.map(|made| made.access_key().to_owned()), Ok("key".into()));
    } else {
        assert_eq!(made.err(), Some(CredentialsError::NotBuiltIn));
    }
    assert!(CredentialsError::NotBuiltIn.to_string().contains("`signing`"));
}
