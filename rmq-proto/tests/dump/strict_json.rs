//! JSON by the book (RFC 8259), unlike what the crate's own reader takes.

/// Panics unless the text is one value.
pub(crate) fn assert_strict_json(text: &str) {
    let end = strict_value(text.as_bytes(), 0);
    assert_eq!(end, Some(text.len()), "no JSON: {text}");
}

/// Where the value that begins at `at` ends.
fn strict_value(json: &[u8], at: usize) -> Option<usize> {
    match json.get(at)? {
        b'"' => strict_text(json, at),
        b'{' if json.get(at + 1) == Some(&b'}') => Some(at + 2),
        b'{' => {
            let mut at = at;
            loop {
                let colon = strict_text(json, at + 1)?;
                at = strict_value(json, colon + usize::from(json.get(colon) == Some(&b':')))?;
                match json.get(at)? {
                    b',' => {}
                    b'}' => return Some(at + 1),
                    _ => return None,
                }
            }
        }
        b'n' => json[at..].starts_with(b"null").then_some(at + 4),
        _ => {
            let digits = json[at..].strip_prefix(b"-").unwrap_or_else(|| &json[at..]);
            let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_number = len == 1 || len > 1 && digits[0] != b'0';
            is_number.then_some(json.len() - digits.len() + len)
        }
    }
}

/// Where the text that begins at `at` ends.
fn strict_text(json: &[u8], at: usize) -> Option<usize> {
    let mut at = at + usize::from(json.get(at)? == &b'"');
    loop {
        match json.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match json.get(at + 1)? {
                b'u' => {
                    let digits = json.get(at + 2..at + 6)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    at += 6;
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                _ => return None,
            },
            ..0x20 => return None,
            _ => at += 1,
        }
    }
}
