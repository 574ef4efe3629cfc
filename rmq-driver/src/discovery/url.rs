//! The one form of URL that address servers have.

use std::str::FromStr;

use rmq_core::Address;

/// `http://host[:port][/path]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) address: Address,
    /// Host and port as they were written, for the request's `Host`.
    pub(crate) authority: String,
    /// From the first slash on, what may follow a question mark included.
    pub(crate) path: String,
}

const HTTP_PORT: u16 = 80;

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let rest = text.strip_prefix("http://").ok_or("it does not begin with http://")?;
        if rest.contains(|c: char| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
            return Err("it has a space, or a character that is not ASCII");
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let has_port = authority.rfind(':') > authority.rfind(']');
        let whole = if has_port { authority.to_owned() } else { format!("{authority}:{HTTP_PORT}") };
        let address = whole.parse().map_err(|_| "it names no host, or no port from 1 to 65535")?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { address, authority: authority.to_owned(), path: format!("{slash}{path}") })
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn urls() {
        let rows = [
            (
                "http://jmenv.tbsite.net:8080/rocketmq/nsaddr",
                Some(("jmenv.tbsite.net", 8080, "/rocketmq/nsaddr")),
            ),
            ("http://names/a-unit?nofix=1#part", Some(("names", 80, "/a-unit?nofix=1"))),
            ("http://names", Some(("names", 80, "/"))),
            ("http://names:81?x", Some(("names", 81, "/?x"))),
            ("http://[::1]:8080/x", Some(("::1", 8080, "/x"))),
            ("http://[::1]/x", Some(("::1", 80, "/x"))),
            ("https://names/x", None),
            ("names:8080/x", None),
            ("http:///x", None),
            ("http://names:0/x", None),
            ("http://user@names/x", None),
            ("http://names/x\r\nEvil: 1", None),
        ];
        for (text, expected) in rows {
            let url = text.parse::<Url>();
            let parts = url.as_ref().ok().map(|url| (url.address.host(), url.address.port(), &*url.path));
            assert_eq!(parts, expected, "{text}");
        }
    }
}
