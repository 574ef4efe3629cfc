/// A part of a text, and its byte offset there.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
}

impl<'a> Part<'a> {
    pub(super) fn whole(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    /// What lies between the separators. Each of them separates: two in a row have an empty part between them.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Part<'a>> + Clone {
        self.text.split(separator).scan(self.offset, move |next, text| {
            let offset = *next;
            *next += text.len() + separator.len_utf8();
            Some(Part { text, offset })
        })
    }
}
