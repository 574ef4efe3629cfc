//! A subscriber that keeps what it is told.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// Lines as `LEVEL target message field=value ...`, the client's id left out.
#[derive(Clone)]
pub(crate) struct Capture {
    level: Level,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Capture {
    /// What is told on this thread from now on, as long as the guard is held.
    pub(crate) fn start(level: Level) -> (Self, DefaultGuard) {
        let capture = Self { level, lines: Arc::default() };
        let guard = tracing::subscriber::set_default(capture.clone());
        (capture, guard)
    }

    /// The lines since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            "client_id" => {
                assert!(format!("{value:?}").contains("10.0.0.1@4711#"), "{value:?}");
                Ok(())
            }
            name => write!(self.0, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        assert!(metadata.target().starts_with("rmq::"), "{}", metadata.target());
        assert!(event.fields().any(|field| field.name() == "client_id"), "{}", metadata.name());
        let mut text = Text(format!("{} {}", metadata.level(), &metadata.target()["rmq::".len()..]));
        event.record(&mut text);
        self.lines.lock().unwrap().push(text.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
