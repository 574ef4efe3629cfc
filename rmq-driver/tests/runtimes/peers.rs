//! Peers that do what no model does.

use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use rmq_driver::rmq_core::{CloseCause, RequestError};
use rmq_driver::{
    Client, CloseOnTimeout, Error, InFlight, Message, ProducerConfig, RejectReason, Runtime, SendErrorKind,
    SendOptions,
};

use super::Host;
use super::peer::{Peer, Then};
use super::tools::{PATIENCE, Tasks, assert_nothing_left, begin, client, message, until};

const MIB: usize = 1 << 20;

/// An address is connected to once in 100 ms at most: waits for that long.
async fn until_a_connect_may_begin<R: Runtime + Default>() {
    let runtime = R::default();
    runtime.sleep_until(runtime.now() + Duration::from_millis(100)).await;
}

pub(crate) fn one_that_says_no_more_gives_its_answer_and_is_replaced<H: Host>(host: &H) {
    let peer = Peer::new(|number, _| if number == 0 { Then::AnswerAndSayNoMore } else { Then::Answer });
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&peer.address);
        let first = producer.send(message("first")).await.unwrap();
        until::<H::Runtime>("the connection is closed", || client.stats().disconnects == 1).await;
        until_a_connect_may_begin::<H::Runtime>().await;
        let second = producer.send(message("second")).await.unwrap();
        assert_eq!((first.queue_offset, first.attempts, second.queue_offset, second.attempts), (0, 1, 1, 1));
        assert_nothing_left(&client.stats());
    });
}

/// It has answered all that it heard. The rest is lost in its socket, and only time can tell.
pub(crate) fn one_that_hears_no_more_costs_what_it_did_not_hear<H: Host>(host: &H) {
    let peer = Peer::new(|number, request| match &*request.body {
        b"last" if number == 0 => Then::AnswerAndHearNoMore,
        _ => Then::Answer,
    });
    host.block_on(async {
        let builder = Client::<H::Runtime>::builder().name_server(&peer.address).compression(None);
        let client = builder.close_on_timeout(CloseOnTimeout::Java).start().unwrap();
        let config = ProducerConfig::new("group").attempts(NonZeroU32::MIN);
        let producer = client.producer_with(config.send_timeout(PATIENCE)).unwrap();
        producer.send(message("first")).await.unwrap();
        producer.send(message("last")).await.unwrap();
        let options = SendOptions::default().timeout(Duration::from_millis(300));
        let error = producer.send_with(message("unheard"), options).await.unwrap_err();
        assert!(error.may_have_been_stored(), "for all that is known: {error}");
        let Error::Send(error) = error else { panic!("{error:?}") };
        let timeout = &error.attempts()[0].error;
        assert!(matches!(timeout, RequestError::Timeout { written: true, .. }), "{timeout:?}");
        let after = producer.send(message("after")).await.unwrap();
        assert_eq!(after.queue_offset, 1, "on a new connection");
        let heard: Vec<_> = peer.sends.try_iter().map(|(_, len)| len).collect();
        assert_eq!(heard, ["first", "last", "after"].map(str::len));
        assert_nothing_left(&client.stats());
    });
}

pub(crate) fn one_that_hangs_up_is_asked_again<H: Host>(host: &H) {
    let peer = Peer::new(|number, request| match &*request.body {
        b"warm" => Then::Answer,
        _ if number == 0 => Then::HangUp,
        _ => Then::Answer,
    });
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&peer.address);
        producer.send(message("warm")).await.unwrap();
        // It reads one of them, or some, and leaves the rest in its socket.
        let sends = (0..50).map(|_| producer.send(message(vec![b'x'; 10_000])));
        for sent in Tasks::start::<H::Runtime, _>(sends).join::<H::Runtime>().await {
            let sent = sent.unwrap();
            assert!((1..=2).contains(&sent.attempts), "{sent:?}");
        }
        assert_nothing_left(&client.stats());
        assert_eq!(client.stats().disconnects, 1);
    });
}

pub(crate) fn one_that_speaks_something_else_loses_its_connection_only<H: Host>(host: &H) {
    let peer = Peer::new(|_, _| Then::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    host.block_on(async {
        let (client, _) = client::<H::Runtime>(&peer.address);
        let config = ProducerConfig::new("once").attempts(NonZeroU32::MIN).send_timeout(PATIENCE);
        let producer = client.producer_with(config).unwrap();
        let error = producer.send(message("x")).await.unwrap_err();
        assert!(error.may_have_been_stored());
        let Error::Send(error) = error else { panic!("{error:?}") };
        let cause = match &error.attempts()[0].error {
            RequestError::Closed { cause: cause @ CloseCause::Frame(_), written: true } => cause.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(cause.contains("1213486160"), "the length that HTTP spells: {cause}");
        let stats = client.stats();
        assert_eq!((stats.protocol_errors, stats.connections), (1, 1), "the name server's lives on");
    });
}

/// As much as sockets hold, or nearly.
fn large() -> Message {
    message(vec![b'x'; 4 * MIB])
}

/// It reads nothing at first, and then little at a time. Meanwhile what is under way stays within its limit, and the other
/// connection works.
pub(crate) fn one_that_reads_slowly_gets_all<H: Host>(host: &H) {
    let (peer, gate) = Peer::gated(1_000);
    host.block_on(async {
        let (client, _) = client::<H::Runtime>(&peer.address);
        let limited = ProducerConfig::new("limited").send_timeout(PATIENCE);
        let producer = client.producer_with(limited.in_flight(InFlight::new().max_messages(2))).unwrap();
        let others = [(); 3].map(|()| message(vec![b'x'; 10_000]));
        let sends = [large()].into_iter().chain(others).map(|message| Box::pin(producer.send(message)));
        let mut sends: Vec<_> = sends.collect();
        for send in &mut sends {
            assert!(begin(send).await.is_pending());
        }
        let sends = Tasks::start::<H::Runtime, _>(sends);
        until::<H::Runtime>("a write is stuck", || client.driver_stats().blocked_writes > 0).await;
        let stats = client.stats();
        assert_eq!((stats.permits, stats.in_line), (2, 2));
        let refused = producer.try_send(message("x")).await;
        assert!(matches!(refused, Err(Error::Rejected(RejectReason::NoPermit { .. }))), "{refused:?}");
        assert_eq!(producer.queues("others").await.unwrap().len(), 1, "the name server answers");
        assert!(peer.sends.try_recv().is_err());
        drop(gate);
        for sent in sends.join::<H::Runtime>().await {
            assert_eq!(sent.unwrap().attempts, 1);
        }
        assert_nothing_left(&client.stats());
    });
}

pub(crate) fn one_that_stops_reading_is_given_up<H: Host>(host: &H) {
    let (peer, _gate) = Peer::gated(1_000);
    host.block_on(async {
        let after = Duration::from_millis(200);
        let builder = Client::<H::Runtime>::builder().name_server(&peer.address).compression(None);
        let client = builder.write_stall(after).start().unwrap();
        let config = ProducerConfig::new("group").attempts(NonZeroU32::MIN).send_timeout(PATIENCE);
        let producer = client.producer_with(config).unwrap();
        let sends = Tasks::start::<H::Runtime, _>((0..4).map(|_| producer.send(large())));
        for sent in sends.join::<H::Runtime>().await {
            let Err(Error::Send(error)) = sent else { panic!("{sent:?}") };
            let stalled = &error.attempts()[0].error;
            let RequestError::Closed { cause, .. } = stalled else { panic!("{stalled:?}") };
            assert_eq!(*cause, CloseCause::WriteStall { after });
        }
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.disconnects, stats.connections), (1, 1), "the name server's lives on");
        assert!(client.driver_stats().blocked_writes > 0);
    });
}

/// An address whose connections never open: its listener takes no more, and does not say so.
fn black_hole() -> (socket2::Socket, SocketAddr, Vec<TcpStream>) {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(1).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
        waiting.push(stream);
    }
    (listener, address, waiting)
}

pub(crate) fn one_that_never_accepts_is_given_up<H: Host>(host: &H) {
    let (_listener, address, _waiting) = black_hole();
    host.block_on(async {
        let after = Duration::from_millis(200);
        let builder = Client::<H::Runtime>::builder().name_server(address).connect_timeout(after);
        let client = builder.start().unwrap();
        let options = SendOptions::default().timeout(Duration::from_millis(300));
        let error = client.producer("group").unwrap().send_with(message("x"), options).await.unwrap_err();
        assert!(error.is_retryable() && !error.may_have_been_stored());
        assert!(error.to_string().contains(&address.to_string()), "{error}");
        let Error::Send(error) = error else { panic!("{error:?}") };
        let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{error:?}") };
        let cause = CloseCause::ConnectTimeout { after };
        assert_eq!(servers[0].error, Some(RequestError::Connect(cause)));
        assert!(error.took() < Duration::from_secs(2), "{error:?}");
    });
}

/// Dropped while some of them are written, one is in part and some are not at all.
pub(crate) fn bug_09_frames_are_whole_whatever_is_dropped<H: Host>(host: &H) {
    let (peer, gate) = Peer::gated(1 << 16);
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&peer.address);
        let body = Bytes::from(vec![b'x'; MIB]);
        let mut sends: Vec<_> = (0..16).map(|_| Box::pin(producer.send(message(body.clone())))).collect();
        for send in &mut sends {
            assert!(begin(send).await.is_pending());
        }
        until::<H::Runtime>("a write is stuck", || client.driver_stats().blocked_writes > 0).await;
        drop(sends);
        assert_eq!(client.stats().cancelled, 16);
        drop(gate);
        let sent = producer.send(message("after")).await.unwrap();
        assert_eq!(sent.attempts, 1);
        let lens: Vec<_> = peer.sends.try_iter().map(|(_, len)| len).collect();
        let (last, large) = lens.split_last().unwrap();
        assert_eq!(*last, "after".len());
        assert!((1..16).contains(&large.len()), "{lens:?}");
        assert!(large.iter().all(|len| *len == body.len()));
        until::<H::Runtime>("nothing is waited for", || client.stats().awaited == 0).await;
        assert_nothing_left(&client.stats());
    });
}

pub(crate) fn late_answers_to_dropped_sends_are_nobodys<H: Host>(host: &H) {
    let peer = Peer::new(|_, request| if request.body.len() == 1 { Then::Keep } else { Then::Answer });
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&peer.address);
        producer.send(message("warm")).await.unwrap();
        let mut sends: Vec<_> = (0..50).map(|_| Box::pin(producer.send(message("x")))).collect();
        for send in &mut sends {
            assert!(begin(send).await.is_pending());
        }
        let mut seen = 0;
        until::<H::Runtime>("all are with the broker", || {
            seen += peer.sends.try_iter().count();
            seen == 1 + 50
        })
        .await;
        drop(sends);
        assert_eq!(peer.release(), 50);
        let after = producer.send(message("after")).await.unwrap();
        assert_eq!((after.attempts, after.queue_offset), (1, 0), "on the same connection");
        let stats = client.stats();
        assert_nothing_left(&stats);
        assert_eq!((stats.cancelled, stats.unknown_answers), (50, 50));
    });
}

pub(crate) fn what_is_dropped_at_once_is_not_written_and_what_is_detached_is<H: Host>(host: &H) {
    let peer = Peer::new(|_, _| Then::Answer);
    host.block_on(async {
        let (client, producer) = client::<H::Runtime>(&peer.address);
        drop(producer.send(message("before a connection")));
        producer.send(message("warm")).await.unwrap();
        drop(producer.send(message("never polled")));
        producer.send(message("detached")).detach().unwrap();
        producer.send_oneway(message("oneway!")).await.unwrap();
        until::<H::Runtime>("all is done", || client.stats().operations == 0).await;
        let mut lens = Vec::new();
        until::<H::Runtime>("the last one arrived", || {
            lens.extend(peer.sends.try_iter().map(|(_, len)| len));
            lens == ["warm", "detached", "oneway!"].map(str::len)
        })
        .await;
    });
}
