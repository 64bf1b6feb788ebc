//! The caller of a thread: the subscriber and the span of `tracing`, and the token that may stop the thread.

use crate::CancelToken;
use tracing::{Dispatch, Span};

/// The subscriber, the span and the token of a thread. All belong to a thread alone, so that one it starts has none.
#[derive(Clone, Debug)]
pub struct Caller {
    subscriber: Dispatch,
    span: Span,
    cancel: CancelToken,
}

impl Caller {
    /// Those of this thread.
    pub fn current() -> Self {
        Self::in_span(Span::current())
    }

    /// The subscriber and the token of this thread, with a span that is open in it; with the one around that where it filters the span out.
    pub fn in_span(span: Span) -> Self {
        let span = if span.is_disabled() { Span::current() } else { span };
        Self { subscriber: tracing::dispatcher::get_default(Dispatch::clone), span, cancel: CancelToken::current() }
    }

    /// Does `work` on this thread as if the other one did it: what it says goes to that subscriber, below that span, and
    /// what stops that one stops it.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.subscriber, || self.span.in_scope(|| self.cancel.within(work)))
    }
}

#[cfg(test)]
mod tests {
    use super::Caller;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// A subscriber that is told from others.
    struct Own;

    impl Subscriber for Own {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            false
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn work_on_another_thread_is_told_to_the_subscriber_of_the_caller() {
        let hears = || tracing::dispatcher::get_default(|subscriber| subscriber.is::<Own>());
        tracing::subscriber::with_default(Own, || {
            let caller = Caller::current();
            let on_thread = |work: &(dyn Fn() -> bool + Sync)| std::thread::scope(|scope| scope.spawn(work).join());
            assert!(!on_thread(&hears).unwrap());
            assert!(on_thread(&|| caller.within(hears)).unwrap());
        });
    }
}
