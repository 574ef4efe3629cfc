//! The model in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::{ClusterConfig, TopicConfig};

use crate::Failure;

/// What this program is told to be the model by.
pub(crate) const COMMAND: &str = "serve";

const QUEUES: i32 = 4;

pub(crate) fn topic(number: usize) -> String {
    format!("scale-{number}")
}

/// Ends with the handle.
pub(crate) struct Servers {
    child: Child,
    pub(crate) name_server: String,
}

impl Servers {
    pub(crate) fn start(brokers: usize, topics: usize) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([COMMAND, &brokers.to_string(), &topics.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("the model has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        if line.trim().is_empty() {
            return Err("the model did not start; what it says of that stands above".into());
        }
        Ok(Self { child, name_server: line.trim().to_owned() })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// The child: the model, until its input is closed.
pub(crate) fn serve(brokers: usize, topics: usize) -> Result<(), Failure> {
    let cluster = ClusterConfig { port: 0, brokers, retain: 100, ..ClusterConfig::default() };
    let server = Server::start(ServerConfig { cluster, watcher: None })?;
    server.cluster(|cluster| {
        for number in 0..topics {
            cluster.create_topic(&TopicConfig::new(topic(number), QUEUES));
        }
    });
    println!("{}", server.name_server());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    // Its threads need not be waited for.
    std::process::exit(0)
}
