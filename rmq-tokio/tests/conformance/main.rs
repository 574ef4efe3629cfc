//! One script, run against the model in both its profiles, or against the real cluster that `RMQ_NAME_SERVER` names:
//!
//! ```text
//! RMQ_NAME_SERVER=127.0.0.1:9876 RMQ_BROKER_VERSION=5.3.3 cargo test -p rmq-tokio --test conformance -- --nocapture
//! ```
//!
//! Where the two differ, the model is wrong.
//!
//! A real cluster either has access control or not: with `RMQ_ACL=on` it has, with the accounts of real-broker/cluster, and the
//! steps named `guarded` are run against it, else those named `open`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; a skipped one says so"
)]

mod cluster;
mod reading;
mod wire;

/// Each step is a test, named after the file that it is in and itself; `$each` runs it against each cluster.
macro_rules! steps {
    ($each:ident: $($file:ident { $($step:ident)* })*) => {
        $(mod $file;)*
        mod $each {
            $(mod $file {
                $(
                    #[tokio::test]
                    async fn $step() {
                        crate::cluster::$each(crate::$file::$step).await;
                    }
                )*
            })*
        }
    };
}

steps! { open:
    answers {
        pulls_are_answered_as_seen
        offsets_are_answered_as_seen
        send_backs_are_answered_as_seen
        topics_are_created_as_seen
    }
    batched {
        a_batch_is_stored_message_by_message
    }
    compressed {
        other_formats_are_read_back
        zlib_is_read_back
    }
    delay {
        a_level_delays
        a_timer_delays_since_version_5
        a_timer_message_is_recalled_since_version_5
        too_long_a_timer_is_refused_since_version_5
    }
    namespaces {
        a_namespace_is_in_names_on_the_wire
    }
    queues {
        a_selector_chooses
        one_key_is_one_queue
        a_given_queue_is_the_one
        a_queue_that_is_not_there_is_refused
    }
    requests {
        a_request_is_replied_to
    }
    send_back {
        a_message_comes_again_after_its_delay
        a_message_is_a_dead_letter_after_the_limit
        a_message_is_a_dead_letter_at_will
        an_unknown_broker_is_passed_by
        what_is_passed_by_obeys_the_limit
    }
    single {
        a_message_is_stored_as_it_was_sent
        a_one_way_message_arrives
        the_largest_message_is_stored
    }    traced {
        a_trace_tells_of_a_send
    }
    transactions {
        a_commit_is_delivered
        a_rollback_is_never_delivered
        what_is_unknown_is_asked_for
    }
}

steps! { guarded:
    acl {
        a_right_key_may_send_what_it_may
        credentials_are_replaced
        wrong_keys_are_refused
    }
}
