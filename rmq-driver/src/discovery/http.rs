//! As much of HTTP/1.1 as it takes to read a short text: one answer, of bounded length.

use super::AddressServerProblem as Problem;

/// Most bytes of an answer, its head included.
pub(crate) const LIMIT: usize = 64 * 1024;

/// How long the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Bytes(usize),
    Chunked,
    ToTheEnd,
}

/// What is known once the head is there.
#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    /// Where the body begins.
    body: usize,
    length: Length,
}

/// An answer as it comes in.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl Answer {
    /// Takes what was read. True when the answer is whole.
    pub(crate) fn take(&mut self, data: &[u8]) -> Result<bool, Problem> {
        if self.bytes.len() + data.len() > LIMIT {
            return Err(Problem::TooLong { limit: LIMIT });
        }
        // An end that lies across two reads is found, and nothing is looked at for a third time.
        let from = self.bytes.len().saturating_sub(HEAD_END.len() - 1);
        self.bytes.extend_from_slice(data);
        if self.head.is_none()
            && let Some(end) = find(&self.bytes[from..], HEAD_END)
        {
            self.head = Some(Head::read(&self.bytes[..from + end], from + end + HEAD_END.len())?);
        }
        Ok(self.head.is_some_and(|head| match head.length {
            Length::Bytes(len) => self.bytes.len() - head.body >= len,
            Length::Chunked => self.bytes[head.body..].ends_with(b"0\r\n\r\n"),
            Length::ToTheEnd => false,
        }))
    }

    /// The body of an answer that is whole, or whose stream has ended.
    pub(crate) fn body(self) -> Result<Vec<u8>, Problem> {
        let head = self.head.ok_or(Problem::NotHttp("it ends within its head"))?;
        if head.status != 200 {
            return Err(Problem::Status(head.status));
        }
        let body = &self.bytes[head.body..];
        match head.length {
            Length::ToTheEnd => Ok(body.to_vec()),
            Length::Chunked => unchunked(body),
            Length::Bytes(len) => {
                body.get(..len).map(<[u8]>::to_vec).ok_or(Problem::NotHttp("it ends within its body"))
            }
        }
    }
}

const HEAD_END: &[u8] = b"\r\n\r\n";

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

impl Head {
    fn read(head: &[u8], body: usize) -> Result<Self, Problem> {
        let text = std::str::from_utf8(head).map_err(|_| Problem::NotHttp("its head is not text"))?;
        let mut lines = text.split("\r\n");
        let first = lines.next().and_then(|line| line.strip_prefix("HTTP/1.")).unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or(Problem::NotHttp("its first line has no status"))?;
        let mut length = Length::ToTheEnd;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding") && !value.eq_ignore_ascii_case("identity") {
                if !value.eq_ignore_ascii_case("chunked") {
                    return Err(Problem::NotHttp("it is encoded in a way that was not asked for"));
                }
                length = Length::Chunked;
            }
            if name.eq_ignore_ascii_case("content-length") && length != Length::Chunked {
                let len = value.parse().map_err(|_| Problem::NotHttp("its length is no number"))?;
                if len > LIMIT {
                    return Err(Problem::TooLong { limit: LIMIT });
                }
                length = Length::Bytes(len);
            }
        }
        Ok(Self { status, body, length })
    }
}

/// Takes chunks together. What may follow the last one is passed over.
fn unchunked(mut rest: &[u8]) -> Result<Vec<u8>, Problem> {
    let bad = || Problem::NotHttp("its chunks cannot be read");
    let mut body = Vec::new();
    loop {
        let line = find(rest, b"\r\n").ok_or_else(bad)?;
        let size = std::str::from_utf8(&rest[..line]).map_err(|_| bad())?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| bad())?;
        rest = &rest[line + 2..];
        if size == 0 {
            return Ok(body);
        }
        let chunk = rest.get(..size).ok_or_else(bad)?;
        body.extend_from_slice(chunk);
        rest = rest[size..].strip_prefix(b"\r\n").ok_or_else(bad)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of an answer that comes in pieces of so many bytes, and whether it was whole before its stream ended.
    fn read(text: &str, piece: usize) -> Result<(String, bool), Problem> {
        let mut answer = Answer::default();
        let mut whole = false;
        for data in text.as_bytes().chunks(piece) {
            whole = answer.take(data)?;
        }
        answer.body().map(|body| (String::from_utf8(body).unwrap(), whole))
    }

    #[test]
    fn answers_in_any_pieces() {
        let not = |problem| Err(Problem::NotHttp(problem));
        let ok = |body: &str, whole| Ok((body.to_owned(), whole));
        let rows = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na:1", ok("a:1", true)),
            ("HTTP/1.0 200\r\n\r\na:1\r\nb", ok("a:1\r\nb", false)),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nContent-Length: 1\r\n\r\n2;x=y\r\na:\r\n1\r\n1\r\n0\r\n\r\n",
                ok("a:1", true),
            ),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Err(Problem::Status(404))),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na:1", not("it ends within its body")),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", not("its length is no number")),
            ("HTTP/1.1 200 OK\r\n", not("it ends within its head")),
            ("HTTP/1.1 fine\r\n\r\n", not("its first line has no status")),
            ("SSH-2.0\r\n\r\n", not("its first line has no status")),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", not("its chunks cannot be read")),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
                not("its chunks cannot be read"),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                not("it is encoded in a way that was not asked for"),
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n", Err(Problem::TooLong { limit: LIMIT })),
        ];
        for (text, expected) in rows {
            for piece in [1, 2, 5, 1_000] {
                assert_eq!(read(text, piece), expected, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn an_answer_without_end_is_cut_off() {
        let mut answer = Answer::default();
        assert_eq!(answer.take(&vec![b'x'; LIMIT]), Ok(false));
        assert_eq!(answer.take(b"x"), Err(Problem::TooLong { limit: LIMIT }));
    }
}
