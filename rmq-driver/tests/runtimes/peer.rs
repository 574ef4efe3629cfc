//! A scripted server on a real socket: name server and broker in one.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::BytesMut;
use rmq_driver::rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_driver::rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_driver::rmq_core::proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_driver::rmq_core::proto::header::SendResponseHeader;

use super::route::route;

/// What follows a send. Everything else is answered.
pub(crate) enum Then {
    Answer,
    /// Answer, then close the half that answers go out on.
    AnswerAndSayNoMore,
    /// Answer, then close the half that requests come in on.
    AnswerAndHearNoMore,
    /// Close the connection, whatever lies in it.
    HangUp,
    /// Answer when told to.
    Keep,
    Garbage(&'static [u8]),
}

type Script = dyn Fn(usize, &RemotingCommand) -> Then + Send + Sync;

pub(crate) struct Peer {
    pub(crate) address: String,
    /// Each send received, in order: the number of its connection, and its body's length.
    pub(crate) sends: Receiver<(usize, usize)>,
    kept: Arc<Mutex<Vec<(TcpStream, RemotingCommand)>>>,
}

struct Serving {
    address: String,
    script: Box<Script>,
    sends: Sender<(usize, usize)>,
    kept: Arc<Mutex<Vec<(TcpStream, RemotingCommand)>>>,
    /// Waited for before the broker reads.
    gate: Option<Mutex<Receiver<()>>>,
    /// How much the broker reads at a time.
    read_len: usize,
}

impl Peer {
    pub(crate) fn new(script: impl Fn(usize, &RemotingCommand) -> Then + Send + Sync + 'static) -> Self {
        Self::start(None, 1 << 16, script)
    }

    /// The broker reads nothing before the sender is dropped, and then so much at a time.
    pub(crate) fn gated(read_len: usize) -> (Self, Sender<()>) {
        let (open, gate) = mpsc::channel();
        (Self::start(Some(Mutex::new(gate)), read_len, |_, _| Then::Answer), open)
    }

    fn start(
        gate: Option<Mutex<Receiver<()>>>,
        read_len: usize,
        script: impl Fn(usize, &RemotingCommand) -> Then + Send + Sync + 'static,
    ) -> Self {
        let names = TcpListener::bind("127.0.0.1:0").unwrap();
        let broker = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = names.local_addr().unwrap().to_string();
        let (seen, sends) = mpsc::channel();
        let kept = Arc::<Mutex<Vec<_>>>::default();
        let broker_address = broker.local_addr().unwrap().to_string();
        let script = Box::new(script);
        let serving =
            Serving { address: broker_address, script, sends: seen, kept: kept.clone(), gate, read_len };
        let serving = Arc::new(serving);
        for (listener, is_broker) in [(names, false), (broker, true)] {
            let serving = Arc::clone(&serving);
            thread::spawn(move || {
                for (number, stream) in listener.incoming().enumerate() {
                    let (serving, stream) = (Arc::clone(&serving), stream.unwrap());
                    stream.set_nodelay(true).unwrap();
                    thread::spawn(move || serving.connection(number, &stream, is_broker));
                }
            });
        }
        Self { address, sends, kept }
    }

    /// Answers what was kept on one connection. The answers are in the client's socket when this returns: they go out
    /// at once, since many small writes would wait for acknowledgements that come when the client reads.
    pub(crate) fn release(&self) -> usize {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap());
        let mut out = BytesMut::new();
        for (_, request) in &kept {
            answer(request, 0).encode(HeaderFormat::Json, &mut out).unwrap();
        }
        if let Some((stream, _)) = kept.first() {
            (&*stream).write_all(&out).unwrap();
        }
        kept.len()
    }
}

impl Serving {
    fn connection(&self, number: usize, stream: &TcpStream, is_broker: bool) {
        if let Some(gate) = self.gate.as_ref().filter(|_| is_broker) {
            let _ = gate.lock().unwrap().recv();
        }
        let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
        let mut buffer = vec![0; if is_broker { self.read_len } else { 1 << 16 }];
        while let Ok(len @ 1..) = (&*stream).read(&mut buffer) {
            let mut data = BytesMut::from(&buffer[..len]).freeze();
            while let Some(frame) = decoder.decode(&mut data).expect("the client writes whole frames") {
                let request = RemotingCommand::decode(frame).expect("with readable headers");
                if !self.request(number, stream, request) {
                    return;
                }
            }
        }
    }

    /// Whether the connection goes on.
    fn request(&self, number: usize, mut stream: &TcpStream, request: RemotingCommand) -> bool {
        match RequestCode(request.code) {
            RequestCode::GET_ROUTEINFO_BY_TOPIC => {
                let body = route(&self.address).encode();
                write(stream, &RemotingCommand::response_to(&request, ResponseCode::SUCCESS).with_body(body));
            }
            RequestCode::SEND_MESSAGE_V2 => {
                // Told first: whoever has the answer finds it told.
                let tell = |request: &RemotingCommand| {
                    let _ = self.sends.send((number, request.body.len()));
                };
                let answer = |stream| write(stream, &answer(&request, number as i64));
                match (self.script)(number, &request) {
                    Then::Answer => {
                        tell(&request);
                        answer(stream);
                    }
                    Then::AnswerAndSayNoMore => {
                        tell(&request);
                        answer(stream);
                        let _ = stream.shutdown(Shutdown::Write);
                    }
                    Then::AnswerAndHearNoMore => {
                        tell(&request);
                        answer(stream);
                        let _ = stream.shutdown(Shutdown::Read);
                        // It stays open, and what comes lies in it: a closed half alone would still give that.
                        self.kept.lock().unwrap().push((stream.try_clone().unwrap(), request));
                        return false;
                    }
                    Then::HangUp => return false,
                    Then::Keep => {
                        let kept = (stream.try_clone().unwrap(), request.clone());
                        self.kept.lock().unwrap().push(kept);
                        tell(&request);
                    }
                    Then::Garbage(bytes) => {
                        tell(&request);
                        let _ = stream.write_all(bytes);
                    }
                }
            }
            _ => write(stream, &RemotingCommand::response_to(&request, ResponseCode::SUCCESS)),
        }
        true
    }
}

fn answer(request: &RemotingCommand, offset: i64) -> RemotingCommand {
    let header = SendResponseHeader {
        message_id: "7F00000100002A9F0000000000000000".into(),
        queue_id: 0,
        queue_offset: offset,
        transaction_id: None,
        batch_unique_id: None,
        recall_handle: None,
        region_id: None,
        trace_on: None,
    };
    RemotingCommand::response_to(request, ResponseCode::SUCCESS).with_ext(&header)
}

/// The client may be gone.
fn write(mut stream: &TcpStream, answer: &RemotingCommand) {
    let mut out = BytesMut::new();
    answer.encode(HeaderFormat::Json, &mut out).unwrap();
    let _ = stream.write_all(&out);
}
