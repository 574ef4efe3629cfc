//! Bodies of JSON.

mod bad_bodies;
mod bad_route;
mod captured;
mod examples;
mod heartbeat;
mod lenient;
mod pops;
mod references;
mod round_trips;
mod route;
mod samples;
mod support;

use rmq_proto::json::Reader;

/// The body of this name in the golden vectors, as the official encoder writes it.
pub(crate) fn golden(name: &str) -> String {
    let mut bodies = include_str!("../golden/vectors.jsonl").lines().filter_map(|line| {
        let mut json = Reader::new(line.as_bytes()).expect("UTF-8");
        let (mut found, mut body) = (false, None);
        json.object().expect("an object");
        while let Some(member) = json.key().expect("a key") {
            match &*member {
                "name" => found = json.text().expect("text").as_deref() == Some(name),
                "json" => body = json.text().expect("text"),
                _ => json.skip().expect("a value"),
            }
        }
        body.filter(|_| found)
    });
    bodies.next().expect("the vector").into_owned()
}
