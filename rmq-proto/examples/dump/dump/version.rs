//! Names of versions (wire §1.6).

/// The name of a version; `None` for those before 4.0.0, whose numbers follow no rule.
pub(super) fn name(version: i32) -> Option<String> {
    const V4_0_0_SNAPSHOT: i32 = 212;
    const V4_0_0: i32 = 213;
    const V5_0_0: i32 = 413;
    const HIGHER_VERSION: i32 = 612;

    if version >= HIGHER_VERSION {
        return Some("HIGHER_VERSION".to_owned());
    }
    if version < V4_0_0_SNAPSHOT {
        return None;
    }
    // Each release has an odd number, and its snapshot the even one before.
    let release = version | 1;
    let suffix = if release == version { "" } else { "_SNAPSHOT" };
    let (major, first) = if release < V5_0_0 { (4, V4_0_0) } else { (5, V5_0_0) };
    let minor_and_patch = (release - first) / 2;
    Some(format!("V{major}_{}_{}{suffix}", minor_and_patch / 10, minor_and_patch % 10))
}
