//! HMAC with SHA-1, RFC 2104.

use sha1::{Digest, Sha1};

/// Bytes of a code.
pub(super) const LEN: usize = 20;

/// Bytes that the hash takes at a time.
const BLOCK_LEN: usize = 64;

/// The code of a text that is given bit by bit.
pub(super) struct Mac {
    inner: Sha1,
    outer: Sha1,
}

impl Mac {
    /// A key is made as long as a block of the hash: zeros behind a short one, the hash of a long one.
    pub(super) fn new(secret: &[u8]) -> Self {
        let mut key = [0; BLOCK_LEN];
        match key.get_mut(..secret.len()) {
            Some(start) => start.copy_from_slice(secret),
            None => key[..LEN].copy_from_slice(&Sha1::digest(secret)),
        }
        let begun_with = |pad: u8| Sha1::new_with_prefix(key.map(|byte| byte ^ pad));
        Self { inner: begun_with(0x36), outer: begun_with(0x5C) }
    }

    pub(super) fn update(&mut self, text: &[u8]) {
        self.inner.update(text);
    }

    pub(super) fn finish(mut self) -> [u8; LEN] {
        self.outer.update(self.inner.finalize());
        self.outer.finalize().into()
    }

    /// Whether this is the code, in the same time wherever it differs.
    pub(super) fn is(self, code: &[u8]) -> bool {
        let right = self.finish();
        let difference = right.iter().zip(code).fold(0, |difference, (a, b)| difference | (a ^ b));
        code.len() == LEN && core::hint::black_box(difference) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of RFC 2202.
    #[test]
    fn vectors() {
        let rows: [(&[u8], &[u8], &str); 7] = [
            (&[0x0B; 20], b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
            (b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (&[0xAA; 20], &[0xDD; 50], "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
            (
                &core::array::from_fn::<u8, 25, _>(|i| i as u8 + 1),
                &[0xCD; 50],
                "4c9007f4026250c6bc8414f9bf50c86c2d7235da",
            ),
            (&[0x0C; 20], b"Test With Truncation", "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
            (
                &[0xAA; 80],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112",
            ),
            (
                &[0xAA; 80],
                b"Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91",
            ),
        ];
        for (key, text, code) in rows {
            let mac = || {
                let (start, end) = text.split_at(text.len() / 2);
                let mut mac = Mac::new(key);
                mac.update(start);
                mac.update(end);
                mac
            };
            let found = mac().finish();
            assert_eq!(found.map(|byte| alloc::format!("{byte:02x}")).concat(), code);
            assert!(mac().is(&found));
            assert!(
                !mac().is(&found[..LEN - 1]) && !mac().is(&[]) && !mac().is(&[&found[..], &[0]].concat())
            );
            for place in 0..LEN {
                let mut other = found;
                other[place] ^= 1;
                assert!(!mac().is(&other), "byte {place}");
            }
        }
    }
}
