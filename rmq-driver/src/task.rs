//! The loop: one task that serves all connections of a client.
//!
//! A turn takes in what the streams have ready, gives it to the core, takes out what is to be done, and does it. The core
//! is locked once per turn; streams, timers and wakers are touched without the lock.
//!
//! | what                      | bound                                                               |
//! |---------------------------|---------------------------------------------------------------------|
//! | turns of one poll         | [`TURNS`]; then other tasks have theirs                             |
//! | reads of a stream, a turn | [`READS`], of 64 KiB at most                                        |
//! | before timers fire        | [`READS_BEFORE_TIMERS`]: all that a suspended client finds waiting  |
//! | callers woken, a turn     | [`WAVE`]: what these send is on its way before the next ones begin  |
//! | bytes to write, a stream  | one write of the core, [`Limits::write_batch`](rmq_core::Limits)    |

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use rmq_core::{Event, Input, Instant, Output};

use crate::connection::Io;
use crate::connections::Connections;
use crate::listeners::Question;
use crate::logging::{self, Log};
use crate::read_buffer::ReadBuffer;
use crate::runtime::Runtime;
use crate::shared::{Shared, State, Task};
use crate::stats::DriverStats;
use crate::timer::{Timer, WallClock};
use crate::transport::{Dialer, Transport};

const TURNS: usize = 16;
const READS: usize = 4;
const WAVE: usize = 64;

/// 16 MiB: more than systems keep of one stream.
const READS_BEFORE_TIMERS: usize = 256;

/// The future that is spawned.
pub(crate) struct Loop<R: Runtime> {
    runtime: Arc<R>,
    shared: Arc<Shared>,
    dialer: Dialer,
    connections: Connections<Transport<R::Stream>>,
    timer: Timer<R>,
    wall_clock: WallClock,
    buffer: ReadBuffer,
    inputs: Vec<Input>,
    orders: Vec<Output>,
    wakers: Vec<Waker>,
    /// Those of earlier turns that are yet to be woken.
    line: VecDeque<Waker>,
    /// Bodies of sends that ended with nobody waiting, to be dropped without the lock.
    bodies: Vec<Bytes>,
    /// A clone of the task's own waker, to be left for the handles.
    own_waker: Option<Waker>,
    stats: DriverStats,
    log: Log,
    /// The timer went off when the last poll had no turn left.
    due: bool,
    ended: bool,
}

/// What a turn left behind.
enum Next {
    /// More is to be done at once.
    Turn,
    /// Those that were just woken are to speak first: what they say can then be written all together.
    Yield,
    /// Nothing is to be done until something happens, or it is time for the core's timers.
    Sleep,
    End(Task),
}

impl<R: Runtime> Loop<R> {
    pub(crate) fn new(
        runtime: Arc<R>,
        shared: Arc<Shared>,
        dialer: Dialer,
        now: Instant,
        unix_ms: u64,
    ) -> Self {
        Self {
            runtime,
            shared,
            dialer,
            connections: Connections::new(),
            timer: Timer::new(),
            wall_clock: WallClock::new(now, unix_ms),
            buffer: ReadBuffer::default(),
            inputs: Vec::new(),
            orders: Vec::new(),
            wakers: Vec::new(),
            line: VecDeque::new(),
            bodies: Vec::new(),
            own_waker: None,
            stats: DriverStats::default(),
            log: Log::default(),
            due: false,
            ended: false,
        }
    }

    fn poll_streams(&mut self, due: bool) {
        let Self { buffer, inputs, stats, .. } = self;
        let mut io = Io { buffer, inputs, stats };
        if due {
            self.connections.wake_all();
            self.connections.poll(&mut io, READS_BEFORE_TIMERS);
        } else {
            self.connections.poll(&mut io, READS);
        }
    }

    /// The locked part of a turn. Timers fire only when the runtime's timer went off: where its clock alone says that
    /// it is time, streams may not know yet what arrived before.
    fn step(&mut self, cx: &Context<'_>, due: bool) -> (Next, Option<Instant>) {
        let now = self.runtime.now();
        self.inputs.extend(self.wall_clock.look(now, &*self.runtime));
        if !self.own_waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.own_waker = Some(cx.waker().clone());
        }
        self.stats.turns += 1;
        self.log.begin(now);
        let mut state = self.shared.lock();
        if state.task == Task::Lost {
            return (Next::End(Task::Lost), None);
        }
        for input in self.inputs.drain(..) {
            state.core.handle_input(now, input);
        }
        if due {
            state.core.handle_timeout(now);
        }
        let Self { orders, wakers, bodies, stats, log, .. } = self;
        take_outputs(&mut state, now, orders, (wakers, bodies), (stats, log));
        if state.core.is_shut_down() {
            return (Next::End(Task::Ended), None);
        }
        let timeout = state.core.poll_timeout();
        if !self.orders.is_empty() || self.connections.are_ready() {
            state.task = Task::Awake;
            return (Next::Turn, timeout);
        }
        if self.wakers.len() + self.line.len() > 1 {
            state.task = Task::Awake;
            return (Next::Yield, timeout);
        }
        state.task = Task::Asleep;
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            // The one in its place is kept, to be dropped without the lock.
            std::mem::swap(&mut state.waker, &mut self.own_waker);
        }
        (Next::Sleep, timeout)
    }

    /// Wakes those whose operations ended, first ended first, [`WAVE`] of them at most. One that panics leaves the others to
    /// [`Self::end`].
    fn wake_some(&mut self) {
        self.line.extend(self.wakers.drain(..));
        for _ in 0..WAVE.min(self.line.len()) {
            if let Some(waker) = self.line.pop_front() {
                waker.wake();
            }
        }
    }

    /// Sees to it that the loop is woken for the core's timers and the wall clock; true when it is time already.
    fn arm(&mut self, cx: &mut Context<'_>, timeout: Option<Instant>) -> bool {
        let tell = self.wall_clock.due();
        let at = timeout.map_or(tell, |timeout| timeout.min(tell));
        let armed = self.timer.arm(at, &self.runtime);
        self.stats.timers += u64::from(armed);
        armed && self.timer.poll(cx)
    }

    fn carry_out(&mut self) {
        for order in self.orders.drain(..) {
            match order {
                Output::Connect { conn, address } => {
                    let connecting = self.dialer.connect(&*self.runtime, &address);
                    self.connections.open(conn, connecting);
                }
                Output::Write { conn, data } => {
                    self.connections.write(conn, data);
                }
                Output::Close { conn } => self.connections.close(conn),
                // Events are no orders.
                Output::Event(_) => {}
            }
        }
    }

    /// The last thing that happens, after all streams are closed.
    fn end(&mut self, how: Task) {
        self.ended = true;
        self.connections.clear();
        let mut state = self.shared.lock();
        state.waiters.lose_all(&mut self.wakers, &mut self.bodies);
        state.checks.take_wakers(&mut self.wakers);
        self.wakers.extend(std::mem::take(&mut state.end_wakers).into_values());
        let own_waker = state.waker.take();
        state.task = how;
        drop(state);
        drop(own_waker);
        self.bodies.clear();
        // A panic here, perhaps while another one unwinds, must keep nobody from being woken.
        self.wakers.extend(self.line.drain(..));
        while let Some(waker) = self.wakers.pop() {
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        self.log.end(self.shared.client_id());
    }
}

fn take_outputs(
    state: &mut State,
    now: Instant,
    orders: &mut Vec<Output>,
    (wakers, bodies): (&mut Vec<Waker>, &mut Vec<Bytes>),
    (stats, log): (&mut DriverStats, &mut Log),
) {
    while let Some(output) = state.core.poll_output() {
        match output {
            Output::Event(Event::TransactionCheck { token, producer, message }) => {
                let State { core, checks, .. } = &mut *state;
                let heard = checks.ask(core, now, producer, Question { token, message }, wakers);
                if !heard {
                    stats.checks_unheard += 1;
                    log.unheard();
                }
            }
            Output::Event(event) => {
                log.note(&event);
                if !state.waiters.event(event, wakers, bodies) {
                    stats.notices += 1;
                }
            }
            order => orders.push(order),
        }
    }
    state.stats.add(std::mem::take(stats));
}

impl<R: Runtime> Future for Loop<R> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.stats.polls += 1;
        this.connections.take_woken(cx.waker());
        // First of all: what a stream has not got when the timer went off came too late.
        let mut due = std::mem::take(&mut this.due) | this.timer.poll(cx);
        let mut timeout = None;
        for _ in 0..TURNS {
            this.poll_streams(due);
            let (next, at) = this.step(cx, due);
            timeout = at;
            this.wake_some();
            this.bodies.clear();
            this.carry_out();
            this.log.tell(this.shared.client_id());
            due = match next {
                Next::Turn => false,
                Next::Yield => break,
                Next::Sleep => {
                    if !this.arm(cx, timeout) {
                        return Poll::Pending;
                    }
                    true
                }
                Next::End(how) => {
                    if how == Task::Lost {
                        logging::lost(this.shared.client_id(), true);
                    }
                    this.end(how);
                    return Poll::Ready(());
                }
            };
        }
        // A peer that always has more to say, or callers that have, keep the loop from sleeping, not from its timers.
        this.due = this.arm(cx, timeout);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: Runtime> Drop for Loop<R> {
    /// The runtime ended before the client: nothing can be written any more, and all that waits is told.
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let now = self.runtime.now();
        let mut state = self.shared.lock();
        let (panicked, over) = (state.task == Task::Lost, state.core.is_shut_down());
        if !panicked {
            // So that it holds no message any more. What it says of them, that it was shut down, would be half the truth.
            state.core.shutdown(now, Duration::ZERO);
            // One that was under way already ends when its time is over.
            state.core.handle_timeout(Instant::from_micros(u64::MAX));
            while state.core.poll_output().is_some() {}
        }
        drop(state);
        self.end(Task::Lost);
        if !over {
            logging::lost(self.shared.client_id(), panicked || std::thread::panicking());
        }
    }
}
