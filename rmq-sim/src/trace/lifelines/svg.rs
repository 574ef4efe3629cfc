//! Writing SVG.

use std::fmt::{self, Write};

/// Text as it may stand in an XML document, in content and in quotes. Characters that no document may have are replaced.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&apos;"),
            '\t' | '\n' | '\r' => f.write_char(' '),
            '\0'..' ' | '\u{FFFE}' | '\u{FFFF}' => f.write_char('\u{FFFD}'),
            character => f.write_char(character),
        })
    }
}

/// At most `most` characters; what is longer ends in an ellipsis.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Lines of at most `width` characters, cut at spaces where there are some; at most `most` lines.
pub(super) fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while !rest.is_empty() {
        if lines.len() == most {
            lines.push("…".to_owned());
            break;
        }
        let cut = if rest.len() <= width {
            rest.len()
        } else {
            rest[..width].iter().rposition(|character| *character == ' ').map_or(width, |space| space + 1)
        };
        lines.push(rest.drain(..cut).collect::<String>().trim_end().to_owned());
    }
    lines
}

/// Where text stands beside its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document that grows.
#[derive(Debug, Default)]
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn add(&mut self, part: fmt::Arguments<'_>) {
        // A string takes whatever is written.
        let _ = self.0.write_fmt(part);
        self.0.push('\n');
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.add(format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}"{anchor}>{}</text>"#,
            Escaped(text)
        ));
    }

    /// Text that runs from its point down.
    pub(super) fn downward(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.add(format_args!(
            r#"<text class="{class}" transform="translate({x:.1} {y:.1}) rotate(90)">{}</text>"#,
            Escaped(text)
        ));
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(r#"<path class="{class}" d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"/>"#));
    }

    /// Two short strokes across each other.
    pub(super) fn cross(&mut self, class: &str, (x, y): (f64, f64)) {
        let (left, right, top, bottom) = (x - 4.0, x + 4.0, y - 4.0, y + 4.0);
        self.add(format_args!(
            r#"<path class="{class}" d="M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}"/>"#
        ));
    }

    /// What follows, until [`end`](Self::end), shows `detail` when it is pointed at.
    pub(super) fn group(&mut self, class: &str, detail: &str) {
        self.add(format_args!(r#"<g class="{class}"><title>{}</title>"#, Escaped(detail)));
    }

    pub(super) fn end(&mut self) {
        self.0.push_str("</g>\n");
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}
