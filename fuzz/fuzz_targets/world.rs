//! Any bytes, as a script of a run: clients and servers on a network with faults. Every oracle watches. With `-s none` it is some
//! ten times as fast, and there is no unsafe code that a sanitizer would have to watch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rmq_sim::run::Run;
use rmq_sim::run::script::Script;

fuzz_target!(|bytes: &[u8]| {
    let Script { options, actions } = Script::decode(bytes);
    let report = Run::scripted(options, actions).finish();
    if let Some((at, violation)) = report.violation {
        panic!("at {at:?}: {violation}");
    }
});
