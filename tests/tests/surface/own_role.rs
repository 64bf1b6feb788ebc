//! A role from outside: what its modules return, how they are made, and its name on the command line. No crate of Halite knows it.

use halite::compile::CompileOptions;
use halite::pipelines::{inference, train_step};
use halite::roles::{Calls, Returned, Role};
use halite::{Bundle, Session};
use halite_bundle::tensors::Tensors;
use halite_bundle::{ModuleRole, PortRole};
use halite_support::{Diagnostics, codes};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::{expect, stored_state};
use halite_train::{LoadedModule, TrainStep};

fn named(name: &'static str) -> ModuleRole {
    ModuleRole::new(name).expect("it is well formed")
}

/// Loss, count and one value of the model.
fn scores() -> Role {
    let returns = [Returned::Loss, Returned::Probe("logits".into())];
    Role::new(named("scores"), "batch and weights to loss, count and logits", returns, inference())
}

fn session(role: Role) -> Session {
    let mut session = Session::new();
    session.roles.register(role).expect("its name is new");
    session
}

fn compiled(session: &mut Session, roles: &[ModuleRole], settings: &[&str]) -> Result<Bundle, Diagnostics> {
    let settings = ["layers=1", "seq=8", "batch=2"].iter().chain(settings).map(|&setting| setting.to_owned());
    let source = session.load("tiny", &settings.collect::<Vec<_>>())?;
    let options = CompileOptions { roles: roles.to_vec(), ..CompileOptions::default() };
    Ok(session.compile(&source, &options)?.bundle)
}

/// The outputs of a module on the initial state and some tokens.
fn run(bundle: &Bundle, role: &ModuleRole) -> Tensors {
    let entry = bundle.module_with_role(role).expect("it is compiled");
    let module = LoadedModule::load(xla::client(), bundle, entry).expect("it is sound");
    let mut tensors = stored_state(bundle, 5);
    tensors.insert("tokens".to_owned(), tokens(2));
    tensors.retain(|name, _| entry.inputs.iter().any(|port| port.name == *name));
    expect(module.run(xla::client(), tensors))
}

fn tokens(rows: usize) -> HostTensor {
    HostTensor::from_ints(DType::S32, [rows, 9], (0..rows as i128 * 9).map(|index| index * 37 % 251))
}

#[test]
fn a_module_of_it_is_compiled_written_read_and_run() {
    let mut session = session(scores());
    let asked = [named("scores"), ModuleRole::FORWARD, ModuleRole::EVAL];
    let bundle = expect(compiled(&mut session, &asked, &[]));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("bundle");
    bundle.write(&place).expect("it can be written");
    // Who reads a bundle need not know its roles.
    let bundle = Session::new().read_bundle(&place).expect("it can be read");
    assert!(bundle.manifest.schedule.is_empty(), "it is no part of an update");

    let entry = bundle.module_with_role(&named("scores")).expect("it is compiled");
    let ports: Vec<_> = entry.outputs.iter().map(|port| (port.name.as_str(), port.role)).collect();
    let expected = [("loss", PortRole::Metric), ("count", PortRole::Metric), ("logits", PortRole::Probe)];
    assert_eq!((ports.as_slice(), entry.file.as_str()), (expected.as_slice(), "scores.hlo.pb"));
    let scores = run(&bundle, &named("scores"));
    assert_eq!(scores["logits"], run(&bundle, &ModuleRole::FORWARD)["logits"]);
    assert_eq!(scores["loss"], run(&bundle, &ModuleRole::EVAL)["loss"]);
}

/// How often an update calls a module, and how many micro-batches that takes, follows from its role and its passes.
#[test]
fn a_module_of_it_makes_an_update() {
    let role = Role::new(named("own_step"), "one update", [Returned::Loss], train_step()).called(Calls::Once);
    let bundle = expect(compiled(&mut session(role), &[named("own_step")], &["accumulate=2"]));
    let [actions] = bundle.manifest.schedule.as_slice() else { panic!("{:?}", bundle.manifest.schedule) };
    assert_eq!(actions.iter().map(ToString::to_string).collect::<Vec<_>>(), ["run own_step 0"]);
    let fed = bundle.manifest.buffers.iter().find(|buffer| buffer.is_batch()).expect("it is fed tokens");
    assert_eq!(fed.shape, [2, 9], "a micro-batch");
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(5));
    let losses: Vec<f64> = (0..4).map(|_| expect(step.step(&tokens(4))).loss()).collect();
    assert!(losses[3] < losses[0], "{losses:?}");
}

#[test]
fn a_role_is_unknown_registered_twice_or_has_nothing_to_return() {
    let mut session = session(scores());
    let twice = session.roles.register(scores()).unwrap_err();
    assert_eq!((twice.code(), twice.message()), (codes::DUPLICATE, "a role named `scores` is registered already"));
    let shared = session.roles.register(Role::new(named("model"), "", [Returned::Loss], inference())).unwrap_err();
    assert_eq!((shared.code(), shared.message()), (codes::DUPLICATE, "a role cannot be named `model`"));
    assert_eq!(ModuleRole::new("own.role").unwrap_err().code(), codes::NAME);

    let unknown = compiled(&mut session, &[named("score")], &[]).map(|_| ()).unwrap_err();
    assert_eq!((unknown[0].code(), unknown[0].message()), (codes::MODULE, "there is no role `score`"));
    assert_eq!(unknown[0].help_text(), Some("did you mean `scores`?"));
    assert!(session.roles.set_pipeline(&named("score"), inference()).is_err());

    let role =
        Role::new(named("hidden"), "batch and weights to logits", [Returned::Probe("logit".into())], inference());
    session.roles.register(role).expect("its name is new");
    let missing = compiled(&mut session, &[named("hidden")], &[]).map(|_| ()).unwrap_err();
    let message = "the model `llama` shows no value `logit` for the module `hidden` to return";
    assert_eq!((missing[0].code(), missing[0].message()), (codes::CONTRACT, message));
    assert_eq!(missing[0].help_text(), Some("the model shows `logits`"));
}

#[test]
fn the_command_line_of_its_session_takes_it() {
    let parse = |session: &Session, role: &str| {
        let line = ["halite", "compile", "tiny", "--role", role];
        halite_cli::command(session).try_get_matches_from(line)
    };
    let session = session(scores());
    assert!(parse(&session, "eval,scores").is_ok());
    assert!(parse(&Session::new(), "scores").is_err());
    let error = parse(&session, "score").unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("a similar value exists: 'scores'"), "{error}");
    let mut command = halite_cli::command(&session);
    let help = command.find_subcommand_mut("compile").expect("there is such a command").render_long_help().to_string();
    assert!(help.contains("- scores:") && help.contains("batch and weights to loss, count and logits"), "{help}");
}
