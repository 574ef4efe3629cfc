//! Numbers with decimals, which only a running consumer's statistics have (wire §5.22).

use alloc::format;
use alloc::string::String;

use super::{JsonError, Kind, Reader, Writer};

impl Reader<'_> {
    /// Reads a number with or without decimals, in quotes or not; `None` for `null` and for empty text. A number that is
    /// not finite in 64 bits is an error.
    pub fn f64(&mut self) -> Result<Option<f64>, JsonError> {
        let kind = self.peek()?;
        let bad = JsonError::Number { offset: self.offset(), bits: 64 };
        if !matches!(kind, Kind::Null | Kind::Number | Kind::Text) {
            return Err(bad);
        }
        match self.text()?.as_deref() {
            None | Some("" | "null") => Ok(None),
            Some(text) => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Some).ok_or(bad),
        }
    }
}

impl Writer<'_> {
    /// Writes a number with decimals in the form of Java's `Double.toString`. One that is not finite becomes `null`, as
    /// with Java; Java's reader and ours then take it for 0.
    pub fn double(&mut self, number: f64) {
        if number.is_finite() {
            self.raw(&java_double(number));
        } else {
            self.null();
        }
    }
}

/// With an exponent below a thousandth and from ten millions on, and always with a decimal.
fn java_double(number: f64) -> String {
    if number == 0.0 || (1e-3..1e7).contains(&number.abs()) {
        return format!("{number:?}");
    }
    let text = format!("{number:E}");
    if text.contains('.') { text } else { text.replacen('E', ".0E", 1) }
}
