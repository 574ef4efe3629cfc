//! What can be wrong before anything is connected.

use std::path::PathBuf;
use std::sync::Arc;

use rmq_driver::{TlsConfig, TlsConfigBuilder, TlsConfigError};

use super::certs::{OURS, STRANGER};

fn ours() -> TlsConfigBuilder {
    TlsConfig::builder().roots_pem(&*OURS.pem)
}

#[test]
fn files_that_do_not_hold_what_they_should_are_named() {
    let missing = PathBuf::from("no/such/file.pem");
    let this = PathBuf::from(file!()).file_name().map(|name| PathBuf::from("tests/tls").join(name)).unwrap();
    let origin: Arc<str> = this.display().to_string().into();
    let leaf = OURS.leaf(&["client"]);

    let error = TlsConfig::builder().roots_file(&missing).build().unwrap_err();
    let TlsConfigError::Read { file, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*file, missing);
    assert!(error.to_string().starts_with("TLS: cannot read no/such/file.pem: "), "{error}");

    let error = TlsConfig::builder().roots_file(&this).build().unwrap_err();
    assert_eq!(error, TlsConfigError::NoCertificate { origin: Arc::clone(&origin) });
    let error = ours().client_certificate_files(&this, &this).build().unwrap_err();
    assert_eq!(error, TlsConfigError::NoCertificate { origin });

    let error = ours().client_certificate_pem(&*leaf.pem, &*leaf.pem).build().unwrap_err();
    assert_eq!(error, TlsConfigError::NoKey { origin: "the bytes given".into() });
    let locked = leaf.key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    let error = ours().client_certificate_pem(&*leaf.pem, locked).build().unwrap_err();
    assert!(matches!(error, TlsConfigError::NoKey { .. }), "{error:?}");
    assert!(error.to_string().contains("decrypted"), "{error}");
}

#[test]
fn what_cannot_be_used_is_told() {
    let leaf = OURS.leaf(&["client"]);
    let wrap =
        |what: &str, content: &str| format!("-----BEGIN {what}-----\n{content}\n-----END {what}-----\n");

    for broken in [wrap("CERTIFICATE", "AAAA"), wrap("CERTIFICATE", "!")] {
        let error = TlsConfig::builder().roots_pem(broken).build().unwrap_err();
        assert!(matches!(error, TlsConfigError::Certificate { .. }), "{error:?}");
    }
    for broken in [wrap("PRIVATE KEY", "AAAA"), wrap("PRIVATE KEY", "!")] {
        let error = ours().client_certificate_pem(&*leaf.pem, broken).build().unwrap_err();
        assert!(matches!(error, TlsConfigError::Key { .. }), "{error:?}");
    }
    let other = STRANGER.leaf(&["client"]);
    let error = ours().client_certificate_pem(&*leaf.pem, &*other.key).build().unwrap_err();
    assert!(matches!(error, TlsConfigError::KeyMismatch { .. }), "{error:?}");
    let error = ours().server_name("not a name").build().unwrap_err();
    assert_eq!(error, TlsConfigError::ServerName { name: "not a name".into() });
}

#[test]
fn keys_are_never_shown() {
    let leaf = OURS.leaf(&["client"]);
    let builder = ours().client_certificate_pem(&*leaf.pem, &*leaf.key);
    let shown = format!("{builder:?}");
    let shown = shown + &format!("{:?}", builder.build().unwrap());
    let secret = leaf.key.lines().nth(1).unwrap();
    assert!(!shown.contains(secret) && !shown.contains(&format!("{:?}", secret.as_bytes())), "{shown}");
}

#[test]
fn without_roots_those_of_the_system_are_taken() {
    // A machine may have none.
    match TlsConfig::builder().build() {
        Ok(_) => {}
        Err(error) => assert!(matches!(error, TlsConfigError::NoSystemRoots { .. }), "{error:?}"),
    }
}
