/// Makes typed headers: structs whose fields stand for ext fields.
///
/// Each field is `name: Type = "nameOnTheWire"`, in the order of writing. Types are `Cow<'a, str>`, `i32`, `i64`, `bool`, or
/// an `Option` of these for a field that may be absent.
macro_rules! headers {
    ($(
        $(#[$meta:meta])*
        pub struct $header:ident $(<$lt:lifetime>)? {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $name:literal, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $header $(<$lt>)? {
            $( $(#[$field_meta])* #[doc = concat!("\n\nExt field `", $name, "`.")] pub $field: $type, )*
        }

        impl $(<$lt>)? $crate::ext::WriteExt for $header $(<$lt>)? {
            fn write_ext<S: $crate::ext::ExtSink>(&self, sink: &mut S) {
                $( $crate::ext::Field::write(&self.$field, const { &$crate::ext::FieldName::new($name) }, sink); )*
            }
        }

        impl $(<$lt>)? $crate::header::TypedHeader for $header $(<$lt>)? {
            const FIELDS: &'static [$crate::header::FieldSpec] = &[$(
                $crate::header::FieldSpec {
                    name: $name,
                    kind: <$type as $crate::ext::Field<'_>>::KIND,
                    required: <$type as $crate::ext::Field<'_>>::REQUIRED,
                },
            )*];
        }

        headers! { @read ($header) ($($lt)?) $($field = $name,)* }
    )*};
    (@read ($header:ident) () $($rest:tt)*) => {
        headers! { @read ($header) ('a) ($header) $($rest)* }
    };
    (@read ($header:ident) ($lt:lifetime) $field:ident $($rest:tt)*) => {
        headers! { @read ($header) ($lt) ($header<$lt>) $field $($rest)* }
    };
    (@read ($header:ident) ($lt:lifetime) ($target:ty) $($field:ident = $name:literal,)*) => {
        impl<$lt> $crate::ext::ReadExt<$lt> for $target {
            fn read_ext(ext: &$lt $crate::ext::ExtFields) -> Result<Self, $crate::ext::HeaderError> {
                let names = const { &[$($crate::ext::FieldName::new($name),)*] };
                let mut found = names.each_ref().map(|_| None);
                ext.find(names, &mut found);
                let [$($field,)*] = &found;
                Ok(Self {
                    $( $field: match $crate::ext::Field::read(*$field) {
                        Some(value) => value,
                        None => return Err($crate::ext::refused(stringify!($header), $name, *$field)),
                    }, )*
                })
            }
        }
    };
}
