//! A picture of a run: clients and servers as vertical lines, time downward, frames as arrows between them.
//!
//! ```
//! use rmq_sim::run::{Run, RunOptions};
//! use rmq_sim::trace::Picture;
//!
//! let mut run = Run::new(RunOptions::draw(7));
//! run.record();
//! let report = run.finish();
//! let picture = Picture { title: format!("seed {}", report.seed), ..Picture::default() };
//! let svg = picture.draw(run.trace().entries());
//! assert!(svg.starts_with("<svg "));
//! ```

mod layout;
mod paint;
mod scene;
mod svg;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use rmq_core::Instant;

use super::{Direction, Entry};
use layout::Layout;
use paint::Painter;
use scene::Scene;

/// Most events of a picture whose window nobody chose.
const FEW: usize = 200;

/// Most events of any picture.
const MOST: usize = 5_000;

/// What to draw, and how to call it.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The heading.
    pub title: String,
    /// Address and name of servers, in the order of their lines. Others follow, named by their address alone.
    pub servers: Vec<(Arc<str>, String)>,
    /// Draw nothing that happened before. When neither this nor `to` is given, a picture has everything if that is at
    /// most 200 events, else the last 200 up to the violation, else the first 200.
    pub from: Option<Instant>,
    /// Draw nothing that happened later.
    pub to: Option<Instant>,
}

impl Picture {
    /// The picture of a recorded trace, as the text of a standalone SVG document.
    ///
    /// Only who takes part in the window has a line. Distances tell the order, not the time: waits are compressed and
    /// written beside the axis. A picture has at most 5,000 events, the first of its window, and says which it has.
    pub fn draw<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) -> String {
        let scene = Scene::read(entries);
        let window = self.window(&scene);
        let layout = Layout::new(&scene, window.steps.clone(), &self.servers);
        Painter::new(&scene, &layout).paint(&self.title, &window.text)
    }

    fn window(&self, scene: &Scene) -> Window {
        let all = scene.steps.len();
        let (steps, which) = if self.from.is_some() || self.to.is_some() {
            let from = self.from.unwrap_or(Instant::ZERO);
            let start = scene.steps.partition_point(|step| step.at < from);
            let end = self.to.map_or(all, |to| scene.steps.partition_point(|step| step.at <= to)).max(start);
            if end - start > MOST {
                (start..start + MOST, format!("of {} in the window, the first {MOST}", end - start))
            } else {
                (start..end, "all of the window".to_owned())
            }
        } else if all <= FEW {
            (0..all, "the whole run".to_owned())
        } else if let Some(violated) = scene.violated {
            (violated + 1 - FEW.min(violated + 1)..violated + 1, "the last before the violation".to_owned())
        } else {
            (0..FEW, format!("the first {FEW}"))
        };
        Window { text: describe(scene, &steps, &which), steps }
    }
}

/// The part of a run that is drawn.
struct Window {
    steps: Range<usize>,
    text: String,
}

fn describe(scene: &Scene, steps: &Range<usize>, which: &str) -> String {
    let mut text = match scene.steps[steps.clone()] {
        [] => format!("none of the {} events", scene.steps.len()),
        [first, .., last] => {
            format!("{} to {} s, {} events", seconds(first.at), seconds(last.at), steps.len())
        }
        [only] => format!("{} s, one event", seconds(only.at)),
    };
    if !steps.is_empty() {
        text += &format!(" of {}", scene.steps.len());
    }
    text += &format!(" ({which})");
    if let Some(violated) = scene.violated.filter(|step| !steps.contains(step)) {
        text += &format!("; the violation, at {} s, is not among them", seconds(scene.steps[violated].at));
    }
    if scene.strangers > 0 {
        text += &format!("; left out: {} of connections whose beginning is not recorded", scene.strangers);
    }
    text
}

fn seconds(at: Instant) -> String {
    let micros = at.as_micros();
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
