//! TLS: a client that trusts a CA of its own, and shows a certificate to brokers that want one.
//!
//! It needs a cluster that speaks TLS: `cargo run -p rmq-tokio --features tls --example tls -- 127.0.0.1:9876 ca.pem`, and two more
//! arguments, `client.pem client.key`, for a certificate of the client. `system` in place of a file stands for the system's roots.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{env, process::ExitCode};

use common::Failure;
use rmq_tokio::{Client, Message, TlsConfig};

const TOPIC: &str = "ExampleTls";
const USAGE: &str =
    "arguments: NAME_SERVER, then CA.pem or `system`, then CLIENT.pem and CLIENT.key or neither";

async fn run() -> Result<(), Failure> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (name_server, roots, certificate) = match &arguments[..] {
        [name_server, roots] => (name_server, roots, None),
        [name_server, roots, certificate, key] => (name_server, roots, Some((certificate, key))),
        _ => return Err(USAGE.into()),
    };
    let mut tls = TlsConfig::builder();
    if roots != "system" {
        tls = tls.roots_file(roots);
    }
    if let Some((certificate, key)) = certificate {
        tls = tls.client_certificate_files(certificate, key);
    }
    // Files are read here: whatever is wrong with them is known before anything is connected.
    let tls = tls.build()?;

    let client = Client::builder().name_server(name_server).tls(tls).start()?;
    let producer = client.producer("example-tls")?;
    let sent = producer.send(Message::new(TOPIC, "nobody reads this on its way")).await?;
    println!("{}: {} in {} at offset {}", sent.status, sent.message_id, sent.queue, sent.queue_offset);
    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
