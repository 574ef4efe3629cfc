//! The bits of wire §6.3.

use rmq_proto::message::{SysFlag, TransactionType};

#[test]
fn bits_and_what_they_mean() {
    use TransactionType::{Commit, None, Prepared, Rollback};
    // Flag; compressed, inner batch, transaction, compression.
    let rows = [
        (0x000, false, false, None, 0),
        (0x001, true, false, None, 0),
        (0x004, false, false, Prepared, 0),
        (0x008, false, false, Commit, 0),
        (0x00C, false, false, Rollback, 0),
        (0x040, false, false, None, 0),
        (0x080, false, false, None, 0),
        (0x0C0, false, true, None, 0),
        (0x100, false, false, None, 1),
        (0x201, true, false, None, 2),
        (0x301, true, false, None, 3),
        (0x700, false, false, None, 7),
        (0x800, false, false, None, 0),
        (-1, true, true, Rollback, 7),
        (i32::MIN, false, false, None, 0),
    ];
    for (bits, compressed, inner_batch, transaction, compression) in rows {
        let flag = SysFlag::from(bits);
        assert_eq!(flag.is_compressed(), compressed, "{bits:#x}");
        assert_eq!(flag.is_inner_batch(), inner_batch, "{bits:#x}");
        assert_eq!(flag.transaction(), transaction, "{bits:#x}");
        assert_eq!(flag.compression_bits(), compression, "{bits:#x}");
        assert_eq!(i32::from(flag), bits, "bits without a name are kept");
    }
}

#[test]
fn names_of_bits() {
    let rows = [
        (SysFlag::COMPRESSED, 0x1),
        (SysFlag::MULTI_TAGS, 0x2),
        (SysFlag::BORN_HOST_V6, 0x10),
        (SysFlag::STORE_HOST_V6, 0x20),
        (SysFlag::NEEDS_UNWRAP, 0x40),
        (SysFlag::INNER_BATCH, 0x80),
    ];
    for (flag, bits) in rows {
        assert_eq!(flag.0, bits);
        assert!(SysFlag(-1).contains(flag) && !SysFlag(!bits).contains(flag));
        assert_eq!(SysFlag(0x7000_0700).with(flag), SysFlag(0x7000_0700 | bits));
        assert_eq!(SysFlag(-1).without(flag), SysFlag(!bits));
    }
    assert!(!SysFlag::COMPRESSED.contains(SysFlag(0x3)), "all of the bits");
}

#[test]
fn changed_parts_leave_the_others() {
    for before in [0, -1, 0x5A5A_5A5A] {
        let flag = SysFlag(before);
        for (transaction, bits) in [
            (TransactionType::None, 0x0),
            (TransactionType::Prepared, 0x4),
            (TransactionType::Commit, 0x8),
            (TransactionType::Rollback, 0xC),
        ] {
            assert_eq!(transaction.bits(), bits);
            let changed = flag.with_transaction(transaction);
            assert_eq!(changed.transaction(), transaction);
            assert_eq!(changed.0 & !0xC, before & !0xC);
        }
        for bits in [0, 1, 2, 3, 7, 9, 255] {
            let changed = flag.with_compression_bits(bits);
            assert_eq!(changed.compression_bits(), bits & 7);
            assert_eq!(changed.0 & !0x700, before & !0x700);
        }
    }
}

#[test]
fn host_bits() {
    let (v4, v6) = ("10.0.0.1:1".parse().unwrap(), "[fd00::1]:1".parse().unwrap());
    for (born, store, bits) in [(v4, v4, 0), (v6, v4, 0x10), (v4, v6, 0x20), (v6, v6, 0x30)] {
        for before in [0x301, 0x331] {
            assert_eq!(SysFlag(before).with_hosts(&born, &store), SysFlag(0x301 | bits), "{born} {store}");
        }
    }
}
