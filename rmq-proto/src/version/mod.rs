//! What version a peer is of, and what it can do (wire §1.6, §10).

mod feature;

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

pub use feature::Feature;

use crate::command::CURRENT_VERSION;

/// A release of RocketMQ, as the number that stands in a command's `version`: its place in one long list of releases, each
/// behind its snapshot (wire §1.6). An open set: numbers without a name are legal.
///
/// 0 is what a peer says that does not tell its version. It is older than all others, so it [has](Self::has) no
/// [`Feature`] that a version brought.
///
/// ```
/// use rmq_proto::version::{Feature, Version};
///
/// let broker = Version(439);
/// assert_eq!(broker.to_string(), "V5_1_3 (439)");
/// assert_eq!(Version::of(5, 1, 3), Some(broker));
/// assert!(broker.has(Feature::HeartbeatV2) && !broker.has(Feature::RecallMessage));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub i32);

/// Releases of version 3 that something depends on. Their numbers follow no rule, so others have no name here.
const OLD: [(Version, &str); 4] = [
    (Version(28), "V3_0_7_SNAPSHOT"),
    (Version(37), "V3_0_11"),
    (Version(62), "V3_1_8_SNAPSHOT"),
    (Version(121), "V3_4_9"),
];

const HIGHER_NAME: &str = "HIGHER_VERSION";

const SNAPSHOT_SUFFIX: &str = "_SNAPSHOT";

const FIRST_OF_4: i32 = 213;

const FIRST_OF_5: i32 = 413;

/// From one minor version to the next: ten releases and ten snapshots.
const MINOR_STEP: i32 = 20;

/// From one release to the next, over a snapshot.
const PATCH_STEP: i32 = 2;

impl Version {
    /// What we say we are; the number is [`command::CURRENT_VERSION`](CURRENT_VERSION).
    pub const CURRENT: Self = Self(CURRENT_VERSION);

    /// All that comes after 5.9.9. Higher numbers have this name, too.
    pub const HIGHER: Self = Self(612);

    /// The release `major.minor.patch` of version 4 or 5; `None` for all others, and for numbers over 9.
    pub const fn of(major: u8, minor: u8, patch: u8) -> Option<Self> {
        match (major, minor, patch) {
            (4 | 5, 0..=9, 0..=9) => Some(Self::release(major, minor, patch)),
            _ => None,
        }
    }

    /// The snapshot before this release; takes what [`of`](Self::of) takes.
    pub const fn snapshot_of(major: u8, minor: u8, patch: u8) -> Option<Self> {
        match Self::of(major, minor, patch) {
            Some(Self(number)) => Some(Self(number - 1)),
            None => None,
        }
    }

    pub(crate) const fn release(major: u8, minor: u8, patch: u8) -> Self {
        let first = if major == 4 { FIRST_OF_4 } else { FIRST_OF_5 };
        // Widens; there is no const `From`.
        Self(first + MINOR_STEP * minor as i32 + PATCH_STEP * patch as i32)
    }

    /// The release's name, such as `V5_3_3` or `V4_9_4_SNAPSHOT`; `None` if it has none here.
    pub fn name(self) -> Option<String> {
        self.known().map(|name| name.to_string())
    }

    /// Whether a peer of this version has the feature.
    pub fn has(self, feature: Feature) -> bool {
        feature.ranges().iter().any(|range| range.contains(&self))
    }

    /// Whether a server of this version may answer GO_AWAY to a client of version `client` (wire §1.6, §9.4).
    pub fn sends_away(self, client: Self) -> bool {
        let last_spared =
            if self < Self::release(5, 3, 2) { Self::release(5, 1, 4) } else { Self::release(5, 3, 1) };
        self.has(Feature::GoAway) && client > last_spared
    }

    fn known(self) -> Option<Name> {
        if self >= Self::HIGHER {
            return Some(Name::Text(HIGHER_NAME));
        }
        if let Some((_, name)) = OLD.iter().find(|(version, _)| *version == self) {
            return Some(Name::Text(name));
        }
        let (major, first) = if self.0 < FIRST_OF_5 - 1 { (4, FIRST_OF_4) } else { (5, FIRST_OF_5) };
        // Counted from the snapshot of the first release, and rounded up to the release.
        let since_first = self.0.checked_sub(first - 1).filter(|count| *count >= 0)?;
        let (minor, patch) = (since_first / MINOR_STEP, since_first % MINOR_STEP / PATCH_STEP);
        Some(Name::Release { major, minor, patch, is_snapshot: since_first % PATCH_STEP == 0 })
    }
}

enum Name {
    Text(&'static str),
    Release { major: i32, minor: i32, patch: i32, is_snapshot: bool },
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Release { major, minor, patch, is_snapshot } => {
                write!(f, "V{major}_{minor}_{patch}")?;
                f.write_str(if *is_snapshot { SNAPSHOT_SUFFIX } else { "" })
            }
        }
    }
}

/// `NAME (number)`, or `(number)` for a version without a name.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "({})", self.0),
        }
    }
}

impl From<Version> for i32 {
    fn from(version: Version) -> Self {
        version.0
    }
}

impl From<i32> for Version {
    fn from(version: i32) -> Self {
        Self(version)
    }
}

/// A text that is no version's [name](Version::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("no version has this name: it is to be like `V5_3_3` or `V4_9_4_SNAPSHOT`, from 4.0.0 to 5.9.9")]
pub struct VersionNameError;

/// Reads what [`Version::name`] writes.
impl FromStr for Version {
    type Err = VersionNameError;

    fn from_str(name: &str) -> Result<Self, VersionNameError> {
        let of_text = |(version, text): &(Self, &str)| (*text == name).then_some(*version);
        let version = if name == HIGHER_NAME { Some(Self::HIGHER) } else { OLD.iter().find_map(of_text) };
        version.or_else(|| parse_release(name)).ok_or(VersionNameError)
    }
}

fn parse_release(name: &str) -> Option<Version> {
    let (release, is_snapshot) = match name.strip_suffix(SNAPSHOT_SUFFIX) {
        Some(release) => (release, true),
        None => (name, false),
    };
    let &[b'V', major, b'_', minor, b'_', patch] = release.as_bytes() else {
        return None;
    };
    let [major, minor, patch] = [major, minor, patch].map(|digit| digit.wrapping_sub(b'0'));
    let of = if is_snapshot { Version::snapshot_of } else { Version::of };
    of(major, minor, patch)
}
