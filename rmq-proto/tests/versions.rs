//! Versions and what depends on them, wire §1.6 and §10.

use proptest::prelude::*;
use rmq_proto::command::CURRENT_VERSION;
use rmq_proto::version::Feature::{self, *};
use rmq_proto::version::Version;

#[test]
fn names() {
    // The table of wire §1.6, and the ends of its formulas.
    let rows = [
        (28, "V3_0_7_SNAPSHOT"),
        (37, "V3_0_11"),
        (62, "V3_1_8_SNAPSHOT"),
        (121, "V3_4_9"),
        (212, "V4_0_0_SNAPSHOT"),
        (213, "V4_0_0"),
        (232, "V4_1_0_SNAPSHOT"),
        (233, "V4_1_0"),
        (253, "V4_2_0"),
        (277, "V4_3_2"),
        (317, "V4_5_2"),
        (335, "V4_6_1"),
        (355, "V4_7_1"),
        (373, "V4_8_0"),
        (393, "V4_9_0"),
        (397, "V4_9_2"),
        (399, "V4_9_3"),
        (400, "V4_9_4_SNAPSHOT"),
        (401, "V4_9_4"),
        (407, "V4_9_7"),
        (409, "V4_9_8"),
        (411, "V4_9_9"),
        (412, "V5_0_0_SNAPSHOT"),
        (413, "V5_0_0"),
        (433, "V5_1_0"),
        (439, "V5_1_3"),
        (441, "V5_1_4"),
        (453, "V5_2_0"),
        (473, "V5_3_0"),
        (475, "V5_3_1"),
        (477, "V5_3_2"),
        (479, "V5_3_3"),
        (610, "V5_9_9_SNAPSHOT"),
        (611, "V5_9_9"),
        (612, "HIGHER_VERSION"),
    ];
    for (number, name) in rows {
        let version = Version(number);
        assert_eq!(version.name().as_deref(), Some(name));
        assert_eq!(version.to_string(), format!("{name} ({number})"));
        assert_eq!(name.parse(), Ok(version));
    }
}

#[test]
fn numbers_past_the_last_are_higher() {
    for number in [612, 613, 1_000, i32::MAX] {
        assert_eq!(Version(number).name().as_deref(), Some("HIGHER_VERSION"), "{number}");
    }
    assert_eq!(Version::HIGHER, Version(612));
}

#[test]
fn numbers_without_a_name() {
    for number in [i32::MIN, -1, 0, 27, 36, 63, 120, 122, 211] {
        assert_eq!(Version(number).name(), None);
        assert_eq!(Version(number).to_string(), format!("({number})"));
    }
}

#[test]
fn names_of_no_version() {
    let rows = [
        "",
        "V",
        "5_3_3",
        "v5_3_3",
        "V5.3.3",
        "V5_3",
        "V5_3_",
        "V5_3_33",
        "V5_33_3",
        "V05_3_3",
        "V5_3_3_",
        " V5_3_3",
        "V5_3_3 ",
        "V3_4_8",
        "V6_0_0",
        "V0_0_0",
        "V5_3_-1",
        "V5_a_3",
        "V5_3_٣",
        "V5_3_3_snapshot",
        "V5_3_3_SNAPSHOT_SNAPSHOT",
        "_SNAPSHOT",
        "HIGHER_VERSION_SNAPSHOT",
        "V3_0_11_SNAPSHOT",
        "V5_3_:",
    ];
    for name in rows {
        assert!(name.parse::<Version>().is_err(), "{name:?}");
    }
}

#[test]
fn releases() {
    assert_eq!(Version::CURRENT, Version(CURRENT_VERSION));
    assert_eq!(Version::of(5, 3, 3), Some(Version::CURRENT));
    for (minor, patch) in (0..10).flat_map(|minor| (0..10).map(move |patch| (minor, patch))) {
        let offset = 20 * i32::from(minor) + 2 * i32::from(patch);
        for (major, first) in [(4, 213), (5, 413)] {
            let version = Version::of(major, minor, patch).expect("a release");
            let snapshot = Version::snapshot_of(major, minor, patch).expect("a snapshot");
            assert_eq!((version, snapshot), (Version(first + offset), Version(first + offset - 1)));
            assert_eq!(version.name(), Some(format!("V{major}_{minor}_{patch}")));
            assert_eq!(snapshot.name(), Some(format!("V{major}_{minor}_{patch}_SNAPSHOT")));
        }
    }
    for (major, minor, patch) in
        [(3, 4, 9), (6, 0, 0), (4, 10, 0), (4, 0, 10), (5, 10, 0), (5, 0, 10), (0, 0, 0), (255, 255, 255)]
    {
        assert_eq!(Version::of(major, minor, patch), None);
        assert_eq!(Version::snapshot_of(major, minor, patch), None);
    }
}

/// Each feature with the numbers where it comes and goes, in turn.
const EDGES: &[(Feature, &[i32])] = &[
    (StandardRouteJson, &[401]),
    (TopicSysFlagInRoutes, &[393]),
    (Sql92, &[232]),
    (Replies, &[333]),
    (Ipv6Hosts, &[333]),
    (CompressionTypes, &[401]),
    (BrokerNameInSends, &[403, 412, 433]),
    (LitePull, &[413]),
    (Pop, &[413]),
    (BatchAck, &[439]),
    (RecallMessage, &[477]),
    (TimerMessages, &[413]),
    (SetZeroIfNotFound, &[413]),
    (BoundaryType, &[453]),
    (HeartbeatV2, &[439]),
    (TopicAttributes, &[413]),
    (BatchUniqueId, &[413]),
    (V2Records, &[413]),
    (NoLastPropertySeparator, &[395, 442]),
    (AnswersInFormatOfRequest, &[401, 410]),
    (EmptyValueIsNone, &[401]),
    (LanguageRust, &[401]),
    (GoAway, &[453]),
    (InvalidParameter, &[477]),
    (AclV1, &[293, 478]),
    (AclV2, &[473]),
    (UnsignedUniqueKeyQuery, &[353, 433]),
    (SignsUniqueKeyQuery, &[400]),
    (MaxReconsumeTimes, &[121]),
    (ResetOffset, &[28]),
    (RunningInfo, &[62]),
];

#[test]
fn features() {
    let listed: Vec<_> = EDGES.iter().map(|(feature, _)| *feature).collect();
    assert_eq!(listed, Feature::ALL);
    for (feature, edges) in EDGES {
        for number in (-1..700).chain([i32::MIN, i32::MAX]) {
            let passed = edges.iter().filter(|edge| number >= **edge).count();
            assert_eq!(Version(number).has(*feature), passed % 2 == 1, "{feature:?} {number}");
        }
    }
}

#[test]
fn who_is_sent_away() {
    // server, client, whether
    let rows = [
        (441, 479, false),
        (452, 479, false),
        // From 5.2.0 on: those past 5.1.4.
        (453, 441, false),
        (453, 442, true),
        (475, 442, true),
        (475, 441, false),
        // From 5.3.2 on: those past 5.3.1.
        (477, 475, false),
        (477, 476, true),
        (479, 479, true),
        (479, 0, false),
        (612, 612, true),
        (0, 479, false),
    ];
    for (server, client, expected) in rows {
        assert_eq!(Version(server).sends_away(Version(client)), expected, "{server} {client}");
    }
}

proptest! {
    #[test]
    fn a_name_is_read_back(number: i32, small in -10..700) {
        for version in [Version(number), Version(small)] {
            match version.name() {
                Some(name) => prop_assert_eq!(name.parse(), Ok(version.min(Version::HIGHER))),
                None => prop_assert!(version < Version(212)),
            }
        }
    }

    #[test]
    fn any_text_is_a_name_or_none(text in "(V|)[3-6_]{0,8}(_SNAPSHOT|)|\\PC{0,12}") {
        if let Ok(version) = text.parse::<Version>() {
            prop_assert_eq!(version.name(), Some(text));
        }
    }
}
