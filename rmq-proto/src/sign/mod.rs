//! Signatures of requests, for brokers with ACL of version 1 or 2 (wire §8).
//!
//! What is signed are the values of all ext fields, in the order of their names, and the body. So a request is signed when
//! it is whole: nothing may be added to it afterwards.

mod content;
mod mac;
mod scope;

use alloc::string::String;
use core::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub use scope::Scope;

use self::content::Content;
use self::mac::{MAC_LEN, Mac, Signing};
use crate::ext::{ExtFields, ExtSink, WriteExt};

/// The ext field that says who signed.
pub const ACCESS_KEY: &str = "AccessKey";

/// The ext field with the token of temporary credentials.
pub const SECURITY_TOKEN: &str = "SecurityToken";

/// The ext field with the signature.
pub const SIGNATURE: &str = "Signature";

/// The ext field of QUERY_MESSAGE that some brokers leave out of what they check (wire §8.2).
pub const UNIQUE_KEY_QUERY: &str = "_UNIQUE_KEY_QUERY";

/// Characters of a signature: base64 makes four of each three bytes.
const TEXT_LEN: usize = MAC_LEN.div_ceil(3) * 4;

/// Bytes of the three fields besides access key and token, with some to spare.
const FIELDS_ROOM: usize =
    ACCESS_KEY.len() + SECURITY_TOKEN.len() + SIGNATURE.len() + TEXT_LEN + 3 * FIELD_ROOM;

/// Bytes between and around a name and a value, in either format.
const FIELD_ROOM: usize = 8;

/// Bytes that base64 may need to read such a text.
const DECODED_LEN: usize = TEXT_LEN / 4 * 3;

/// Who a client is, and the secret that proves it. For ACL 2 the access key is the user's name and the secret key is the
/// password.
///
/// ```
/// use rmq_proto::ext::ExtFields;
/// use rmq_proto::sign::Credentials;
///
/// let credentials = Credentials::new("RocketMQ", "12345678")?;
/// let fields: ExtFields = [("topic", "TopicTest")].into_iter().collect();
/// let signed = credentials.sign(&fields, b"");
/// assert_eq!(signed.signature(), "0jiwhsaYp5ObE5GObbZH1I8/FT4=");
/// # Ok::<(), rmq_proto::sign::CredentialsError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    access_key: String,
    secret_key: String,
    security_token: Option<String>,
    signing: Signing,
}

/// Credentials that no server can know, or that nothing here can sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// There is no access key.
    #[error("the access key is empty: give the one that the brokers know, or no credentials at all")]
    EmptyAccessKey,
    /// There is no secret key.
    #[error("the secret key is empty: give the one that belongs to the access key")]
    EmptySecretKey,
    /// Signing is not built in.
    #[error("this program cannot sign: it was built without the feature `signing`")]
    NotBuiltIn,
}

impl Credentials {
    /// Credentials without a token.
    ///
    /// # Errors
    ///
    /// One of the two is empty, or the feature `signing` is off.
    pub fn new(
        access_key: impl Into<String>,
        secret_key: impl Into<String>,
    ) -> Result<Self, CredentialsError> {
        let (access_key, secret_key) = (access_key.into(), secret_key.into());
        if access_key.is_empty() {
            return Err(CredentialsError::EmptyAccessKey);
        }
        if secret_key.is_empty() {
            return Err(CredentialsError::EmptySecretKey);
        }
        let signing = Signing::built_in().ok_or(CredentialsError::NotBuiltIn)?;
        Ok(Self { access_key, secret_key, security_token: None, signing })
    }

    /// The same credentials with the token that temporary ones come with. Empty text is no token.
    #[must_use]
    pub fn with_security_token(mut self, token: impl Into<String>) -> Self {
        self.security_token = Some(token.into()).filter(|token| !token.is_empty());
        self
    }

    /// The access key, which is public.
    pub fn access_key(&self) -> &str {
        &self.access_key
    }

    /// Most bytes that a signature by these credentials adds to a header, in either format. Each character of a text may
    /// take six in JSON.
    pub fn room(&self) -> usize {
        let token = self.security_token.as_deref().unwrap_or_default();
        FIELDS_ROOM + 6 * (self.access_key.len() + token.len())
    }

    /// Signs a request: what comes out is written in place of `header`. `body` is the body as it is sent.
    ///
    /// Whatever signed the header before is replaced in what is written. To sign a command anew, write it with what comes out;
    /// adding that to the ext fields that are there (`with_ext`) would leave an old token among them.
    pub fn sign<'a, H: WriteExt + ?Sized>(&'a self, header: &'a H, body: &[u8]) -> Signed<'a, H> {
        self.sign_for(Scope::All, header, body)
    }

    /// Signs a request as [`sign`](Self::sign) does, for a server that checks `scope`. All fields are written all the same.
    pub fn sign_for<'a, H: WriteExt + ?Sized>(
        &'a self,
        scope: Scope,
        header: &'a H,
        body: &[u8],
    ) -> Signed<'a, H> {
        let mut content = Content::of(scope);
        self.write_to(header, &mut content);
        let mac = self.mac(content, body).finish();
        let mut text = [0; TEXT_LEN];
        // The text has room for just this.
        let _written = STANDARD.encode_slice(mac, &mut text);
        Signed { header, credentials: self, signature: SignatureText(text) }
    }

    /// Checks the signature of a request that was received, as a server does that checks `scope`. It takes the same time
    /// wherever the signature differs.
    ///
    /// # Errors
    ///
    /// The request is not signed, or not by these credentials. A token is checked like any other field: it must be the one
    /// that was signed.
    pub fn verify(&self, scope: Scope, fields: &ExtFields, body: &[u8]) -> Result<(), VerifyError> {
        match fields.value(ACCESS_KEY) {
            None => return Err(VerifyError::NoAccessKey),
            Some(key) if key != self.access_key => return Err(VerifyError::OtherAccessKey),
            Some(_) => {}
        }
        let signature = fields.value(SIGNATURE).ok_or(VerifyError::NoSignature)?;
        let mut mac = [0; DECODED_LEN];
        // What is no base64, or of another length, is as wrong as any other signature.
        let len = STANDARD.decode_slice(signature.as_bytes(), &mut mac).unwrap_or(0);
        let mut content = Content::of(scope);
        fields.write_ext(&mut content);
        if self.mac(content, body).is(&mac[..len]) { Ok(()) } else { Err(VerifyError::Mismatch) }
    }

    /// Writes a header with these credentials instead of any it has, all but the signature.
    fn write_to<H: WriteExt + ?Sized, S: ExtSink>(&self, header: &H, sink: &mut S) {
        header.write_ext(&mut WithoutCredentials(sink));
        sink.text(ACCESS_KEY, &self.access_key);
        if let Some(token) = &self.security_token {
            sink.text(SECURITY_TOKEN, token);
        }
    }

    fn mac(&self, content: Content, body: &[u8]) -> Mac {
        let mut mac = self.signing.keyed(self.secret_key.as_bytes());
        content.values(|value| mac.update(value.as_bytes()));
        mac.update(body);
        mac
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(<redacted>)")
    }
}

/// Why a request is not by who it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It does not say who signed it.
    #[error("the request has no ext field `AccessKey`: it is not signed")]
    NoAccessKey,
    /// It is signed by someone else.
    #[error("the request has the access key of other credentials")]
    OtherAccessKey,
    /// It says who sent it and does not prove it.
    #[error("the request has no ext field `Signature`")]
    NoSignature,
    /// The secret is another, or the request is not what was signed.
    #[error(
        "the signature is wrong: the secret key is another, or the ext fields or the body are not those signed"
    )]
    Mismatch,
}

/// A header with credentials and a signature, to be written with the body that was signed.
///
/// Nothing may be written beside it. So of two headers the pair is signed: `credentials.sign(&(header, common), body)`.
pub struct Signed<'a, H: ?Sized> {
    header: &'a H,
    credentials: &'a Credentials,
    signature: SignatureText,
}

impl<H: ?Sized> Signed<'_, H> {
    /// The signature, as it is written.
    pub fn signature(&self) -> &str {
        self.signature.as_str()
    }
}

impl<H: WriteExt + ?Sized> WriteExt for Signed<'_, H> {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        self.credentials.write_to(self.header, sink);
        sink.text(SIGNATURE, self.signature());
    }
}

impl<H: fmt::Debug + ?Sized> fmt::Debug for Signed<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed").field("header", &self.header).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
struct SignatureText([u8; TEXT_LEN]);

impl SignatureText {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Passes on all fields but those that a signature brings.
struct WithoutCredentials<'a, S>(&'a mut S);

impl<S> WithoutCredentials<'_, S> {
    fn sink_for(&mut self, name: &str) -> Option<&mut S> {
        (!matches!(name, ACCESS_KEY | SECURITY_TOKEN | SIGNATURE)).then_some(&mut *self.0)
    }
}

impl<S: ExtSink> ExtSink for WithoutCredentials<'_, S> {
    fn text(&mut self, name: &str, value: &str) {
        if let Some(sink) = self.sink_for(name) {
            sink.text(name, value);
        }
    }

    fn integer(&mut self, name: &str, value: i64) {
        if let Some(sink) = self.sink_for(name) {
            sink.integer(name, value);
        }
    }

    fn boolean(&mut self, name: &str, value: bool) {
        if let Some(sink) = self.sink_for(name) {
            sink.boolean(name, value);
        }
    }
}
