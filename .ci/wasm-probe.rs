//! A module that uses the client as a host without a system would. Every value comes from the host, so that nothing
//! can be computed while compiling, and everything that comes out goes into what is returned.

use std::cell::RefCell;

use rmq_core::proto::message::Message;
use rmq_core::{
    Client, ClientConfig, CloseReason, ConnId, Identity, Input, Instant, Output, ProducerConfig, ProducerId,
    SendOptions, Start,
};

struct Probe {
    client: Client,
    producer: ProducerId,
    conn: Option<ConnId>,
}

thread_local! {
    static PROBE: RefCell<Option<Probe>> = const { RefCell::new(None) };
}

/// Makes the client; 0 when it could not be made.
#[unsafe(no_mangle)]
pub extern "C" fn start(now: u64, unix_ms: u64, seed: u64, pid: u32) -> u32 {
    let Ok(config) = ClientConfig::builder().name_server(&format!("127.0.0.1:{}", pid % 60_000 + 1)).build()
    else {
        return 0;
    };
    let now = Instant::from_micros(now);
    let identity = Identity { ip: [127, 0, 0, 1].into(), pid };
    let mut client = Client::new(config, Start { now, unix_ms, seed, identity });
    let Ok(producer) = client.add_producer(now, ProducerConfig::new(format!("group-{pid}"))) else {
        return 0;
    };
    PROBE.set(Some(Probe { client, producer, conn: None }));
    1
}

/// Sends a message made of `byte`; 0 when it was refused.
#[unsafe(no_mangle)]
pub extern "C" fn send(now: u64, byte: u32, len: u32) -> u32 {
    PROBE.with_borrow_mut(|probe| {
        let Some(probe) = probe else { return 0 };
        let body = vec![byte as u8; len as usize];
        let message = Message::new(format!("topic-{byte}"), body).tag(format!("tag-{len}"));
        let Ok(prepared) = message.prepare(probe.client.message_rules()) else {
            return 0;
        };
        let now = Instant::from_micros(now);
        u32::from(probe.client.send(now, probe.producer, prepared, SendOptions::default()).is_ok())
    })
}

/// Feeds one byte to the connection that was ordered last, fires timers, drains; returns what came out, mixed.
#[unsafe(no_mangle)]
pub extern "C" fn turn(now: u64, byte: u32) -> u64 {
    PROBE.with_borrow_mut(|probe| {
        let Some(Probe { client, conn, .. }) = probe else {
            return 0;
        };
        let now = Instant::from_micros(now);
        if let Some(conn) = *conn {
            client.handle_input(now, Input::Received { conn, data: vec![byte as u8].into() });
        }
        client.handle_timeout(now);
        let mut mixed = client.poll_timeout().map_or(0, Instant::as_micros);
        while let Some(output) = client.poll_output() {
            mixed = mixed.rotate_left(7) ^ format!("{output:?}").len() as u64;
            match output {
                Output::Connect { conn: opened, .. } => {
                    *conn = Some(opened);
                    client.handle_input(now, Input::Connected { conn: opened });
                }
                Output::Write { conn, data } => {
                    mixed ^= data.segments().iter().flatten().map(|byte| u64::from(*byte)).sum::<u64>();
                    client.handle_input(now, Input::Written { conn, bytes: data.len() });
                }
                Output::Close { conn } => {
                    client.handle_input(now, Input::Closed { conn, reason: CloseReason::PeerClosed });
                }
                Output::Event(_) => {}
            }
        }
        mixed
    })
}
