//! Message ids, wire §6.5 and producer §6.3, §6.4.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use proptest::prelude::*;
use rmq_proto::id::{MessageIdError, OffsetMessageId, UniqueKey, UniqueKeyGenerator};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9));

#[test]
fn offset_ids() {
    // Wire E16, and the ends of what the parts can hold.
    let rows = [
        ("10.0.0.1:10911", 1024, "0A00000100002A9F0000000000000400"),
        ("[2001:db8::1]:10911", 1024, "20010DB800000000000000000000000100002A9F0000000000000400"),
        ("255.255.255.255:65535", i64::MAX, "FFFFFFFF0000FFFF7FFFFFFFFFFFFFFF"),
        ("0.0.0.0:0", 0, "00000000000000000000000000000000"),
    ];
    for (host, offset, text) in rows {
        let id = OffsetMessageId { host: host.parse().unwrap(), offset };
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(text.to_lowercase().parse(), Ok(id), "any case is read");
    }
}

#[test]
fn what_is_no_offset_id() {
    let rows = [
        ("", MessageIdError::Length { len: 0 }),
        ("0A00000100002A9F000000000000040", MessageIdError::Length { len: 31 }),
        ("0A00000100002A9F00000000000004000", MessageIdError::Length { len: 33 }),
        ("0A00000100002A9F000000000000040000000000", MessageIdError::Length { len: 40 }),
        ("0A00000100002A9F00000000000004 0", MessageIdError::Digit { at: 30, found: ' ' }),
        ("+A00000100002A9F0000000000000400", MessageIdError::Digit { at: 0, found: '+' }),
        ("0A00000100002A9F000000000000中0", MessageIdError::Digit { at: 28, found: '中' }),
        ("0A000001000100000000000000000400", MessageIdError::Port { port: 65_536 }),
        ("0A000001FFFFFFFF0000000000000400", MessageIdError::Port { port: -1 }),
        // The id that a client makes has the same length.
        ("0A00000904D20102030405265C000001", MessageIdError::Port { port: 0x04d2_0102 }),
    ];
    for (text, error) in rows {
        assert_eq!(text.parse::<OffsetMessageId>(), Err(error), "{text}");
    }
}

#[test]
fn unique_keys() {
    // Wire E16: a day into the month, the second key.
    const NOVEMBER_2023: u64 = 1_698_796_800_000;
    let rows = [
        (V4, "0A00000904D20102030405265C000001"),
        (V6, "20010DB800000000000000000000000904D20102030405265C000001"),
    ];
    for (ip, text) in rows {
        let mut generator = UniqueKeyGenerator::new(ip, 1234, [1, 2, 3, 4]);
        generator.next(NOVEMBER_2023 + 86_400_000);
        let key = generator.next(NOVEMBER_2023 + 86_400_000);
        assert_eq!((key.as_str(), key.to_string().as_str()), (text, text));
    }
}

/// The parts of a key with an IPv4 address: salt, milliseconds since the month began, counter.
fn parts(key: &UniqueKey) -> (u32, u32, u16) {
    let text = key.as_str();
    assert_eq!(text.len(), 32);
    assert!(text.bytes().all(|digit| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit)), "{text}");
    let part = |range| u32::from_str_radix(&text[range], 16).expect("digits");
    (part(12..20), part(20..28), part(28..32) as u16)
}

#[test]
fn the_time_counts_from_the_start_of_the_month_in_utc() {
    const DAY: u64 = 86_400_000;
    // Milliseconds since 1970, milliseconds since the month began.
    let rows = [
        (0, 0),
        (DAY * 31 - 1, DAY * 31 - 1),
        (DAY * 31, 0),                     // 1970-02-01
        (951_782_400_000, DAY * 28),       // 2000-02-29
        (951_868_800_000, 0),              // 2000-03-01
        (1_709_164_800_000, DAY * 28),     // 2024-02-29
        (1_709_251_199_999, DAY * 29 - 1), // its end
        (1_709_251_200_000, 0),            // 2024-03-01
        (1_735_689_599_999, DAY * 31 - 1), // the end of 2024
        (1_735_689_600_000, 0),            // 2025-01-01
        (4_107_542_400_000, 0),            // 2100-03-01, no leap year
        (4_107_542_399_999, DAY * 28 - 1),
        (253_402_300_799_999, DAY * 31 - 1), // the end of 9999
        (u64::MAX, DAY * 31 - 1),            // taken as that
    ];
    for (unix_ms, expected) in rows {
        let (_, since_month_began, _) = parts(&UniqueKeyGenerator::new(V4, 1, [0; 4]).next(unix_ms));
        assert_eq!(u64::from(since_month_began), expected, "{unix_ms}");
    }
}

#[test]
fn every_month_until_2200_begins_at_zero() {
    let mut day = 0_u64;
    for year in 1970..2200 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for days in [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            let mut generator = UniqueKeyGenerator::new(V4, 1, [0; 4]);
            let (salt, first, _) = parts(&generator.next(day * 86_400_000));
            let (same_salt, last, _) = parts(&generator.next((day + days) * 86_400_000 - 1));
            let (next_salt, next, _) = parts(&generator.next((day + days) * 86_400_000));
            assert_eq!((first, u64::from(last), next), (0, days * 86_400_000 - 1, 0), "{year}");
            assert_eq!((salt, same_salt, next_salt), (0, 0, 1), "{year}: the months of a process differ");
            day += days;
        }
    }
}

/// What a clock does between two keys.
#[derive(Clone, Debug)]
enum Clock {
    Stands { keys: usize },
    Advances { ms: u64 },
    GoesBack { ms: u64 },
}

/// Draws keys along the script, and checks that they grow until the month ends and never repeat.
fn draw(start: u64, script: &[Clock]) -> BTreeSet<UniqueKey> {
    let mut generator = UniqueKeyGenerator::new(V4, 7, [9; 4]);
    let (mut now, mut seen, mut last) = (start, BTreeSet::new(), None);
    for step in script {
        let keys = match *step {
            Clock::Stands { keys } => keys,
            Clock::Advances { ms } => {
                now += ms;
                1
            }
            Clock::GoesBack { ms } => {
                now -= ms;
                1
            }
        };
        for _ in 0..keys {
            let key = generator.next(now);
            assert!(last < Some(key), "{key} after {last:?}");
            last = Some(key);
            assert!(seen.insert(key), "{key} came twice");
        }
    }
    seen
}

#[test]
fn seventy_thousand_keys_in_one_millisecond() {
    let start = 1_700_000_000_000;
    let keys = draw(start, &[Clock::Stands { keys: 70_000 }]);
    assert_eq!(keys.len(), 70_000);
    let times: BTreeSet<_> = keys.iter().map(|key| parts(key).1).collect();
    let first = *times.first().unwrap();
    assert_eq!(
        times.into_iter().collect::<Vec<_>>(),
        [first, first + 1],
        "the rest moves on by a millisecond"
    );
}

#[test]
fn a_clock_set_back_by_ten_minutes() {
    let script = [
        Clock::Stands { keys: 1_000 },
        Clock::GoesBack { ms: 600_000 },
        Clock::Stands { keys: 70_000 },
        Clock::Advances { ms: 600_001 },
        Clock::Stands { keys: 70_000 },
    ];
    assert_eq!(draw(1_700_000_000_000, &script).len(), 141_002);
}

#[test]
fn a_month_that_comes_again() {
    // Same millisecond of the month, same counter: February and March of a common year.
    let mut generator = UniqueKeyGenerator::new(V4, 7, [0xff; 4]);
    let (february, march) = (1_738_368_000_000, 1_740_787_200_000);
    let first = generator.next(february);
    for _ in 0..65_535 {
        generator.next(february);
    }
    let second = generator.next(march);
    assert_eq!((parts(&first).1, parts(&first).2), (parts(&second).1, parts(&second).2));
    assert_ne!(first, second);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn keys_only_grow_within_a_month(
        script in proptest::collection::vec(
            prop_oneof![
                (0_usize..3_000).prop_map(|keys| Clock::Stands { keys }),
                (0_u64..5).prop_map(|ms| Clock::Advances { ms }),
                (0_u64..700_000).prop_map(|ms| Clock::GoesBack { ms }),
            ],
            0..40,
        ),
    ) {
        // The middle of a month, so that no step leaves it.
        draw(1_700_000_000_000, &script);
    }
}

proptest! {
    #[test]
    fn offset_ids_are_read_back(
        v4: [u8; 4], v6: [u8; 16], is_v6: bool, port: u16, offset: i64,
    ) {
        let ip = if is_v6 { IpAddr::from(v6) } else { IpAddr::from(v4) };
        let id = OffsetMessageId { host: SocketAddr::new(ip, port), offset };
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn any_text_is_read_as_an_id_or_refused(text in "[0-9a-fA-F]{32}|[0-9A-F]{56}|\\PC{0,60}") {
        if let Ok(id) = text.parse::<OffsetMessageId>() {
            prop_assert_eq!(id.to_string(), text.to_uppercase());
        }
    }

    #[test]
    fn generators_with_different_salts_never_clash(
        salts in any::<([u8; 4], [u8; 4])>().prop_filter("they differ", |(a, b)| a != b),
        start in 0_u64..4_000_000_000_000,
        steps in proptest::collection::vec(0_u64..40_000_000_000, 1..200),
    ) {
        let mut generators = (UniqueKeyGenerator::new(V4, 7, salts.0), UniqueKeyGenerator::new(V4, 7, salts.1));
        let (mut now, mut seen) = (start, BTreeSet::new());
        for step in steps {
            now += step;
            prop_assert!(seen.insert(generators.0.next(now)));
            prop_assert!(seen.insert(generators.1.next(now)));
        }
    }
}

#[test]
fn a_hundred_thousand_keys_of_each_of_two_containers() {
    let mut generators = [[1, 2, 3, 4], [1, 2, 3, 5]].map(|salt| UniqueKeyGenerator::new(V4, 1, salt));
    let mut seen = BTreeSet::new();
    for i in 0..100_000_u64 {
        for generator in &mut generators {
            assert!(seen.insert(generator.next(1_700_000_000_000 + i / 1_000)));
        }
    }
}
