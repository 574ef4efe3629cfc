//! The program `rmq-sim`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use rmq_proto::json::Reader;
use rmq_sim::run::{FaultKind, Run, RunOptions};
use rmq_sim::trace::Happening;

/// Short runs, one of them with faults of several kinds.
const SEEDS: [u64; 2] = [4, 5];

fn start(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rmq-sim"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    start(arguments).output().expect("the program starts")
}

fn out(arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{arguments:?}: {text}");
    text
}

/// The value of a key of a JSON object, as text; the whole object has to parse.
fn member(object: &str, wanted: &str) -> Option<String> {
    let mut json = Reader::new(object.as_bytes()).expect("JSON");
    let mut found = None;
    json.object().expect("an object");
    while let Some(key) = json.key().expect("a key") {
        if key == wanted {
            found = json.text().expect("text").map(std::borrow::Cow::into_owned);
        } else {
            json.skip().expect("a value");
        }
    }
    json.finish().expect("nothing more");
    found
}

/// What follows `before` in a line that begins with it.
fn line<'a>(text: &'a str, before: &str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(before)).unwrap_or_else(|| panic!("no {before} in {text}"))
}

#[test]
fn many_runs_are_summed_up_whatever_the_number_of_jobs() {
    let without_rate = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let text = out(&["--seeds", "4..6", "--jobs", "1"]);
    assert!(text.starts_with("2 runs in ") && text.contains("\noperations per run, median "));
    for kind in FaultKind::ALL {
        let counted = line(&text, &format!("  {:<20}", kind.name())).trim();
        assert!(counted == "0  never happened" || counted.parse::<u64>().is_ok_and(|count| count > 0));
    }
    assert_eq!(line(&text, "0 violations"), "");
    assert_eq!(without_rate(&out(&["--seeds=4..6", "--jobs", "3"])), without_rate(&text));
}

#[test]
fn machines_get_an_object_per_run_and_a_replay_has_the_same_hash() {
    let text = out(&["--seeds", "4..6", "--json"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), SEEDS.len() + 1);
    for (line, seed) in lines.iter().zip(SEEDS) {
        assert_eq!(member(line, "seed"), Some(seed.to_string()));
        assert_eq!(member(line, "violation"), None);
        let seed = seed.to_string();
        assert_eq!(out(&["--seed", &seed, "--json"]).trim_end(), *line);
    }
    let report = Run::new(RunOptions::draw(SEEDS[0])).finish();
    assert_eq!(member(lines[0], "hash"), Some(format!("{:016x}", report.hash)));
    assert!(lines[2].starts_with(r#"{"summary":{"runs":2,"violations":0,"#));
    assert_eq!(member(lines[2], "nothing"), None, "it parses");
}

#[test]
fn a_run_is_made_twice_and_traced() {
    let text = out(&["--seed", "5", "--trace", "--twice"]);
    let mut run = Run::new(RunOptions::draw(5));
    run.record();
    let report = run.finish();
    assert!(
        text.contains(&format!("\nseed 5, hash {:016x}\n", report.hash)) && text.contains("\nno violation\n")
    );
    for entry in run.trace().entries().take(50) {
        assert!(text.contains(&format!("\n{entry}\n")), "{entry}");
    }
}

#[test]
fn a_window_of_a_run_is_drawn() {
    let file = std::env::temp_dir().join(format!("rmq-sim-cli-{}.svg", std::process::id()));
    let path = file.to_str().expect("a path that is text");
    out(&["--seed", "5", "--svg", path, "--from", "0", "--to", "20.5"]);
    let svg = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_file(&file).expect("it is there");
    let mut run = Run::new(RunOptions::draw(5));
    run.record();
    run.finish();
    let early = run.trace().entries().take_while(|entry| entry.at.as_micros() <= 20_500_000);
    let frames = early.filter(|entry| matches!(entry.happening, Happening::FrameLeft { .. })).count();
    assert!(frames > 20);
    assert_eq!(svg.matches(r#"<g class="frame">"#).count(), frames);
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">Seed 5</text>") && svg.contains(">name server 0</text>"));
}

#[test]
fn bad_arguments_are_told() {
    let rows: [(&[&str], &str); 15] = [
        (&[], "say --seeds or --seed"),
        (&["--seed"], "--seed takes a value"),
        (&["--seed", "x"], "--seed takes numbers from 0 to 9223372036854775807, not `x`"),
        (&["--seed", "-1"], "not `-1`"),
        (&["--seeds", "5..5"], "--seeds 5..5 has no seeds"),
        (&["--seeds", "5.."], "not ``"),
        (&["--seeds", "1..2", "--seed", "1"], "do not go together"),
        (&["--seeds", "1..2", "--trace"], "need one run"),
        (&["--seed", "1", "--jobs", "2"], "need many runs"),
        (&["--seeds", "1..2", "--jobs", "0"], "--jobs takes numbers from 1"),
        (&["--seed", "1", "--from", "2"], "need --svg"),
        (&["--seed", "1", "--svg", "x", "--from", "2", "--to", "1"], "--from is later than --to"),
        (&["--seed", "1", "--svg", "x", "--to", "NaN"], "--to takes seconds"),
        (&["--seed", "1", "--trace=yes"], "--trace takes no value"),
        (&["--sed", "1"], "`--sed` is not known"),
    ];
    for (arguments, problem) in rows {
        let output = run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(problem), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty() && told.ends_with("; --help says what there is\n"));
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_told() {
    let output = run(&["--seed", "5", "--svg", "/nowhere/at/all.svg"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.starts_with("rmq-sim: /nowhere/at/all.svg: "), "{told}");
}

#[test]
fn help_and_version() {
    assert!(out(&["--help"]).contains("--keep-going"));
    assert_eq!(out(&["--version"]), format!("rmq-sim {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = start(&["--seed", "5", "--trace"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[cfg(rmq_mutate)]
mod mutated {
    use super::{line, member, run};

    /// A bug that nearly every run shows.
    const BUG: [&str; 2] = ["--mutation", "acknowledge-when-written"];

    fn failing(arguments: &[&str]) -> String {
        let output = run(&[arguments, &BUG].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn violations_are_told_with_their_replay_until_there_are_ten() {
        let text = failing(&["--seeds", "0..40"]);
        assert_eq!(text.matches("\n  replay: ").count(), 10);
        assert!(text.contains("stopped at violation 10") && text.contains("\n10 violations\n"));
        let replay = line(&text, "  replay: ");
        assert!(replay.contains(" --trace --mutation acknowledge-when-written"), "{replay}");
        let seed = replay.split("--seed ").nth(1).and_then(|tail| tail.split(' ').next()).expect("a seed");
        let again = failing(&["--seed", seed, "--json"]);
        assert_eq!(member(&again, "seed").as_deref(), Some(seed));
        let traced = failing(&["--seed", seed, "--trace"]);
        assert!(traced.contains(" !!! one-terminal-event: ") && traced.contains("\nVIOLATION seed "));
    }

    #[test]
    fn runs_go_on_when_they_are_to() {
        let text = failing(&["--seeds", "0..16", "--keep-going"]);
        assert!(text.contains("\n16 runs in ") && !text.contains("stopped"), "{text}");
    }
}
