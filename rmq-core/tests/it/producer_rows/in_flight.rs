//! Row 52: back-pressure.

use super::*;
use rmq_core::InFlight;

rows! {
    /// Here the eleventh says what it waited for in place of "call timeout".
    row_052 {
        let limits = InFlight::new().max_messages(10);
        let mut net = net_of(ProducerConfig::new("PG").attempt_timeout(AttemptTimeout::Whole).in_flight(limits));
        both(&mut net, &Act::Silent);
        let ten: Vec<_> = (0..10).map(|_| send(&mut net)).collect();
        let eleventh = send(&mut net);
        net.run(ms(3_000));
        assert_eq!(net.sends().len(), 10);
        let (when, error) = net.take_error(eleventh);
        assert_eq!((when, error.kind()), (at(3_000), &SendErrorKind::NoPermit));
        assert!(error.is_retryable() && !error.may_have_been_stored());
        for op in ten {
            net.take_error(op);
        }
        assert_eq!(net.client.stats().permits, 0);
    }
}
