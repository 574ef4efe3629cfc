//! Names of hosts, for runtimes that look none up themselves.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

use rmq_core::Address;

/// Most lookups of this process at a time: a resolver that hangs holds a thread per attempt to connect.
const MOST: usize = 64;

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// For a [`Runtime::connect`](crate::Runtime::connect) whose runtime has no resolver: asks the system's, on a thread that ends
/// with the answer. A host that is a number takes none.
///
/// # Cancel safety
///
/// Dropping the future leaves the thread alone until the system answers it.
///
/// # Errors
///
/// What the system says of the name; no thread; or 64 lookups that are under way already.
pub async fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = address.host().parse() {
        return Ok(vec![SocketAddr::new(ip, address.port())]);
    }
    let place = Place::take()?;
    let lookup = Arc::new(Lookup::default());
    let (asking, address) = (Arc::clone(&lookup), address.clone());
    thread::Builder::new().name("rmq-resolve".to_owned()).spawn(move || {
        let resolved = (address.host(), address.port()).to_socket_addrs();
        asking.end(resolved.map(Iterator::collect));
        drop(place);
    })?;
    poll_fn(|cx| {
        let mut progress = lookup.lock();
        let Some(resolved) = progress.resolved.take() else {
            progress.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(resolved)
    })
    .await
}

/// What a lookup's thread and its future have in common.
#[derive(Default)]
struct Lookup(Mutex<Progress>);

#[derive(Default)]
struct Progress {
    resolved: Option<io::Result<Vec<SocketAddr>>>,
    waker: Option<Waker>,
}

impl Lookup {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, resolved: io::Result<Vec<SocketAddr>>) {
        let mut progress = self.lock();
        progress.resolved = Some(resolved);
        let waker = progress.waker.take();
        drop(progress);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// One of the [`MOST`] places, given back when it is dropped.
struct Place;

impl Place {
    fn take() -> io::Result<Self> {
        if UNDER_WAY.fetch_add(1, Ordering::Relaxed) < MOST {
            return Ok(Self);
        }
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        let text =
            format!("{MOST} hosts are being looked up already: the system's resolver is slow or hangs");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Wake};

    use super::*;

    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn resolved(address: &str) -> io::Result<Vec<SocketAddr>> {
        let address = address.parse().unwrap();
        let waker = Arc::new(Unpark(thread::current())).into();
        let mut future = pin!(resolve(&address));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(resolved) => return resolved,
                Poll::Pending => thread::park(),
            }
        }
    }

    #[test]
    fn names_take_a_place_and_numbers_none() {
        for name in ["127.0.0.1:9876", "localhost:9876"] {
            let found = resolved(name).unwrap();
            assert!(found.iter().all(|peer| peer.ip().is_loopback() && peer.port() == 9876), "{found:?}");
            assert!(!found.is_empty());
        }
        assert!(resolved("no-such-host.invalid:1").is_err());
        let places: Vec<_> = std::iter::from_fn(|| Place::take().ok()).take(MOST + 1).collect();
        assert!((MOST - 2..=MOST).contains(&places.len()), "{} are left", places.len());
        assert_eq!(resolved("127.0.0.1:1").unwrap().len(), 1);
        let error = resolved("localhost:1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{error}");
        drop(places);
        assert!(resolved("localhost:1").is_ok());
    }
}
