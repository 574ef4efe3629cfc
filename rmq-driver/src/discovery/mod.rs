//! Name servers that are not given to the builder but looked up, again and again (producer §2.4).

mod address_server;
mod error;
mod http;
mod url;

pub(crate) use address_server::{AddressServer, write_all};
pub use error::{AddressServerProblem, NameServerSourceError};
pub(crate) use url::Url;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use rmq_core::Address;

use crate::logging::Source;
use crate::runtime::Runtime;
use crate::shared::{EndKey, Shared};

/// From the first look to the second, and between looks while there is no list at all.
const SECOND_LOOK: Duration = Duration::from_secs(10);
/// Between two looks.
const PERIOD: Duration = Duration::from_secs(120);

/// What a look comes to.
pub type Fetched = Result<Vec<Address>, NameServerSourceError>;

/// Where a client's list of name servers comes from: [`ClientBuilder::name_server_source`] takes one, for lists that a
/// configuration service or a cluster's own registry holds.
///
/// The client asks at its start, 10 s later and then each 120 s, one question at a time; as long as it has no list, each
/// 10 s. An answer that is the same as the last one changes nothing, and after a failure the list stays as it is.
///
/// [`ClientBuilder::name_server_source`]: crate::ClientBuilder::name_server_source
pub trait NameServerSource: Send + 'static {
    /// The list as it is now. The client waits for as long as it takes; when the client ends, the future is dropped.
    ///
    /// # Errors
    ///
    /// There is no list to be had now. [`NameServerSourceError::other`] makes an error of any text.
    fn fetch(&mut self) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>>;
}

/// Asks a source for as long as its client lives.
pub(crate) async fn watch<R: Runtime>(
    runtime: Arc<R>,
    shared: Arc<Shared>,
    mut source: Box<dyn NameServerSource>,
) {
    let mut life = Life { shared, key: None };
    let mut last = None;
    let mut told = Source::default();
    let mut is_first = true;
    loop {
        let Some(fetched) = life.during(source.fetch()).await else { return };
        life.shared.fetched(fetched, &mut last);
        told.looked(&life.shared, runtime.now());
        let soon = std::mem::take(&mut is_first) || last.is_none();
        let next = runtime.now() + if soon { SECOND_LOOK } else { PERIOD };
        if life.during(runtime.sleep_until(next)).await.is_none() {
            return;
        }
    }
}

/// That of the client, as seen by a task beside its loop.
struct Life {
    shared: Arc<Shared>,
    key: Option<EndKey>,
}

impl Life {
    /// Does something, unless the client ends before.
    async fn during<F: Future>(&mut self, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if self.shared.poll_end(&mut self.key, cx).is_ready() {
                return std::task::Poll::Ready(None);
            }
            work.as_mut().poll(cx).map(Some)
        })
        .await
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.leave_end(key);
        }
    }
}
