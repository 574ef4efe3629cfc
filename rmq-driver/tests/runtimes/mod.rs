//! What holds on every runtime, written once.
//!
//! Each scenario is a function over a [`Host`], and [`on!`] makes tests of all of them on one. The adapters' tests include this
//! folder by its path: so it needs no package of its own, which would have to depend on every runtime there is, and an adapter
//! of another package can do the same.
//!
//! The scenarios in [`cluster`] run against the real cluster that `RMQ_NAME_SERVER` names, if it is set:
//!
//! ```text
//! RMQ_NAME_SERVER=127.0.0.1:9876 cargo test -p rmq-tokio --test runtimes cluster -- --nocapture
//! RMQ_NAME_SERVER=127.0.0.1:9876 cargo test -p rmq-asyncstd --all-features --test runtimes cluster -- --nocapture
//! ```

pub(crate) mod cluster;
pub(crate) mod faults;
pub(crate) mod handles;
pub(crate) mod peer;
pub(crate) mod peers;
pub(crate) mod place;
#[path = "../world/route.rs"]
mod route;
pub(crate) mod tools;

use std::future::Future;

use rmq_driver::Runtime;

/// A runtime that tests run on.
pub(crate) trait Host {
    type Runtime: Runtime + Default;

    /// A runtime of its own, or what all programs share.
    fn start() -> Self;

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

/// All scenarios as tests on a host, in a module.
macro_rules! on {
    ($name:ident, $host:ty) => {
        mod $name {
            use super::*;
            on! { @tests $host:
                cluster {
                    messages_are_stored
                    a_oneway_message_arrives
                    ten_thousand_are_sent_at_once
                    futures_may_be_dropped_at_any_moment
                    shutdown_lets_work_finish
                    shutdown_within_no_time_ends_all_work
                    a_name_server_that_is_down_does_no_harm_beside_another
                    who_does_not_answer_is_named
                }
                faults {
                    work_that_hangs_is_given_up_at_shutdown
                    sends_go_on_when_their_broker_is_back
                    sends_under_way_find_a_broker_that_is_back_at_once
                }
                handles {
                    the_last_one_takes_the_client_with_it
                    the_last_one_may_be_dropped_outside_the_runtime
                    shutdown_tells_the_brokers
                }
                peers {
                    one_that_says_no_more_gives_its_answer_and_is_replaced
                    one_that_hears_no_more_costs_what_it_did_not_hear
                    one_that_hangs_up_is_asked_again
                    one_that_speaks_something_else_loses_its_connection_only
                    one_that_reads_slowly_gets_all
                    one_that_stops_reading_is_given_up
                    one_that_never_accepts_is_given_up
                    bug_09_frames_are_whole_whatever_is_dropped
                    late_answers_to_dropped_sends_are_nobodys
                    what_is_dropped_at_once_is_not_written_and_what_is_detached_is
                }
            }
        }
    };
    (@tests $host:ty: $($file:ident { $($scenario:ident)* })*) => {
        $(mod $file {
            use super::*;
            $(
                #[test]
                fn $scenario() {
                    suite::$file::$scenario(&<$host as suite::Host>::start());
                }
            )*
        })*
    };
}
pub(crate) use on;
