use core::fmt;

/// What a peer is written in, as the number of wire §1.5. An open set: numbers without a name are legal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(pub u8);

/// The name, or the number of one without a name.
impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Language({})", self.0),
        }
    }
}

macro_rules! languages {
    ($($name:ident = $number:literal,)*) => {
        impl Language {
            $(
                #[doc = concat!("`", stringify!($name), "`, ", $number, ".")]
                pub const $name: Self = Self($number);
            )*

            /// The language's name on the wire; `None` if the number has none.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// The language of this name, in upper or lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                const ALL: &[(&str, Language)] = &[$((stringify!($name), Language::$name),)*];
                let found = ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
                Some(found.1)
            }
        }
    };
}

languages! {
    JAVA = 0,
    CPP = 1,
    DOTNET = 2,
    PYTHON = 3,
    DELPHI = 4,
    ERLANG = 5,
    RUBY = 6,
    OTHER = 7,
    HTTP = 8,
    GO = 9,
    PHP = 10,
    OMS = 11,
    RUST = 12,
    NODE_JS = 13,
}

impl Language {
    /// What we write where a command has no language: no peer has a name for it, so all read it as none.
    pub(super) const UNKNOWN: Self = Self(u8::MAX);

    /// The language with this number, if the number has a name.
    pub(super) const fn known(number: u8) -> Option<Self> {
        let language = Self(number);
        match language.name() {
            Some(_) => Some(language),
            None => None,
        }
    }
}
