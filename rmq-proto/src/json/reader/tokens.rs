//! The smallest pieces: white space, words, numbers and quoted text.

use super::Reader;
use crate::json::JsonError;
use crate::json::text::{RawText, scan, scan_error};

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> JsonError {
        if self.at < self.text.len() {
            JsonError::Unexpected { offset: self.at, expected }
        } else {
            JsonError::End { offset: self.text.len() }
        }
    }

    #[inline]
    pub(super) fn skip_space(&mut self) -> Result<(), JsonError> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x08' | b'\x0c') => self.at += 1,
                Some(b'/') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), JsonError> {
        let body = self.at + 2;
        let (mark, cut) = match self.text.as_bytes().get(self.at + 1) {
            Some(b'*') => ("*/", JsonError::End { offset: self.text.len() }),
            Some(b'/') => {
                let len = self.text[body..].find('\n');
                self.at = len.map_or(self.text.len(), |len| body + len + 1);
                return Ok(());
            }
            None => return Err(JsonError::End { offset: self.text.len() }),
            Some(_) => return Err(self.unexpected("a comment")),
        };
        let len = self.text[body..].find(mark).ok_or(cut)?;
        self.at = body + len + mark.len();
        Ok(())
    }

    /// Reads text whose quote comes next.
    #[inline]
    pub(super) fn quoted_text(&mut self) -> Result<RawText<'a>, JsonError> {
        match self.byte() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote),
            _ => Err(self.unexpected("text")),
        }
    }

    #[inline]
    pub(super) fn quoted(&mut self, quote: u8) -> Result<RawText<'a>, JsonError> {
        match scan(self.text, self.at + 1, quote) {
            Some((text, end)) => {
                self.at = end + 1;
                Ok(text)
            }
            None => Err(scan_error(self.text, self.at + 1, quote)),
        }
    }

    pub(super) fn bare_key(&mut self) -> Result<&'a str, JsonError> {
        let key = self.take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'+' | b'.') || byte >= 0x80
        });
        if key.is_empty() { Err(self.unexpected("a key")) } else { Ok(key) }
    }

    /// Reads `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        match self.take_while(|byte| byte.is_ascii_alphanumeric()) {
            word @ ("true" | "false" | "null") => Ok(word),
            word if self.at == self.text.len() && is_cut(word) => Err(JsonError::End { offset: self.at }),
            _ => Err(JsonError::Unexpected { offset: start, expected: "a value" }),
        }
    }

    /// Reads a number; returns its digits without the letter that Java may put behind them for the type.
    pub(super) fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        self.digits()?;
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let number = &self.text[start..self.at];
        if matches!(self.byte(), Some(b'L' | b'S' | b'B' | b'F' | b'D')) {
            self.at += 1;
        }
        Ok(number)
    }

    /// A number of at most 18 digits and nothing else, with the next member or the end right behind it. Else reads nothing.
    #[inline]
    pub(super) fn plain_integer(&mut self) -> Option<i64> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let (sign, digits) = match rest {
            [b'-', digits @ ..] => (-1, digits),
            digits => (1, digits),
        };
        let (mut number, mut len) = (0, 0);
        while let Some(digit @ b'0'..=b'9') = digits.get(len)
            && len < 18
        {
            number = number * 10 + i64::from(digit - b'0');
            len += 1;
        }
        if len == 0 || !matches!(digits.get(len), Some(b',' | b'}' | b']')) {
            return None;
        }
        self.at += rest.len() - digits.len() + len;
        Some(sign * number)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if self.take_while(|byte| byte.is_ascii_digit()).is_empty() {
            return Err(self.unexpected("a digit"));
        }
        Ok(())
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let len = rest.bytes().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

fn is_cut(word: &str) -> bool {
    ["true", "false", "null"].iter().any(|whole| whole.starts_with(word))
}
