//! Counters and gauges as a list, for those who export them.

/// One counter or gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name of its field.
    pub name: &'static str,
    /// What it counts, as a sentence.
    pub help: &'static str,
    /// Whether it only grows.
    pub kind: MetricKind,
    /// Its value.
    pub value: u64,
}

/// How a [`Metric`] moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
}

impl MetricKind {
    /// As Prometheus calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// What stands behind the kind in the documentation of a field.
pub(crate) const fn help(doc: &'static str) -> &'static str {
    let bytes = doc.as_bytes();
    let mut at = 0;
    while bytes[at] != b':' {
        at += 1;
    }
    doc.split_at(at + 2).1
}

/// Defines a struct whose fields are counters (`u64`) and gauges (`usize`), each documented as `Counter: ...` or
/// `Gauge: ...`, with a list of them.
macro_rules! with_metrics {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[doc = $doc:literal])+ pub $field:ident: $kind:ident,)+ }
    ) => {
        $(#[$meta])*
        pub struct $name { $($(#[doc = $doc])+ pub $field: $kind,)+ }

        impl $name {
            /// Each field by its name, with what it counts: to export all of them takes one loop.
            pub fn metrics(&self) -> impl Iterator<Item = $crate::metric::Metric> + use<> {
                [$($crate::metric::Metric {
                    name: stringify!($field),
                    help: const { $crate::metric::help(concat!($($doc),+)) },
                    kind: with_metrics!(@$kind),
                    value: self.$field as u64,
                }),+].into_iter()
            }
        }
    };
    (@u64) => { $crate::metric::MetricKind::Counter };
    (@usize) => { $crate::metric::MetricKind::Gauge };
}

pub(crate) use with_metrics;
