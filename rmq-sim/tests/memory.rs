//! The streams in memory, polled by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite, IoSlice};
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_sim::memory::{MemoryStream, ModelNetwork};
use rmq_sim::model::{ClusterConfig, Fault};
use support::{encoded, route_request, send_header, send_request, with_opaque};

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A stream, and how often it woke its task.
struct Polled {
    stream: MemoryStream,
    woken: Arc<Woken>,
    waker: Waker,
}

impl Polled {
    fn new(stream: MemoryStream) -> Self {
        let woken = Arc::new(Woken::default());
        Self { stream, waker: Arc::clone(&woken).into(), woken }
    }

    fn write(&mut self, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(&mut Context::from_waker(&self.waker), bytes)
    }

    fn read(&mut self, len: usize) -> Poll<std::io::Result<Vec<u8>>> {
        let mut buf = vec![0; len];
        let read = Pin::new(&mut self.stream).poll_read(&mut Context::from_waker(&self.waker), &mut buf);
        read.map_ok(|len| buf[..len].to_vec())
    }

    fn read_now(&mut self, len: usize) -> Vec<u8> {
        match self.read(len) {
            Poll::Ready(bytes) => bytes.unwrap(),
            Poll::Pending => panic!("nothing to read"),
        }
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::SeqCst)
    }
}

fn network() -> (ModelNetwork, Polled) {
    let network = ModelNetwork::new(ClusterConfig::default(), || support::NOW);
    let address = network.cluster(|cluster| cluster.broker_address(0).to_owned());
    let stream = Polled::new(network.connect(&address).unwrap());
    (network, stream)
}

fn decoded(bytes: Vec<u8>) -> RemotingCommand {
    let frame = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut Bytes::from(bytes)).unwrap().unwrap();
    RemotingCommand::decode(frame).unwrap()
}

#[test]
fn an_answer_is_there_when_its_request_is_written() {
    let (network, mut stream) = network();
    assert!(stream.read(100).is_pending());
    let request = encoded(&send_request(&send_header("T"), "x"), HeaderFormat::Json);
    let (first, rest) = request.split_at(10);
    assert!(matches!(stream.write(first), Poll::Ready(Ok(10))));
    assert_eq!(stream.woken(), 0);
    let slices = [IoSlice::new(&rest[..5]), IoSlice::new(&[]), IoSlice::new(&rest[5..])];
    let written =
        Pin::new(&mut stream.stream).poll_write_vectored(&mut Context::from_waker(&stream.waker), &slices);
    assert!(matches!(written, Poll::Ready(Ok(len)) if len == rest.len()));
    assert_eq!(stream.woken(), 1);
    let mut answer = stream.read_now(3);
    answer.extend(stream.read_now(10_000));
    assert_eq!(decoded(answer).code, 0);
    assert!(stream.read(100).is_pending());
    assert_eq!(
        network.cluster(|cluster| cluster.stored().next().unwrap().store_timestamp),
        support::NOW as i64
    );
}

#[test]
fn a_reader_that_does_not_read_stops_its_writer() {
    let (_network, mut stream) = network();
    let request = encoded(&send_request(&send_header("T"), "x"), HeaderFormat::Json);
    let many: Vec<u8> = std::iter::repeat_n(request, 500).flatten().collect();
    let mut written = 0;
    while let Poll::Ready(result) = stream.write(&many) {
        written += result.unwrap();
        assert!(written < 100 * 1024 * 1024);
    }
    assert_eq!(stream.woken(), 0);
    let mut read = 0;
    while stream.woken() == 0 {
        read += stream.read_now(64 * 1024).len();
    }
    assert!(read > 0 && read < 2 * 1024 * 1024, "{read}");
    assert!(stream.write(&many).is_ready());
}

#[test]
fn nobody_listens() {
    let (network, _stream) = network();
    assert_eq!(network.connect("127.0.0.1:1").unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let address = network.cluster(|cluster| cluster.name_server().to_owned());
    assert!(network.cluster(|cluster| cluster.fault(&address, Fault::Refuse)));
    assert_eq!(network.connect(&address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_close_by_the_model_ends_reads_and_writes() {
    let (network, mut stream) = network();
    let request = encoded(&with_opaque(route_request("T"), 1), HeaderFormat::Json);
    assert!(stream.write(&request).is_ready());
    let address = network.cluster(|cluster| cluster.broker_address(0).to_owned());
    network.cluster(|cluster| cluster.close_connections(&address));
    assert_eq!(decoded(stream.read_now(10_000)).code, 3, "what was answered is still there");
    assert_eq!(stream.read_now(10), b"", "then the end");
    assert!(matches!(stream.write(b"x"), Poll::Ready(Err(error)) if error.kind() == ErrorKind::BrokenPipe));
}

#[test]
fn a_waiting_reader_is_woken_by_the_close() {
    let (network, mut stream) = network();
    assert!(stream.read(10).is_pending());
    let address = network.cluster(|cluster| cluster.broker_address(0).to_owned());
    network.cluster(|cluster| cluster.close_connections(&address));
    assert_eq!(stream.woken(), 1);
    assert_eq!(stream.read_now(10), b"");
}

#[test]
fn dropping_or_closing_disconnects() {
    let (network, stream) = network();
    let address = network.cluster(|cluster| cluster.broker_address(0).to_owned());
    let open = |network: &ModelNetwork| network.cluster(|cluster| cluster.open_connections(&address));
    let mut other = Polled::new(network.connect(&address).unwrap());
    assert_eq!(open(&network), 2);
    drop(stream);
    assert_eq!(open(&network), 1);
    let closed = Pin::new(&mut other.stream).poll_close(&mut Context::from_waker(&other.waker));
    assert!(matches!(closed, Poll::Ready(Ok(()))));
    assert_eq!(open(&network), 0);
    assert_eq!(other.read_now(10), b"");
}
