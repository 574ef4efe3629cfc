//! Row 24: an attempt that a hook forbids.

use super::*;
use std::sync::Arc;

use rmq_core::{FaultTolerance, Forbidden, RequestHook, SendAttempt};

struct Never;

impl RequestHook for Never {
    fn before_attempt(&self, attempt: &SendAttempt<'_>) -> Result<(), Forbidden> {
        if attempt.topic == "T" { Err(Forbidden::new("closed on Sundays")) } else { Ok(()) }
    }
}

rows! {
    row_024 {
        let producer = ProducerConfig::new("PG").fault_tolerance(FaultTolerance::default());
        let mut net = Net::with(config().hook(Arc::new(Never)).build().unwrap(), producer);
        net.routes.insert("Other".into(), route(&[("a", 2), ("b", 2)]));
        for _ in 0..2 {
            let op = net.send("Other", SendOptions::default());
            net.run(ms(0));
            net.take_sent(op);
        }
        let before = net.client.stats().fault_items;
        net.forget();
        let op = send(&mut net);
        net.run(ms(0));
        let error = net.take_error(op).1;
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        let tried: Vec<_> = error.attempts().iter().map(|attempt| &*attempt.broker).collect();
        assert_eq!(tried.len(), 3);
        assert!(tried[0] != tried[1] && tried[1] != tried[2], "{tried:?}");
        let forbidden = RequestError::Forbidden { reason: "closed on Sundays".into() };
        assert!(error.attempts().iter().all(|attempt| attempt.error == forbidden));
        assert!(net.sends().is_empty() && net.closes.is_empty());
        assert_eq!(net.client.stats().fault_items, before, "no isolation");
        assert_eq!(net.client.stats().operations, 0);
    }
}
