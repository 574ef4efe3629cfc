/// Makes a type for an open set of codes from the table of those that have a name.
macro_rules! codes {
    ($(#[$meta:meta])* $type:ident { $( $(#[$doc:meta])* $name:ident = $code:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $type(pub i32);

        impl $type {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nCode ", $code, ".")]
                pub const $name: Self = Self($code);
            )*

            /// The code's name; `None` if it has none here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $code => Some(stringify!($name)), )*
                    _ => None,
                }
            }
        }

        /// `NAME (number)`, or `(number)` for a code without a name.
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => write!(f, "{name} ({})", self.0),
                    None => write!(f, "({})", self.0),
                }
            }
        }

        impl From<$type> for i32 {
            fn from(code: $type) -> Self {
                code.0
            }
        }

        impl From<i32> for $type {
            fn from(code: i32) -> Self {
                Self(code)
            }
        }
    };
}
