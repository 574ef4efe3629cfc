//! Any bytes, as a program of calls to a client that is held to its contract.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rmq_sim::ops;

fuzz_target!(|data: &[u8]| {
    // Longer programs reach no more, and are slow.
    let data = &data[..data.len().min(4_096)];
    if let Err(violation) = ops::run(data) {
        panic!("{violation}");
    }
});
