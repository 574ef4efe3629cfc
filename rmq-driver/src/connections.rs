//! All streams of a loop, and which of them are to be looked at.

use std::collections::BTreeMap;
use std::task::Waker;

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::{ConnId, WriteData};

use crate::connection::{Connecting, Connection, Io};
use crate::ready::Ready;

pub(crate) struct Connections<S> {
    all: BTreeMap<ConnId, Connection<S>>,
    /// Those to be polled in the next turn.
    queue: Vec<ConnId>,
    ready: Ready,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connections<S> {
    pub(crate) fn new() -> Self {
        Self { all: BTreeMap::new(), queue: Vec::new(), ready: Ready::default() }
    }

    pub(crate) fn open(&mut self, conn: ConnId, connecting: Connecting<S>) {
        let mut connection = Connection::new(conn, connecting, self.ready.waker(conn));
        enqueue(conn, &mut connection, &mut self.queue);
        self.all.insert(conn, connection);
    }

    pub(crate) fn write(&mut self, conn: ConnId, data: WriteData) {
        if let Some(connection) = self.all.get_mut(&conn) {
            connection.write(data);
            enqueue(conn, connection, &mut self.queue);
        }
    }

    pub(crate) fn close(&mut self, conn: ConnId) {
        if let Some(connection) = self.all.remove(&conn) {
            connection.close();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    /// Takes note of the streams that woke, and of the task that they are to wake.
    pub(crate) fn take_woken(&mut self, task: &Waker) {
        let Self { all, queue, ready } = self;
        ready.take(task, |conn| {
            if let Some(connection) = all.get_mut(&conn) {
                connection.woken();
                enqueue(conn, connection, queue);
            }
        });
    }

    /// Has all streams looked at, woken or not.
    pub(crate) fn wake_all(&mut self) {
        for (conn, connection) in &mut self.all {
            connection.woken();
            enqueue(*conn, connection, &mut self.queue);
        }
    }

    /// Whether polling again, without being woken, may bring something.
    pub(crate) fn are_ready(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Does what the streams can do now, with so many reads of each at most.
    pub(crate) fn poll(&mut self, io: &mut Io<'_>, reads: usize) {
        let Self { all, queue, .. } = self;
        queue.retain(|conn| {
            let Some(connection) = all.get_mut(conn) else { return false };
            if !connection.poll(io, reads) {
                all.remove(conn);
                return false;
            }
            connection.is_queued = connection.is_ready();
            connection.is_queued
        });
    }
}

fn enqueue<S>(conn: ConnId, connection: &mut Connection<S>, queue: &mut Vec<ConnId>) {
    if !std::mem::replace(&mut connection.is_queued, true) {
        queue.push(conn);
    }
}
