//! The spans of a compile for a subscriber of `tracing`, as a tree, with their fields.
//!
//! Each test has a process of its own: while there is one subscriber, `tracing` 0.1.44 asks that of the thread which comes to a span
//! first whether anyone wants it, and remembers the answer for all threads, so that a compile of another test could silence a span here
//! (<https://github.com/tokio-rs/tracing/issues/3611>).

use halite::Session;
use halite::compile::CompileOptions;
use halite_tests::alone;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, info_span};
use tracing_core::span::Current;

/// Remembers every span.
#[derive(Clone, Default)]
struct Recorder(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The crate whose spans it hears beside those of callers; without it all.
    only: Option<&'static str>,
    count: AtomicU64,
    spans: Mutex<BTreeMap<u64, Recorded>>,
    /// The spans that each thread is in, innermost last.
    entered: Mutex<Vec<(ThreadId, u64)>>,
}

#[derive(Clone, Debug)]
struct Recorded {
    metadata: &'static Metadata<'static>,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Recorded {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.only.is_none_or(|only| metadata.target().starts_with(only) || metadata.name() == "caller")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.count.fetch_add(1, Ordering::Relaxed) + 1;
        let parent = span.parent().map(Id::into_u64).or(self.innermost());
        let mut recorded = Recorded { metadata: span.metadata(), parent, fields: BTreeMap::new() };
        span.record(&mut recorded);
        self.0.spans.lock().expect("no panic").insert(id, recorded);
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.entered.lock().expect("no panic").push((std::thread::current().id(), span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let left = (std::thread::current().id(), span.into_u64());
        let mut entered = self.0.entered.lock().expect("no panic");
        let at = entered.iter().rposition(|inside| *inside == left).expect("what is left was entered");
        entered.remove(at);
    }

    fn current_span(&self) -> Current {
        let spans = self.0.spans.lock().expect("no panic");
        self.innermost().map_or_else(Current::none, |id| Current::new(Id::from_u64(id), spans[&id].metadata))
    }
}

impl Recorder {
    /// The span that this thread is in.
    fn innermost(&self) -> Option<u64> {
        let (thread, entered) = (std::thread::current().id(), self.0.entered.lock().expect("no panic"));
        entered.iter().rev().find(|(of, _)| *of == thread).map(|(_, id)| *id)
    }

    /// The spans that stand directly below one.
    fn below(&self, parent: Option<u64>) -> Vec<(u64, Recorded)> {
        let spans = self.0.spans.lock().expect("no panic");
        spans.iter().filter(|(_, span)| span.parent == parent).map(|(&id, span)| (id, span.clone())).collect()
    }
}

/// Compiles `tiny` below a span of one's own, with a recorder for this thread alone. What ran, by module.
fn record(caller: &str, only: Option<&'static str>) -> (Recorder, BTreeMap<String, Vec<String>>) {
    let recorder = Recorder(Arc::new(Inner { only, ..Inner::default() }));
    let reports = tracing::subscriber::with_default(recorder.clone(), || {
        let _span = info_span!("caller", name = caller).entered();
        let mut session = Session::new();
        let source = session.load("tiny", &["layers=1".to_owned()]).expect("it is a preset");
        session.compile(&source, &CompileOptions::default()).expect("it compiles").reports
    });
    let names = |(role, reports): (halite_bundle::ModuleRole, Vec<halite_passes::PassReport>)| {
        (role.name().to_owned(), reports.iter().map(|report| report.name.to_string()).collect())
    };
    (recorder, reports.into_iter().map(names).collect())
}

/// The only span below another, which has this name and field.
fn only(recorder: &Recorder, parent: Option<u64>, name: &str, (field, value): (&str, &str)) -> u64 {
    let below = recorder.below(parent);
    let [(id, span)] = below.as_slice() else { panic!("{below:?}") };
    assert_eq!((span.metadata.name(), span.fields[field].as_str()), (name, value));
    *id
}

fn fields<'a>(spans: &'a [(u64, Recorded)], name: &str, field: &str) -> Vec<&'a str> {
    spans.iter().filter(|(_, span)| span.metadata.name() == name).map(|(_, span)| span.fields[field].as_str()).collect()
}

/// Everything stands below the caller's span: `compile`, in it the passes that all modules share, each `module`, and the count of what the
/// model asks for, in each module its passes and `lower`.
fn check(recorder: &Recorder, caller: &str, ran: &BTreeMap<String, Vec<String>>) {
    let own = only(recorder, None, "caller", ("name", caller));
    let compile = only(recorder, Some(own), "compile", ("source", "tiny"));
    let below = recorder.below(Some(compile));
    let shared = fields(&below, "pass", "name");
    assert!(fields(&below, "pass", "module").iter().all(|module| *module == "llama"), "{below:?}");
    let mut modules = fields(&below, "module", "role");
    modules.sort_unstable();
    assert_eq!(modules, ran.keys().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(fields(&below, "flops", "model"), ["llama"]);
    assert_eq!(shared.len() + modules.len() + 1, below.len(), "{below:?}");
    for (id, module) in below.iter().filter(|(_, span)| span.metadata.name() == "module") {
        let role = module.fields["role"].as_str();
        let parts = recorder.below(Some(*id));
        let passes: Vec<_> = shared.iter().copied().chain(fields(&parts, "pass", "name")).collect();
        assert_eq!(passes, ran[role], "{role}");
        let name = format!("llama_{role}");
        assert!(fields(&parts, "pass", "module").iter().all(|module| *module == name), "{role}: {parts:?}");
        assert_eq!(fields(&parts, "lower", "role"), [role]);
        assert_eq!(parts.len(), passes.len() - shared.len() + 1, "{role}: {parts:?}");
    }
}

/// Runs a test of this file in a process of its own.
fn own_process(test: &str, body: impl FnOnce()) {
    alone(&format!("spans::{test}"), |child| child, body);
}

#[test]
fn a_subscriber_of_one_thread_sees_every_module_and_pass_below_its_span() {
    own_process("a_subscriber_of_one_thread_sees_every_module_and_pass_below_its_span", || {
        let (recorder, ran) = record("one", None);
        assert_eq!(ran.len(), 3);
        check(&recorder, "one", &ran);
    });
}

#[test]
fn spans_that_are_filtered_out_leave_the_rest_below_the_caller() {
    own_process("spans_that_are_filtered_out_leave_the_rest_below_the_caller", || {
        let (recorder, ran) = record("one", Some("halite_passes"));
        let own = only(&recorder, None, "caller", ("name", "one"));
        let below = recorder.below(Some(own));
        assert_eq!(recorder.0.spans.lock().expect("no panic").len(), below.len() + 1, "nothing else stands anywhere");
        let heard = fields(&below, "pass", "name");
        assert!(ran.values().flatten().all(|pass| heard.contains(&pass.as_str())), "{heard:?}");
    });
}

#[test]
fn subscribers_of_two_threads_do_not_mix() {
    own_process("subscribers_of_two_threads_do_not_mix", || {
        std::thread::scope(|scope| {
            for caller in ["left", "right"] {
                scope.spawn(move || {
                    let (recorder, ran) = record(caller, None);
                    check(&recorder, caller, &ran);
                });
            }
        });
    });
}
