//! The closed loop: each task sends its next message when it knows what became of the last one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::Failure;
use crate::load::{Load, Tally, Until};

pub(crate) async fn run(load: &Arc<Load>, until: Until, tasks: usize) -> Result<Tally, Failure> {
    let next = Arc::new(AtomicU64::new(0));
    let mut running = Vec::with_capacity(tasks);
    for _ in 0..tasks {
        let (load, next, tally) = (Arc::clone(load), Arc::clone(&next), Tally::new()?);
        running.push(tokio::spawn(async move { send(&load, &next, until, tally).await }));
    }
    let mut all = Tally::new()?;
    for task in running {
        all.merge(&task.await?)?;
    }
    Ok(all)
}

async fn send(load: &Load, next: &AtomicU64, until: Until, mut tally: Tally) -> Tally {
    let mut began = Instant::now();
    while until.wants(next.fetch_add(1, Ordering::Relaxed), began) {
        let outcome = load.send().await;
        let ended = Instant::now();
        tally.count(load.is_failure(outcome), ended - began);
        began = ended;
    }
    tally
}
