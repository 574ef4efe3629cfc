//! What a client counts, for Prometheus: served at `/metrics` while messages are sent.
//!
//! `cargo run -p rmq-tokio --example metrics` sends a few on a model, asks itself once over HTTP, prints the text and ends;
//! `cargo run -p rmq-tokio --example metrics -- 9100` serves http://127.0.0.1:9100/metrics and sends until it is stopped.
//! `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;
#[path = "common/prometheus.rs"]
mod prometheus;

use std::{env, io, process::ExitCode, time::Duration};

use common::{Cluster, Failure};
use rmq_tokio::{Client, Message};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{interval, timeout};

const TOPIC: &str = "ExampleMetrics";

/// Time for a request to arrive: whoever connects and says nothing is let go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longest request that is read; a scrape has a few hundred bytes.
const MAX_REQUEST: usize = 8 * 1024;

/// All that there is to exporting.
fn text(client: &Client) -> String {
    let mut out = String::new();
    prometheus::render(&mut out, "rmq", client.client_id(), client.stats().metrics());
    prometheus::render(&mut out, "rmq_loop", client.client_id(), client.driver_stats().metrics());
    out
}

/// Answers one request of HTTP/1.1, then closes.
async fn answer(stream: &mut TcpStream, client: &Client) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|four| four == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let (status, body) = match request.starts_with(b"GET /metrics ") {
        true => ("200 OK", text(client)),
        false => ("404 Not Found", "it is at /metrics\n".to_owned()),
    };
    let (kind, len) = (prometheus::CONTENT_TYPE, body.len());
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

async fn serve(listener: TcpListener, client: Client) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let client = client.clone();
        // One that fails is the other side's loss.
        tokio::spawn(async move { timeout(PATIENCE, answer(&mut stream, &client)).await });
    }
}

/// What a scrape gets.
async fn scrape(listener: TcpListener, client: &Client) -> Result<String, Failure> {
    let address = listener.local_addr()?;
    let server = tokio::spawn(serve(listener, client.clone()));
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    server.abort();
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200 ") => Ok(body.to_owned()),
        _ => Err(format!("not an answer with metrics: {answer}").into()),
    }
}

async fn run() -> Result<(), Failure> {
    let port = env::args().nth(1).map(|port| port.parse::<u16>()).transpose()?;
    let cluster = Cluster::open()?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-metrics")?;
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    for number in 0..10 {
        producer.send(Message::new(TOPIC, format!("message {number}"))).await?;
    }
    if port.is_none() {
        print!("{}", scrape(listener, &client).await?);
        client.shutdown().await?;
        return Ok(());
    }
    println!("metrics are at http://{}/metrics", listener.local_addr()?);
    tokio::spawn(serve(listener, client.clone()));
    let mut ticks = interval(Duration::from_millis(100));
    loop {
        ticks.tick().await;
        if let Err(error) = producer.send(Message::new(TOPIC, "tick")).await {
            eprintln!("{error}");
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
