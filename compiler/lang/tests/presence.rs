//! Arguments of `main` that are there under a condition of the configuration.

use halite_ir::{Registry, text};
use halite_lang::{Elaborated, Options, Override, elaborate};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostics, SourceMap};

/// A model whose `s` is there where `more` is true; `x` is `f32[2,3]`.
fn built(more: bool, body: &str) -> Result<Elaborated, Diagnostics> {
    let model = format!(
        "model m {{ config {{ more = false }}
          fn shifted(x, s) {{ return if more {{ x + convert(s, float) }} else {{ x }} }}
          fn through(x, s) {{ return s, x }}
          fn main(t: s32[2, 3], s: s32[2, 3] if more) {{
            x = convert(t, float)
            {body}
            return sum(x), sum(full([1], 1.0))
          }} }}"
    );
    let file = SourceMap::new().add("model.hal", model.as_str());
    let overrides = vec![Override::new("more", ConfigValue::Bool(more))];
    elaborate(file, &model, &Options { overrides, ..Options::default() }, &Registry::builtin())
}

/// The text of the module.
#[track_caller]
fn module(more: bool, body: &str) -> String {
    text::print(&built(more, body).unwrap_or_else(|errors| panic!("{body}: {errors:?}")).module)
}

#[test]
fn what_is_not_there_is_no_input() {
    let [with, without] = [true, false].map(|more| module(more, "x = shifted(x, s)"));
    assert!(with.contains("%s: s32[2,3] {batch}") && with.contains("add"), "{with}");
    assert_eq!(without, module(false, "x = x"), "nothing else is made");
    assert!(!without.contains("%s"), "{without}");
}

#[test]
fn names_are_handed_on() {
    for body in [
        "y, x = through(x, s)\n x = shifted(x, y)",
        "y = s\n x = shifted(x, if more { s } else { y })",
        "x = if more { x * convert(s, float) } else { shifted(x, s = s) }",
    ] {
        assert!(module(true, body).contains("%s: s32"), "{body}");
        assert!(!module(false, body).contains("%s"), "{body}");
    }
}

#[test]
fn nothing_is_made_of_what_is_not_there() {
    let uses = [
        "x = x + convert(s, float)",
        "x = x * s",
        "x = x * convert(-s, float)",
        "x = x + convert(s[0], float)",
        "x = concat([x, s], dim = 0)",
        "x = if s == t { x } else { x }",
        "y, x = through(x, s)\n x = x + convert(y, float)",
        "output s",
    ];
    for body in uses {
        built(true, body).err().into_iter().flatten().for_each(|error| assert_ne!(error.code().id, "E0311", "{body}"));
        let errors = built(false, body).err().unwrap_or_default();
        let found: Vec<_> = errors.iter().map(|error| (error.code().id, error.message())).collect();
        assert_eq!(found, [("E0311", "`s` is used where it is not there")], "{body}");
    }
}

#[test]
fn some_input_is_there() {
    let text = "model m { config { more = false } fn main(x: float[2] if more) { return sum(x), sum(x) } }";
    let file = SourceMap::new().add("model.hal", text);
    let errors = elaborate(file, text, &Options::default(), &Registry::builtin()).err().unwrap_or_default();
    assert_eq!(errors.iter().map(|error| error.message()).next(), Some("`main` takes no batch"));
}
