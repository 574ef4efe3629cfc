//! What versions of Java do not know. A row that is wrong fails: what stands here must not be read by an older version.

/// A release: 5.3.3 is `Version(5, 3, 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32, u32);

impl Version {
    pub(crate) fn of(text: &str) -> Self {
        let numbers: Vec<_> = text.split('.').map(|number| number.parse().expect("a number")).collect();
        let [major, minor, patch] = numbers[..] else { panic!("no version: {text}") };
        Self(major, minor, patch)
    }
}

/// No version has it.
const NEVER: Version = Version(u32::MAX, 0, 0);

/// Classes, and the first version that has them.
const CLASSES: &[(&str, Version)] = &[
    // Not read itself: records whose topic's length has two bytes came with it (wire §6.1).
    ("MessageVersion", Version(5, 0, 0)),
];

/// Fields and members of classes, and the first version that has them.
const FIELDS: &[(&str, &str, Version)] = &[
    ("HeartbeatData", "heartbeatFingerprint", Version(5, 1, 3)),
    ("HeartbeatData", "withoutSub", Version(5, 1, 3)),
    ("SendMessageResponseHeader", "batchUniqId", Version(5, 0, 0)),
    ("SendMessageResponseHeader", "recallHandle", Version(5, 3, 2)),
    // Ext fields beside the header (wire §5.1).
    ("SendMessageResponseHeader", "MSG_REGION", NEVER),
    ("SendMessageResponseHeader", "TRACE_ON", NEVER),
    ("TopicRouteData", "enableActingMaster", Version(5, 0, 0)),
];

/// Constants of a field or member, and the first version that has them; older ones read none.
const CONSTANTS: &[(&str, &str, Version)] =
    &[("consumeType", "CONSUME_POP", Version(5, 0, 0)), ("language", "NODE_JS", Version(5, 3, 2))];

/// Whether the version has no such class.
///
/// `class` may be `Class.method`; a row can name either.
pub(crate) fn class(version: Version, class: &str) -> bool {
    let of_method = class.split('.').next().unwrap_or_default();
    CLASSES.iter().any(|&(name, since)| (name == class || name == of_method) && version < since)
}

/// Whether the version's class has no such field.
pub(crate) fn field(version: Version, class: &str, field: &str) -> bool {
    FIELDS.iter().any(|&(of, name, since)| of == class && name == field && version < since)
}

/// Whether the version does not know the constant that the field has as its value.
pub(crate) fn constant(version: Version, field: &str, constant: &str) -> bool {
    CONSTANTS.iter().any(|&(of, name, since)| of == field && name == constant && version < since)
}
