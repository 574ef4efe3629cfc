use super::*;
use crate::net::{Ended, Fault, StreamId};
use crate::oracle::Violation;
use crate::trace::{FrameInfo, Happening};
use std::time::Duration;

const SERVER: &str = "10.0.0.1:1";

fn entry(millis: u64, happening: Happening) -> Entry {
    Entry { at: Instant::from_millis(millis), happening }
}

fn dialed(millis: u64, stream: u64) -> Entry {
    entry(millis, Happening::Dialed { client: 0, stream: StreamId(stream), address: SERVER.into() })
}

fn frame(millis: u64, stream: u64, opaque: i32, is_response: bool, arrived: bool) -> Entry {
    let code = if is_response { 0 } else { 310 };
    let frame = FrameInfo { code, opaque, is_response, len: 100 };
    let to = if is_response { Direction::ToClient } else { Direction::ToServer };
    let stream = StreamId(stream);
    entry(
        millis,
        if arrived {
            Happening::FrameArrived { stream, to, frame }
        } else {
            Happening::FrameLeft { stream, to, frame }
        },
    )
}

fn ended(millis: u64, stream: u64) -> Entry {
    entry(millis, Happening::Ended { stream: StreamId(stream), how: Ended::Reset })
}

fn accepted(millis: u64) -> Entry {
    entry(millis, Happening::Accepted { client: 0, op: millis, what: "send" })
}

/// A connection with a request that is answered, one that is lost and one that is on its way.
fn conversation() -> Vec<Entry> {
    vec![
        entry(0, Happening::Started { client: 0 }),
        dialed(1, 0),
        entry(2, Happening::Opened { stream: StreamId(0) }),
        frame(3, 0, 11, false, false),
        frame(4, 0, 11, false, true),
        frame(5, 0, 11, true, false),
        frame(6, 0, 11, true, true),
        entry(7, Happening::FaultBegan { address: SERVER.into(), fault: Fault::Vanish }),
        frame(8, 0, 12, false, false),
        ended(9, 0),
        entry(9, Happening::Abandoned { stream: StreamId(0) }),
        dialed(10, 1),
        entry(11, Happening::FaultEnded { address: SERVER.into(), fault: Fault::Vanish }),
        entry(11, Happening::Opened { stream: StreamId(1) }),
        frame(5_000, 1, 13, false, false),
    ]
}

fn draw(entries: &[Entry]) -> String {
    let picture = Picture { title: "A & <B>".into(), ..Picture::default() };
    picture.draw(entries)
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

/// Elements are closed in order and nothing is left open; no text has a bare special character.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some((text, tail)) = rest.split_once('<') {
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
        let plain = entities.iter().fold(text.to_owned(), |text, entity| text.replace(entity, ""));
        assert!(!plain.contains(['&', '>']) && !plain.contains(|c: char| c < ' ' && c != '\n'), "{text}");
        let (tag, after) = tail.split_once('>').expect("a tag ends");
        assert_eq!(count(tag, "\"") % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap().to_owned()),
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

#[test]
fn frames_are_arrows() {
    let svg = draw(&conversation());
    assert_well_formed(&svg);
    assert_eq!(count(&svg, r#"<g class="frame">"#), 4);
    assert_eq!(count(&svg, r#"<g class="dialing">"#), 2);
    assert_eq!(count(&svg, "left 0.003000 s, arrived 0.004000 s"), 1);
    assert_eq!(count(&svg, "left 0.008000 s, never arrived"), 1);
    assert_eq!(count(&svg, "left 5.000000 s, still on its way"), 1);
    assert!(svg.contains(">#0 SEND_MESSAGE_V2 (11)<") && svg.contains(">#0 SUCCESS (11)<"));
    assert!(svg.contains(">A &amp; &lt;B&gt;<") && svg.contains(">5.0 s later<"));
}

#[test]
fn faults_and_suspensions_are_bands() {
    let mut entries = conversation();
    entries.push(entry(6_000, Happening::Suspended { client: 0, time: Duration::from_secs(3) }));
    let svg = draw(&entries);
    assert_eq!(count(&svg, r#"<g class="band">"#), 2);
    assert!(svg.contains("vanish, from 0.007000 s until 0.011000 s"));
    assert!(svg.contains("suspended for 3s, from 6.000000 s until 9.000000 s"));
}

#[test]
fn a_connection_ends_once() {
    let svg = draw(&conversation());
    assert_eq!((count(&svg, "#0 connection reset</text>"), count(&svg, "closed by the client")), (1, 0));
}

#[test]
fn the_violation_is_told_in_full() {
    let mut entries = conversation();
    let detail = format!("{} <end>", "word ".repeat(60));
    entries.push(entry(6_000, Happening::Violated(Violation::new("one-key", detail))));
    let svg = draw(&entries);
    assert_well_formed(&svg);
    assert!(svg.contains(r#"<path class="violated""#) && svg.contains(">one-key</text>"));
    assert!(svg.contains("&lt;end&gt;</text>"));
}

#[test]
fn a_picture_says_what_part_it_is() {
    let mut entries: Vec<_> = (0..1_000).map(accepted).collect();
    assert!(draw(&entries).contains("0.000000 to 0.199000 s, 200 events of 1000 (the first 200)"));
    assert!(draw(&entries[..200]).contains("200 events of 200 (the whole run)"));
    entries.push(entry(2_000, Happening::Violated(Violation::new("one-key", "broken"))));
    let svg = draw(&entries);
    assert!(svg.contains("0.801000 to 2.000000 s, 200 events of 1001 (the last before the violation)"));
    let window = |from, to| {
        let picture = Picture {
            from: Some(Instant::from_millis(from)),
            to: Some(Instant::from_millis(to)),
            ..Picture::default()
        };
        picture.draw(&entries)
    };
    let svg = window(5, 6);
    assert_eq!(count(&svg, r#"<g class="mark">"#), 2);
    assert!(svg.contains("(all of the window); the violation, at 2.000000 s, is not among them"));
    let svg = window(1_500, 1_600);
    assert_well_formed(&svg);
    assert!(svg.contains("none of the 1001 events"));
}

#[test]
fn a_picture_has_a_bound() {
    let entries: Vec<_> = (0..6_000).map(accepted).collect();
    let picture = Picture { from: Some(Instant::ZERO), ..Picture::default() };
    let svg = picture.draw(&entries);
    assert_eq!(count(&svg, r#"<g class="mark">"#), 5_000);
    assert!(svg.contains("5000 events of 6000 (of 6000 in the window, the first 5000)"));
}

#[test]
fn a_window_shows_what_reaches_into_it() {
    let picture = Picture {
        from: Some(Instant::from_millis(4)),
        to: Some(Instant::from_millis(8)),
        servers: vec![(SERVER.into(), "broker-a".into())],
        ..Picture::default()
    };
    let svg = picture.draw(&conversation());
    // The request left before; the fault ends after.
    assert_eq!(count(&svg, r#"<g class="frame">"#), 3);
    assert_eq!(count(&svg, r#"<g class="band">"#), 1);
    assert!(svg.contains(">broker-a</text>") && svg.contains(">client 0</text>"));
}

#[test]
fn what_began_before_the_recording_is_counted() {
    let svg = draw(&[frame(1, 7, 1, false, false), ended(2, 7)]);
    assert!(svg.contains("left out: 2 of connections whose beginning is not recorded"));
}

#[test]
fn no_character_breaks_the_document() {
    let note = "quote \" and \u{1}\u{FFFF}\n'tag' </svg> & more";
    let svg = draw(&[entry(0, Happening::Note(note.into()))]);
    assert_well_formed(&svg);
    assert!(svg.contains("quote &quot; and \u{FFFD}\u{FFFD} &apos;tag&apos; &lt;/svg&gt; &amp; more"));
}

#[test]
fn text_is_wrapped_at_spaces() {
    assert_eq!(svg::wrapped("one two three", 8, 9), ["one two", "three"]);
    assert_eq!(svg::wrapped("abcdefgh", 3, 2), ["abc", "def", "…"]);
    assert_eq!(svg::shortened("abcdef", 4), "abc…");
}
