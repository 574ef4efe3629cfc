//! Asks an address server (producer §2.4, wire §9.7).

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::Address;

use super::http::Answer;
use super::{AddressServerProblem, Fetched, NameServerSource, NameServerSourceError, Url};
use crate::runtime::Runtime;

/// Time for connecting, and again for the whole answer.
const TIMEOUT: Duration = Duration::from_secs(3);
const READ_LEN: usize = 4_096;

pub(crate) struct AddressServer<R> {
    runtime: Arc<R>,
    url: Url,
}

impl<R: Runtime> AddressServer<R> {
    pub(crate) fn new(runtime: Arc<R>, url: Url) -> Self {
        Self { runtime, url }
    }

    async fn ask(&self) -> Result<Vec<u8>, AddressServerProblem> {
        let failed = |error: io::Error| AddressServerProblem::Connect(error.to_string().into());
        let connecting = self.runtime.connect(&self.url.address);
        let mut stream = self.in_time(connecting).await?.map_err(failed)?;
        let Url { authority, path, .. } = &self.url;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/plain, */*\r\nConnection: close\r\n\r\n"
        );
        self.in_time(exchange(&mut stream, request.as_bytes())).await?
    }

    async fn in_time<F: Future>(&self, work: F) -> Result<F::Output, AddressServerProblem> {
        let mut work = pin!(work);
        let mut timer = pin!(self.runtime.sleep_until(self.runtime.now() + TIMEOUT));
        poll_fn(|cx| match (work.as_mut().poll(cx), timer.as_mut()) {
            (Poll::Ready(output), _) => Poll::Ready(Ok(output)),
            (Poll::Pending, timer) => {
                timer.poll(cx).map(|()| Err(AddressServerProblem::TimedOut { after: TIMEOUT }))
            }
        })
        .await
    }
}

impl<R: Runtime> NameServerSource for AddressServer<R> {
    fn fetch(&mut self) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
        Box::pin(async {
            let address = || self.url.address.clone();
            let body = self.ask().await;
            let body =
                body.map_err(|problem| NameServerSourceError::AddressServer { address: address(), problem })?;
            list(&String::from_utf8_lossy(&body))
        })
    }
}

/// Only the first line counts.
fn list(body: &str) -> Fetched {
    let text = body.trim();
    let line = text.split_once('\r').or_else(|| text.split_once('\n')).map_or(text, |(line, _)| line);
    Ok(Address::parse_list(line)?)
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    request: &[u8],
) -> Result<Vec<u8>, AddressServerProblem> {
    let lost = |error: io::Error| AddressServerProblem::Lost(error.to_string().into());
    write_all(stream, request).await.map_err(lost)?;
    let mut answer = Answer::default();
    let mut buffer = [0; READ_LEN];
    loop {
        match poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut buffer)).await {
            Ok(0) => return answer.body(),
            Ok(len) => {
                if answer.take(&buffer[..len.min(READ_LEN)])? {
                    return answer.body();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(lost(error)),
        }
    }
}

pub(crate) async fn write_all<S: AsyncWrite + Unpin>(stream: &mut S, mut data: &[u8]) -> io::Result<()> {
    while !data.is_empty() {
        match poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, data)).await {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => data = &data[len.min(data.len())..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn the_first_line_counts() {
        let rows = [
            ("a:1", "a:1"),
            (" \r\n a:1;b:2 \n", "a:1 b:2"),
            ("a:1;b:2\nc:3", "a:1 b:2"),
            ("a:1;\r\nc:3", "a:1"),
            (" \n ", ""),
        ];
        for (body, expected) in rows {
            let list = list(body).unwrap();
            let texts: Vec<_> = list.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join(" "), expected, "{body:?}");
        }
        assert!(list("<html>").is_err());
    }
}
