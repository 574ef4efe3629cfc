//! The formats, and what becomes of those that were left out.

use rmq_proto::compress::{CompressError, Compression, DecompressError, compress, decompress};

#[test]
fn bits_of_a_system_flag() {
    use Compression::{Lz4, Zlib, Zstd};
    let rows = [(0, Some(Zlib)), (1, Some(Lz4)), (2, Some(Zstd)), (3, Some(Zlib))];
    for (bits, kind) in rows {
        assert_eq!(Compression::from_bits(bits), kind, "{bits}");
    }
    for bits in 4..=u8::MAX {
        assert_eq!(Compression::from_bits(bits), None, "{bits}");
    }
    assert_eq!([Zlib, Lz4, Zstd].map(Compression::bits), [3, 1, 2]);
    for kind in Compression::ALL {
        assert_eq!(Compression::from_bits(kind.bits()), Some(kind));
    }
}

#[test]
fn names() {
    assert_eq!(Compression::ALL.map(|kind| kind.to_string()), ["zlib", "LZ4", "zstd"]);
    assert_eq!(Compression::ALL.map(Compression::feature), ["zlib", "lz4", "zstd"]);
}

#[test]
fn a_format_left_out_is_an_error_that_names_its_feature() {
    let enabled = [cfg!(feature = "zlib"), cfg!(feature = "lz4"), cfg!(feature = "zstd")];
    for (kind, enabled) in Compression::ALL.into_iter().zip(enabled) {
        assert_eq!(kind.is_enabled(), enabled);
        let (written, read) = (compress(kind, 5, b"plain"), decompress(kind, b"", 100));
        if enabled {
            assert!(written.is_ok());
            assert_eq!(read, Err(DecompressError::Truncated { kind, len: 0 }));
        } else {
            assert_eq!(written, Err(CompressError::Disabled { kind }));
            assert_eq!(read, Err(DecompressError::Disabled { kind }));
            let feature = format!("`{}`", kind.feature());
            assert!(CompressError::Disabled { kind }.to_string().contains(&feature));
            assert!(DecompressError::Disabled { kind }.to_string().contains(&feature));
        }
    }
}
