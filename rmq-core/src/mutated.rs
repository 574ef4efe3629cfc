//! The one mark of a deliberate bug in the code: `mutated!(Name)` is whether it is on, `mutated!(Name, condition)` whether
//! that holds too, and `mutated!(Name => statement)` runs the statement then. Without `--cfg rmq_mutate` the first two are
//! `false`, and nothing else is compiled.

#[cfg(rmq_mutate)]
macro_rules! mutated {
    ($name:ident) => {
        $crate::mutate::is($crate::mutate::Mutation::$name)
    };
    ($name:ident, $condition:expr) => {
        mutated!($name) && $condition
    };
    ($name:ident => $statement:expr) => {
        if mutated!($name) {
            $statement
        }
    };
}

#[cfg(not(rmq_mutate))]
macro_rules! mutated {
    ($name:ident) => {
        false
    };
    ($name:ident, $condition:expr) => {
        false
    };
    ($name:ident => $statement:expr) => {};
}
