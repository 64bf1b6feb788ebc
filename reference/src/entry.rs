//! One entry.

/// What an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A chapter on the language.
    Language,
    /// A function that models may call and that is no composite.
    Builtin,
    /// A composite, which models may call too.
    Composite,
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
    pub const ALL: [Kind; 8] = [
        Kind::Language,
        Kind::Builtin,
        Kind::Composite,
        Kind::Recipe,
        Kind::Command,
        Kind::Op,
        Kind::Pass,
        Kind::Diagnostic,
    ];

    /// What one of them is called.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Language => "chapter",
            Kind::Builtin => "builtin",
            Kind::Composite => "composite",
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
            Kind::Recipe => "Keys of recipes",
            Kind::Command => "Commands",
            Kind::Op => "Ops of the IR",
            Kind::Pass => "Passes",
            Kind::Diagnostic => "Diagnostics",
        }
    }
}

/// What the reference says of one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// What the thing is.
    pub kind: Kind,
    /// Its name, which no other entry of its kind has.
    pub name: String,
    /// One line.
    pub summary: String,
    /// What there is to say, in Markdown: paragraphs, lists and fenced blocks.
    pub body: String,
    /// Other names that it is found by.
    pub aliases: Vec<String>,
}

impl Entry {
    /// An entry without other names.
    pub fn new(kind: Kind, name: impl Into<String>, summary: impl Into<String>, body: impl Into<String>) -> Self {
        let (name, summary, body) = (name.into(), summary.into(), body.into());
        Self { kind, name, summary, body, aliases: Vec::new() }
    }

    /// The same, also found by these names.
    #[must_use]
    pub fn with_aliases<S: Into<String>>(mut self, aliases: impl IntoIterator<Item = S>) -> Self {
        self.aliases.extend(aliases.into_iter().map(Into::into));
        self
    }

    /// What others refer to it by: `op tanh`, `recipe key seq`.
    pub fn label(&self) -> String {
        format!("{} {}", self.kind.word(), self.name)
    }

    /// Where it stands on a page: its kind and name in letters, digits and dashes.
    pub fn anchor(&self) -> String {
        let plain =
            |character: char| if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
        format!("{}-{}", self.kind.page(), self.name.to_lowercase().chars().map(plain).collect::<String>())
    }
}
