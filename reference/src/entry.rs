//! One entry.

/// The kind of thing that an entry describes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A chapter on the language.
    Language,
    /// A function that models may call and that is no composite.
    Builtin,
    /// A composite, which models may call too.
    Composite,
    /// A function of a built-in library.
    Block,
    /// A key of recipes.
    Recipe,
    /// A command.
    Command,
    /// A primitive of the IR.
    Op,
    /// A pass.
    Pass,
    /// A diagnostic.
    Diagnostic,
}

impl Kind {
    /// All of them, in the order of pages.
    pub const ALL: [Kind; 9] = [
        Kind::Language,
        Kind::Builtin,
        Kind::Composite,
        Kind::Block,
        Kind::Recipe,
        Kind::Command,
        Kind::Op,
        Kind::Pass,
        Kind::Diagnostic,
    ];

    /// The word for one thing of this kind.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Language => "chapter",
            Kind::Builtin => "builtin",
            Kind::Composite => "composite",
            Kind::Block => "block",
            Kind::Recipe => "recipe key",
            Kind::Command => "command",
            Kind::Op => "op",
            Kind::Pass => "pass",
            Kind::Diagnostic => "diagnostic",
        }
    }

    /// The name of its page below `docs/reference/`.
    pub fn page(self) -> &'static str {
        match self {
            Kind::Language => "language",
            Kind::Builtin => "builtins",
            Kind::Composite => "composites",
            Kind::Block => "blocks",
            Kind::Recipe => "recipe",
            Kind::Command => "commands",
            Kind::Op => "ops",
            Kind::Pass => "passes",
            Kind::Diagnostic => "diagnostics",
        }
    }

    /// The title of its page.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Language => "The language by example",
            Kind::Builtin => "Builtins of the language",
            Kind::Composite => "Composites",
            Kind::Block => "Blocks of models",
            Kind::Recipe => "Keys of recipes",
            Kind::Command => "Commands",
            Kind::Op => "Ops of the IR",
            Kind::Pass => "Passes",
            Kind::Diagnostic => "Diagnostics",
        }
    }
}

impl Kind {
    /// The introduction of its page, before the entries.
    pub(crate) fn opening(self) -> &'static str {
        match self {
            Kind::Language => "",
            Kind::Builtin => {
                "Functions that models call, beside composites. Arguments with `= ..` may be left out; any may be given by its name."
            }
            Kind::Composite => {
                "Models call composites with operands by position or by name, and attributes by name. Each is lowered to ops. Of precision, `operand`, \
                 `accumulate`, `sensitive`, `gradient` and `reduce` are keys of `[precision]`; `engine` is `f32`, or `f64` for `f64`; \
                 `widest` is the type of the widest operand, `own` that of each operand."
            }
            Kind::Block => {
                "Functions of the libraries that come with Halite. A model lists those that it calls before its first line: \
                 `use blocks: norm, attention`."
            }
            Kind::Recipe => {
                "A recipe is TOML; `--set KEY=VALUE` changes a key on the command line. In `optimizer.<rule>`, `<rule>` is an \
                 update rule, such as `adamw`; its settings may stand in `[[optimizer.group]]` too."
            }
            Kind::Command => "Each command also takes the options of `halite`.",
            Kind::Op => {
                "Composites are lowered to ops, and ops to HLO. The page on composites explains the words of precision."
            }
            Kind::Pass => "`halite opt FILE.ir --passes NAME` runs a pass on a program.",
            Kind::Diagnostic => {
                "`E01xx` syntax, `E02xx` types and IR, `E03xx` the model language, `E04xx` recipes and configuration, `E05xx` bundles, \
                 tensors and files, `E06xx` passes, `E07xx` running, `E08xx` what looks wrong, `E09xx` the compiler itself."
            }
        }
    }
}

/// The entry of the reference on one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The kind of the thing.
    pub kind: Kind,
    /// Its name, which no other entry of its kind has.
    pub name: String,
    /// One line.
    pub summary: String,
    /// The description, in Markdown: paragraphs, lists and fenced blocks.
    pub body: String,
    /// Other names that it is found by.
    pub aliases: Vec<String>,
    /// The file of a chapter, below `docs/language/`; empty for others.
    pub file: &'static str,
}

impl Entry {
    /// An entry without other names.
    pub fn new(kind: Kind, name: impl Into<String>, summary: impl Into<String>, body: impl Into<String>) -> Self {
        let (name, summary, body) = (name.into(), summary.into(), body.into());
        Self { kind, name, summary, body, aliases: Vec::new(), file: "" }
    }

    /// The same, also found by these names.
    #[must_use]
    pub fn with_aliases<S: Into<String>>(mut self, aliases: impl IntoIterator<Item = S>) -> Self {
        self.aliases.extend(aliases.into_iter().map(Into::into));
        self
    }

    /// The label by which other entries refer to it: `op tanh`, `recipe key seq`.
    pub fn label(&self) -> String {
        format!("{} {}", self.kind.word(), self.name)
    }

    /// The anchor on its page: its kind and name in letters, digits and dashes.
    pub fn anchor(&self) -> String {
        let plain =
            |character: char| if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
        format!("{}-{}", self.kind.page(), self.name.to_lowercase().chars().map(plain).collect::<String>())
    }
}
