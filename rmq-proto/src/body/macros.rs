/// Makes bodies and the objects in them: structs whose fields stand for members.
///
/// Each field is `name: Type = "member"`, in the order of writing, which is the alphabet's (wire §2.4). A member that is absent
/// or `null` gives the type's default; `required` before it makes that an error, `or value` behind it gives the value. `|`
/// comes before another name that some peers have for it.
macro_rules! objects {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $object:ident {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $type:ty = $($required:ident)? $member:literal $(| $alias:literal)* $(or $default:expr)?,
            )*
        }
    )*) => {$(
        $(#[$meta])*
        $vis struct $object {
            $( $(#[$field_meta])* #[doc = concat!("\n\nMember `", $member, "`.")] pub $field: $type, )*
        }

        impl $crate::body::value::Value for $object {
            fn read(
                source: &mut $crate::body::value::Source<'_>,
            ) -> Result<Self, $crate::body::BodyError> {
                $( let mut $field: Option<$type> = None; )*
                source.members(&mut |source, member| {
                    match member {
                        $( $member $(| $alias)* => $field = $crate::body::value::Value::read(source)?, )*
                        _ => source.json.skip()?,
                    }
                    Ok(())
                })?;
                Ok(Self { $( $field: objects! { @take $field source $member ($($required)?) ($($default)?) }, )* })
            }

            fn write(&self, sink: &mut $crate::body::value::Sink<'_>) {
                sink.json.begin_object();
                $(
                    if !$crate::body::value::Value::is_absent(&self.$field) {
                        sink.json.key($member);
                        $crate::body::value::Value::write(&self.$field, sink);
                    }
                )*
                sink.json.end_object();
            }
        }
    )*};
    (@take $field:ident $source:ident $member:literal (required) ()) => {
        $field.ok_or_else(|| $crate::body::BodyError::Missing { member: $member, offset: $source.json.offset() })?
    };
    (@take $field:ident $source:ident $member:literal () ($default:expr)) => {
        $field.unwrap_or_else(|| $default)
    };
    (@take $field:ident $source:ident $member:literal () ()) => {
        $field.unwrap_or_default()
    };
}

/// Makes constants that go by their Java names, in Java's order: `Variant = "NAME"`.
///
/// As fastjson does, takes a number for the place in that order. `or Variant` behind the member says what any other
/// value means; without it, such a value is an error.
macro_rules! constants {
    ($(
        $(#[$meta:meta])*
        pub enum $type:ident in $member:literal $(or $other:ident)? {
            $( $(#[$variant_meta:meta])* $variant:ident = $name:literal, )+
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $( $(#[$variant_meta])* #[doc = concat!("\n\n`", $name, "`.")] $variant, )+
        }

        impl $type {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The one that has this name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|constant| constant.name() == name).copied()
            }

            /// Its name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl $crate::body::value::Value for $type {
            fn read(
                source: &mut $crate::body::value::Source<'_>,
            ) -> Result<Self, $crate::body::BodyError> {
                let known = match source.json.peek()? {
                    $crate::json::Kind::Number => {
                        let place = source.json.i64()?.and_then(|place| usize::try_from(place).ok());
                        place.and_then(|place| Self::ALL.get(place)).copied()
                    }
                    _ => source.json.text()?.as_deref().and_then(Self::from_name),
                };
                $( let known = known.or(Some(Self::$other)); )?
                let offset = source.json.offset();
                known.ok_or($crate::body::BodyError::UnknownValue { member: $member, offset })
            }

            fn write(&self, sink: &mut $crate::body::value::Sink<'_>) {
                sink.json.text(self.name());
            }
        }
    )*};
}

/// Gives each of these bodies its `decode` and `encode`.
macro_rules! bodies {
    ($($body:ident: $keys:ident,)*) => {$(
        impl $body {
            /// Reads the body.
            ///
            /// # Errors
            ///
            /// No body, `null`, a text that is cut or is no JSON, a member of the wrong kind, a number that does not fit, a
            /// constant or key that means nothing, an object without a member that it is of no use without, and
            /// references that cannot be followed (wire §2.4).
            pub fn decode(body: &[u8]) -> Result<Self, BodyError> {
                value::decode(body)
            }

            /// The body as Java writes it, but for the order of maps, which is that of their keys here.
            pub fn encode(&self) -> Bytes {
                value::encode(self, value::Keys::$keys)
            }
        }
    )*};
}
