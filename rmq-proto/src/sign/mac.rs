//! The keyed hash of a signature: HMAC of SHA-1, where it is built in.

#[cfg(feature = "signing")]
pub(super) use on::{Mac, Signing};

#[cfg(not(feature = "signing"))]
pub(super) use off::{Mac, Signing};

/// Bytes of a signature.
pub(super) const MAC_LEN: usize = 20;

#[cfg(feature = "signing")]
mod on {
    use hmac::digest::common::Key;
    use hmac::{Hmac, KeyInit, Mac as _};
    use sha1::{Digest, Sha1};

    use super::MAC_LEN;

    /// That there is a keyed hash.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(in crate::sign) struct Signing;

    pub(in crate::sign) struct Mac(Hmac<Sha1>);

    impl Signing {
        pub(in crate::sign) const fn built_in() -> Option<Self> {
            Some(Self)
        }

        /// The start of a signature. The key is made as long as a block of the hash, as HMAC has it: zeros behind a short
        /// one, the hash of a long one.
        pub(in crate::sign) fn keyed(self, secret: &[u8]) -> Mac {
            let mut key = Key::<Hmac<Sha1>>::default();
            match key.get_mut(..secret.len()) {
                Some(start) => start.copy_from_slice(secret),
                None => key[..MAC_LEN].copy_from_slice(&Sha1::digest(secret)),
            }
            Mac(Hmac::new(&key))
        }
    }

    impl Mac {
        pub(in crate::sign) fn update(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        pub(in crate::sign) fn finish(self) -> [u8; MAC_LEN] {
            self.0.finalize().into_bytes().into()
        }

        /// Takes the same time wherever they differ.
        pub(in crate::sign) fn is(self, signature: &[u8]) -> bool {
            self.0.verify_slice(signature).is_ok()
        }
    }
}

/// Nobody has credentials here, so nothing is ever signed.
#[cfg(not(feature = "signing"))]
mod off {
    use super::MAC_LEN;

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(in crate::sign) enum Signing {}

    /// Never made.
    pub(in crate::sign) struct Mac;

    impl Signing {
        pub(in crate::sign) const fn built_in() -> Option<Self> {
            None
        }

        pub(in crate::sign) const fn keyed(self, _: &[u8]) -> Mac {
            match self {}
        }
    }

    impl Mac {
        #[expect(clippy::needless_pass_by_ref_mut, reason = "as the one that signs")]
        pub(in crate::sign) const fn update(&mut self, _: &[u8]) {}

        pub(in crate::sign) const fn finish(self) -> [u8; MAC_LEN] {
            [0; MAC_LEN]
        }

        pub(in crate::sign) const fn is(self, _: &[u8]) -> bool {
            false
        }
    }
}
