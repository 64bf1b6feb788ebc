//! What a compile tells whoever runs a subscriber of `tracing`: its spans, as a tree, with their fields.

use halite::compile::CompileOptions;
use halite::{Session, source};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, info_span};

/// Remembers every span.
#[derive(Clone, Default)]
struct Recorder(Arc<Inner>);

#[derive(Default)]
struct Inner {
    count: AtomicU64,
    spans: Mutex<BTreeMap<u64, Recorded>>,
    /// The spans that each thread is in, innermost last.
    entered: Mutex<Vec<(ThreadId, u64)>>,
}

#[derive(Clone, Debug)]
struct Recorded {
    name: &'static str,
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
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.count.fetch_add(1, Ordering::Relaxed) + 1;
        let thread = std::thread::current().id();
        let entered = self.0.entered.lock().expect("no panic");
        let current = entered.iter().rev().find(|(of, _)| *of == thread).map(|(_, id)| *id);
        let parent = span.parent().map(Id::into_u64).or(current);
        let mut recorded = Recorded { name: span.metadata().name(), parent, fields: BTreeMap::new() };
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
}

impl Recorder {
    /// The spans that stand directly below one.
    fn below(&self, parent: Option<u64>) -> Vec<(u64, Recorded)> {
        let spans = self.0.spans.lock().expect("no panic");
        spans.iter().filter(|(_, span)| span.parent == parent).map(|(&id, span)| (id, span.clone())).collect()
    }
}

/// Compiles `tiny` below a span of one's own, with a recorder for this thread alone. What ran, by module.
fn record(caller: &str) -> (Recorder, BTreeMap<&'static str, Vec<String>>) {
    let recorder = Recorder::default();
    let reports = tracing::subscriber::with_default(recorder.clone(), || {
        let _span = info_span!("caller", name = caller).entered();
        let mut session = Session::new();
        let source = source::load("tiny", &["layers=1".to_owned()], &mut session.sources).expect("it is a preset");
        session.compile(&source, &CompileOptions::default()).expect("it compiles").reports
    });
    let names = |(role, reports): (halite_spec::ModuleRole, Vec<halite_passes::PassReport>)| {
        (role.name(), reports.iter().map(|report| report.name.to_string()).collect())
    };
    (recorder, reports.into_iter().map(names).collect())
}

/// The only span below another, which has this name and field.
fn only(recorder: &Recorder, parent: Option<u64>, name: &str, (field, value): (&str, &str)) -> u64 {
    let below = recorder.below(parent);
    let [(id, span)] = below.as_slice() else { panic!("{below:?}") };
    assert_eq!((span.name, span.fields[field].as_str()), (name, value));
    *id
}

fn fields<'a>(spans: &'a [(u64, Recorded)], name: &str, field: &str) -> Vec<&'a str> {
    spans.iter().filter(|(_, span)| span.name == name).map(|(_, span)| span.fields[field].as_str()).collect()
}

/// Everything stands below the caller's span: `compile`, in it the passes that all modules share and each `module`, in
/// each module its passes and `lower`.
fn check(recorder: &Recorder, caller: &str, ran: &BTreeMap<&'static str, Vec<String>>) {
    let own = only(recorder, None, "caller", ("name", caller));
    let compile = only(recorder, Some(own), "compile", ("source", "tiny"));
    let below = recorder.below(Some(compile));
    let shared = fields(&below, "pass", "name");
    assert!(fields(&below, "pass", "module").iter().all(|module| *module == "llama"), "{below:?}");
    let mut modules = fields(&below, "module", "role");
    modules.sort_unstable();
    assert_eq!(modules, ran.keys().copied().collect::<Vec<_>>());
    assert_eq!(shared.len() + modules.len(), below.len(), "{below:?}");
    for (id, module) in below.iter().filter(|(_, span)| span.name == "module") {
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

#[test]
fn a_subscriber_of_one_thread_sees_every_module_and_pass_below_its_span() {
    let (recorder, ran) = record("one");
    assert_eq!(ran.len(), 3);
    check(&recorder, "one", &ran);
}

#[test]
fn subscribers_of_two_threads_do_not_mix() {
    std::thread::scope(|scope| {
        for caller in ["left", "right"] {
            scope.spawn(move || {
                let (recorder, ran) = record(caller);
                check(&recorder, caller, &ran);
            });
        }
    });
}
