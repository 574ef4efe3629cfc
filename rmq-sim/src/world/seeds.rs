//! Many seeds, and one of them once more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{World, WorldBuilder};

/// The environment variable that [`World::each_seed`] takes its only seed from.
pub const SEED_VARIABLE: &str = "RMQ_SIM_SEED";

impl World {
    /// Runs a test with each of the seeds, in order, until it panics with one: this then panics with a text that names
    /// the seed and how to run it alone.
    ///
    /// Where the environment has `RMQ_SIM_SEED`, only that seed is run, and its world records its trace.
    ///
    /// ```
    /// use rmq_sim::World;
    ///
    /// World::each_seed(0..3, |world| {
    ///     let outcome = world.brokers(2).build().run(async |client| client.shutdown().await);
    ///     assert_eq!(outcome.value, Ok(()));
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// When the test does, and when `RMQ_SIM_SEED` is no number.
    #[track_caller]
    pub fn each_seed(seeds: impl IntoIterator<Item = u64>, test: impl FnMut(WorldBuilder)) {
        match std::env::var(SEED_VARIABLE) {
            Err(std::env::VarError::NotPresent) => run(seeds, Self::builder, test),
            Err(error) => panic!("{SEED_VARIABLE}: {error}"),
            Ok(text) => match text.trim().parse() {
                Ok(seed) => run([seed], |seed| Self::builder(seed).record(), test),
                Err(error) => panic!("{SEED_VARIABLE} is {text:?}: {error}"),
            },
        }
    }
}

#[track_caller]
fn run(
    seeds: impl IntoIterator<Item = u64>,
    builder: impl Fn(u64) -> WorldBuilder,
    mut test: impl FnMut(WorldBuilder),
) {
    for seed in seeds {
        let Err(payload) = catch_unwind(AssertUnwindSafe(|| test(builder(seed)))) else { continue };
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without text");
        panic!("seed {seed} fails: {text}\nrun it alone with {SEED_VARIABLE}={seed}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_that_fails_is_named_and_those_after_it_are_not_run() {
        let mut ran = Vec::new();
        let failed = catch_unwind(AssertUnwindSafe(|| {
            run(3..10, World::builder, |world| {
                ran.push(world.seed());
                assert!(world.seed() < 5, "too large");
            });
        }));
        let failed = failed.expect_err("5 is too large");
        let text = failed.downcast_ref::<String>().map(String::as_str);
        assert_eq!(text, Some("seed 5 fails: too large\nrun it alone with RMQ_SIM_SEED=5"));
        assert_eq!(ran, [3, 4, 5]);
    }
}
