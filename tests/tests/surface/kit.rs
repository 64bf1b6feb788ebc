//! The kit in the hands of others: their passes, composites, kernels and suites, and what it says when something is wrong.

use halite::Session;
use halite_ir::{Inst, Module, Op, Phase, rewrite_functions};
use halite_passes::{Changed, DialectEntry, KernelUse, Operand, Pass, PassCx, PassInfo, Relation};
use halite_support::{Diagnostic, Result, codes};
use halite_test_kit::{Anchor, Case, Directives, Kit, Mode, Outcome, Suite};
use halite_tests::scaled::{BY, Scaled};
use std::path::Path;
use std::sync::Arc;

/// Drops `scaled`: by one, or wrongly by whatever.
#[derive(Debug)]
struct DropScaled {
    name: &'static str,
    drops: fn(f64) -> bool,
}

impl DropScaled {
    fn takes(&self, inst: &Inst) -> bool {
        matches!(&inst.op, Op::Composite(op) if *op.name == *"scaled" && op.attrs.get(&BY).is_ok_and(self.drops))
    }
}

impl Pass for DropScaled {
    fn info(&self) -> PassInfo {
        PassInfo::new(self.name, "drop factors of one", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let changed = module.functions.iter().flat_map(|function| &function.insts).any(|inst| self.takes(inst));
        rewrite_functions(module, cx.registry, |rewriter, source| {
            for inst in &source.insts {
                if self.takes(inst) {
                    let value = rewriter.value(inst.args[0])?;
                    rewriter.replace(inst.results[0], value);
                } else {
                    rewriter.copy(source, inst)?;
                }
            }
            Ok(())
        })?;
        Ok(Changed::when(changed))
    }
}

/// Refuses divisions.
#[derive(Debug)]
struct NoDivision;

impl Pass for NoDivision {
    fn info(&self) -> PassInfo {
        PassInfo::new("no-division", "refuse divisions", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Legal)
    }

    fn run(&self, module: &mut Module, _: &PassCx<'_>) -> Result<Changed> {
        let mut insts = module.functions.iter().flat_map(|function| &function.insts);
        let Some(found) = insts.find(|inst| matches!(inst.op, Op::Divide(_))) else { return Ok(Changed::No) };
        let refusal = Diagnostic::error(codes::PIPELINE, "there is a division");
        Err(refusal.or_at(module.locs.span(found.loc), "here").help("multiply by the inverse"))
    }
}

/// The names of the functions.
#[derive(Debug)]
struct Outline;

impl Suite for Outline {
    fn name(&self) -> &str {
        "outline"
    }

    fn run(&self, case: &Case, session: &Session) -> std::result::Result<Outcome, String> {
        let module = case.module(session)?;
        let name = |function: &halite_ir::Function| format!("@{}", function.name);
        let names: Vec<_> = module.functions.iter().map(name).collect();
        Ok(Outcome::new([(Anchor::Top, names.join("\n"))]))
    }
}

fn session() -> Session {
    let mut session = Session::new();
    session.registry.register(Arc::new(Scaled)).expect("the name is new");
    let passes: [Arc<dyn Pass>; 3] = [
        Arc::new(DropScaled { name: "drop-scaled", drops: |by| by == 1.0 }),
        Arc::new(DropScaled { name: "drop-all-scaled", drops: |_| true }),
        Arc::new(NoDivision),
    ];
    for pass in passes {
        session.passes.register(pass).expect("the name is new");
    }
    let entry = DialectEntry::new("own.scaled", "scaled", "OwnScaled", |site| {
        let config = site.attr(&BY)?.to_string();
        Ok(KernelUse::new(config, [Operand::Arg(0)]))
    });
    session.kernels.register(entry.priority(1).targets(["trn1"])).expect("the name is new");
    session
}

fn kit(folder: &Path) -> Kit {
    Kit::new(session(), folder).suite(Arc::new(Outline))
}

/// Writes one golden file below a new folder.
fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
    folder
}

/// The error for one golden file.
fn fault(name: &str, text: &str) -> String {
    let folder = folder_with(name, text);
    let reports = kit(folder.path()).check(Mode::Check).expect("there is a file");
    assert_eq!(reports.len(), 1);
    reports[0].result.clone().expect_err(text)
}

#[test]
fn what_others_register_is_tested() {
    let reports =
        kit(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/surface/kit"))).check(Mode::from_environment());
    let reports = reports.expect("there are files");
    let names: Vec<_> = reports.iter().map(|report| report.name.as_str()).collect();
    let expected =
        ["opt/drop_scaled", "opt/no_division", "opt/own_kernel", "outline/two", "run/scaled", "verify/scaled"];
    assert_eq!(names, expected);
    for report in reports {
        assert_eq!(report.result, Ok(()), "{}", report.name);
    }
}

const SCALED: &str = "func @f(%x: f32[2]) -> (f32[2]) {\n  %y = scaled %x {by = 3.0} : f32[2]\n  return %y\n}\n";

fn opt(passes: &str) -> String {
    format!("//@ suite: opt\n//@ passes: {passes}\n\n{SCALED}")
}

/// A pass that computes something else is found out, and blessing does not hide it.
#[test]
fn a_wrong_pass_is_never_blessed() {
    let text = opt("drop-all-scaled");
    let fault = fault("opt/wrong.ir", &text);
    assert!(fault.starts_with("`drop-all-scaled` declares Identical: `@f` on Plain operands"), "{fault}");
    let folder = folder_with("opt/wrong.ir", &text);
    let reports = kit(folder.path()).check(Mode::Bless).expect("there is a file");
    assert_eq!(reports[0].result, Err(fault));
    assert_eq!(std::fs::read_to_string(folder.path().join("opt/wrong.ir")).expect("it is there"), text);
}

#[test]
fn blessing_writes_what_is_expected() {
    let text = opt("drop-scaled") + "//> old\n//$ run @f([1, 2]) == [3, 6]\n";
    let folder = folder_with("opt/stale.ir", &text);
    let check = |mode| kit(folder.path()).check(mode).expect("there is a file").remove(0).result;
    let fault = check(Mode::Check).expect_err("the text is old");
    let diff = "-//> old\n+//> func @f(%x: f32[2]) -> (f32[2]) {\n+//>   %y = scaled %x {by = 3.0} : f32[2]\n";
    assert!(
        fault.contains(diff) && fault.ends_with("run the test with `HALITE_BLESS=1`: it rewrites the file"),
        "{fault}"
    );
    assert_eq!((check(Mode::Bless), check(Mode::Check)), (Ok(()), Ok(())));
    let blessed = std::fs::read_to_string(folder.path().join("opt/stale.ir")).expect("it is there");
    assert!(!blessed.contains("old") && blessed.ends_with("//> }\n//$ run @f([1, 2]) == [3, 6]\n"), "{blessed}");
}

/// Each fault of a file and the words that tell it.
#[test]
fn faults_of_files_are_told() {
    let opt = opt("drop-scaled");
    let cases = [
        ("opts/a.ir", opt.clone(), "the folder `opts` is no suite; suites are outline, parse, verify, opt, "),
        ("a.ir", opt.clone(), "the folder `` is no suite"),
        ("opt/a.txt", opt.clone(), "the suite `opt` reads `.ir`; move the file or remove it"),
        ("run/a.ir", opt.clone(), "the file says `suite: opt`, its folder is `run`"),
        ("run/a.ir", SCALED.to_owned(), "the file does not say `//@ suite: run`"),
        (
            "opt/a.ir",
            opt.replace("passes", "pass"),
            "line 2: there is no directive `pass`; directives are suite, passes, ",
        ),
        ("opt/a.ir", opt.replace("drop-scaled", "drop-scale"), "`drop-scale`"),
        ("opt/a.ir", opt.replace("scaled %x", "scale %x"), "no op or composite is named `scale`\nhelp: "),
        ("opt/a.ir", opt.clone() + "//$ run @f([1, 2]) = [3, 6]\n", "line 8: an execution check is `//$ run"),
        (
            "opt/a.ir",
            opt.clone() + "//$ run @f([1, 2]) == [3, 5]\n",
            "line 8: interpreter: result 0, f32[2] [3.0, 5.0], has 6e0 for 5e0 at element 1",
        ),
        ("opt/a.ir", opt.clone() + "//~^ error: bad\n", "expected, line 7: error: bad"),
        (
            "opt/a.ir",
            opt.replace("drop-scaled", "no-division").replace("scaled %x {by = 3.0}", "divide %x, %x"),
            "line 5: ",
        ),
    ];
    for (name, text, expected) in cases {
        let fault = fault(name, &text);
        assert!(fault.contains(expected), "{name}: {fault}");
    }
}

#[test]
fn a_folder_without_files_is_a_fault() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join(".hidden"), "").expect("a file can be written");
    let fault = |path: &Path| kit(path).check(Mode::Check).expect_err("there are none");
    assert!(fault(folder.path()).ends_with(": there are no golden files"));
    assert!(fault(&folder.path().join("none")).contains("none: "));
}

/// The README of the crate shows the files of the example.
#[test]
fn the_readme_shows_the_example() {
    let read = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path);
    let (readme, example) = (read("kit/README.md"), read("kit/examples/custom_pass.rs"));
    assert!(readme.contains(&read("kit/examples/custom_pass/opt/multiply_by_inverse.ir")));
    let pass = example.split("/// Writes").nth(1).and_then(|rest| rest.split("\n}\n\nfn ").next());
    assert!(readme.contains(pass.expect("the example has a pass")));
}

#[test]
fn the_readme_has_all_directives_and_suites() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kit/README.md")).expect("it is there");
    let has = |name: &str| readme.lines().any(|line| line.starts_with('|') && line.contains(&format!("`{name}`")));
    let suites = halite_test_kit::suites::builtin();
    let names = Directives::KEYS.into_iter().chain(suites.iter().map(|suite| suite.name()));
    assert_eq!(names.filter(|name| !has(name)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn kits_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Kit>();
    shared::<Case>();
}
