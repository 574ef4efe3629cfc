//! A client of one server that says what it is told to, frame by frame.

use bytes::{Bytes, BytesMut};
use rmq_tokio::HeaderFormat;
use rmq_tokio::rmq_core::proto::command::RemotingCommand;
use rmq_tokio::rmq_core::proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_tokio::rmq_core::proto::sign::Credentials;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Where a cluster is, and who asks.
pub(crate) struct Place {
    pub(crate) name_server: String,
    pub(crate) credentials: Option<Credentials>,
}

/// A connection.
pub(crate) struct Peer {
    stream: TcpStream,
    credentials: Option<Credentials>,
    decoder: FrameDecoder,
    unread: Bytes,
    opaque: i32,
}

impl Peer {
    /// To one of the cluster's servers.
    pub(crate) async fn connect(place: &Place, address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
        let credentials = place.credentials.clone();
        Self {
            stream,
            credentials,
            decoder: FrameDecoder::new(MAX_FRAME_LEN),
            unread: Bytes::new(),
            opaque: 0,
        }
    }

    /// This end's address, as the server writes it.
    #[allow(dead_code, reason = "not every test that shares this file asks")]
    pub(crate) fn own_address(&self) -> String {
        self.stream.local_addr().unwrap().to_string()
    }

    /// Puts a request and waits for its answer. What the server asks meanwhile is passed over.
    pub(crate) async fn ask(&mut self, request: RemotingCommand) -> RemotingCommand {
        self.opaque += 1;
        let mut request = RemotingCommand { opaque: self.opaque, ..request };
        if let Some(credentials) = &self.credentials {
            let fields = std::mem::take(&mut request.ext);
            request = request.with_ext(&credentials.sign(&fields, &[]));
        }
        let mut frame = BytesMut::new();
        request.encode(HeaderFormat::Json, &mut frame).unwrap();
        self.stream.write_all(&frame).await.unwrap();
        loop {
            let command = self.next().await;
            if command.is_response() && command.opaque == self.opaque {
                return command;
            }
        }
    }

    async fn next(&mut self) -> RemotingCommand {
        loop {
            if let Some(frame) = self.decoder.decode(&mut self.unread).unwrap() {
                return RemotingCommand::decode(frame).unwrap();
            }
            let mut buffer = BytesMut::with_capacity(64 * 1024);
            let len = self.stream.read_buf(&mut buffer).await.unwrap();
            assert_ne!(len, 0, "the server closed the connection");
            self.unread = buffer.freeze();
        }
    }
}
