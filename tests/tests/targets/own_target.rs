//! A target from outside: its forms, a kernel, a rule, its table of the recipe, and its name on the command line. No crate of
//! Halite knows it.

use halite::compile::CompileOptions;
use halite::recipe::{Recipe, Section, TargetName, table};
use halite::target::estimate::{Analysis, Question, analyze};
use halite::target::{ModuleCheck, Repeated, Target, Variant, origin};
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_bundle::estimate::MemoryKind;
use halite_cpu::CPU_XLA;
use halite_hlo::graph::Graph;
use halite_ir::{Indexing, KernelForm, LowerOptions};
use halite_passes::{DialectEntry, KernelUse, Operand};
use halite_support::{Diagnostic, Diagnostics, SourceMap, codes};
use std::sync::Arc;

/// Reads at positions are products with one-hot matrices, SiLU is a kernel, and a hyperbolic tangent is refused unless the
/// recipe's table is lax.
#[derive(Debug)]
struct Own;

table! {
    /// `[own]` of a recipe.
    struct Table {
        lax: bool = false,
    }
}

static SECTION: Section = Section {
    name: "own",
    about: "settings of a target that nobody has",
    keys: Table::KEYS,
    check: |_| Diagnostics::new(),
};

impl Target for Own {
    fn variants(&self) -> Vec<Variant> {
        vec![Variant::new("own1", "hardware that nobody has")]
    }

    fn analyze(
        &self,
        hlo: &Graph,
        _: &TargetName,
        _: &[String],
        arguments: &[MemoryKind],
    ) -> Result<Analysis, Diagnostic> {
        analyze(hlo, Question { backend: CPU_XLA, arguments, costs: None })
    }

    fn section(&self) -> Option<&'static Section> {
        Some(&SECTION)
    }

    fn kernels(&self) -> Vec<DialectEntry> {
        let call = |_: &halite_passes::Site<'_>| Ok(KernelUse::new("", [Operand::Arg(0)]));
        vec![DialectEntry::new("own.silu", "silu", "OwnSilu", call).targets(["own1"])]
    }

    fn forms(&self, _: &Recipe, options: LowerOptions) -> LowerOptions {
        LowerOptions { kernels: KernelForm::CustomCalls, reads: Indexing::OneHot, ..options }
    }

    fn check_module(&self, hlo: &Graph, recipe: &Recipe, sources: &SourceMap) -> ModuleCheck {
        let table: Table = recipe.section("own").unwrap_or_default();
        let insts = (0..hlo.len()).map(|at| hlo.inst(at));
        let refused = insts.filter(|inst| inst.opcode == "tanh" && !table.lax).map(|inst| {
            let place = origin(inst, hlo.module()).and_then(|origin| origin.span(sources));
            let error = Diagnostic::error(codes::ILLEGAL, "own1 has no `tanh`").or_at(place, "from here");
            Repeated::new(error.help("write it with `exp`"), 1)
        });
        ModuleCheck { findings: refused.collect(), ..ModuleCheck::default() }
    }
}

fn session() -> Session {
    let mut session = Session::new();
    session.register_target(Arc::new(Own)).expect("its names are new");
    session
}

fn compiled(session: &mut Session, input: &str, settings: &[&str]) -> Result<Bundle, Diagnostics> {
    let settings: Vec<String> = ["target=own1"].iter().chain(settings).map(|&setting| setting.to_owned()).collect();
    let source = session.load(input, &settings)?;
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    Ok(session.compile(&source, &options)?.bundle)
}

fn opcodes(bundle: &Bundle) -> Vec<(String, String)> {
    let entry = bundle.module_with_role(&ModuleRole::TRAIN_STEP).expect("it is compiled");
    let hlo = halite_hlo::decode(bundle.hlo(entry).expect("it is there")).expect("it is HLO");
    let insts = hlo.computations.into_iter().flat_map(|computation| computation.instructions);
    insts.map(|inst| (inst.opcode.to_string(), inst.custom_call_target.clone())).collect()
}

#[test]
fn a_model_is_compiled_in_its_forms_with_its_kernel() {
    let mut session = session();
    let bundle = compiled(&mut session, "tiny", &["own.lax=true"]).unwrap_or_else(|e| panic!("{e:?}"));
    let opcodes = opcodes(&bundle);
    assert!(opcodes.iter().any(|(_, kernel)| kernel == "OwnSilu"), "the kernel is called");
    assert!(!opcodes.iter().any(|(opcode, _)| opcode == "gather"), "reads are products");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("bundle");
    bundle.write(&place).expect("it can be written");
    assert!(session.read_bundle(&place) == Ok(bundle), "it is read where the target is known");
    let error = Session::new().read_bundle(&place).map(|_| ()).unwrap_err();
    assert!(error.message().contains("`target` is `own1`"), "and refused where it is not: {error}");
}

#[test]
fn its_rule_refuses_a_model_at_its_line() {
    let text = "model m {\n  config { batch = 1; width = 8 }\n  fn main(x: f32[batch, width], y: s32[batch]) {\n    \
                param w: [width, width] = normal(0.02)\n    h = tanh(linear(x, w))\n    \
                loss, count = cross_entropy(h, y)\n    return loss, count\n  }\n}\n";
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("m.hal");
    std::fs::write(&path, text).expect("a file can be written");
    let path = path.to_string_lossy().into_owned();
    let mut session = session();
    let errors = compiled(&mut session, &path, &[]).map(|_| ()).unwrap_err();
    let place = errors[0].primary().expect("it has a place").span;
    assert_eq!((errors[0].code(), session.sources.snippet(place)), (codes::ILLEGAL, "h = tanh(linear(x, w))"));
    assert!(compiled(&mut session, &path, &["own.lax=true"]).is_ok(), "its table allows it");
    let unknown = compiled(&mut session, &path, &["own.laks=true"]).map(|_| ()).unwrap_err();
    assert_eq!(unknown[0].message(), "unknown key `own.laks`");
    assert!(Session::new().load(&path, &["own.lax=true".to_owned()]).is_err(), "the table is that of the target");
}

#[test]
fn the_command_line_of_its_session_lists_it() {
    let help = |session: &Session| {
        let mut command = halite_cli::command(session);
        let compile = command.find_subcommand_mut("compile").expect("there is such a command");
        compile.render_long_help().to_string()
    };
    let text = help(&session());
    assert!(text.contains("- own1:") && text.contains("hardware that nobody has"), "{text}");
    assert!(!help(&Session::new()).contains("own1"));
}
