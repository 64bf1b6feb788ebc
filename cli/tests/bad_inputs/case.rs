//! The text form of a case.
//!
//! A line `-- name --` starts a section; each has at least that line. Text before the first says what the mistake is.
//! The sections `setup` (directives of [`crate::setup`]), `command`, `exit` and `stderr` have their own meaning, any
//! other is an input file.

/// One bad input.
#[derive(Debug)]
pub(crate) struct Case {
    about: String,
    /// Input files by name.
    pub(crate) files: Vec<(String, String)>,
    /// Commands that make further inputs, line by line.
    pub(crate) setup: Vec<String>,
    /// Arguments of the binary.
    pub(crate) command: Vec<String>,
    /// The exit code.
    pub(crate) exit: i32,
    /// Standard error, `$DIR` standing for the folder.
    pub(crate) stderr: String,
}

impl Case {
    /// Reads a case. Exit code and standard error may be left out before they are blessed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut case = Self {
            about: String::new(),
            files: Vec::new(),
            setup: Vec::new(),
            command: Vec::new(),
            exit: 2,
            stderr: String::new(),
        };
        let mut section = None;
        let mut body = String::new();
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("-- ").and_then(|line| line.trim_end().strip_suffix(" --")) {
                Some(name) => {
                    case.add(section.replace(name), std::mem::take(&mut body))?;
                }
                None => body.push_str(line),
            }
        }
        case.add(section, body)?;
        if text.contains("-- command --") { Ok(case) } else { Err("no `-- command --`".to_owned()) }
    }

    fn add(&mut self, section: Option<&str>, body: String) -> Result<(), String> {
        match section {
            None => self.about = body,
            Some("setup") => self.setup = body.lines().map(str::to_owned).collect(),
            Some("command") => {
                let mut words = words(body.trim())?;
                if words.is_empty() || words.remove(0) != "halite" {
                    return Err("the command is not `halite ...`".to_owned());
                }
                self.command = words;
            }
            Some("exit") => self.exit = body.trim().parse().map_err(|_| format!("exit code `{body}`"))?,
            Some("stderr") => self.stderr = body,
            Some(file) => self.files.push((file.to_owned(), body)),
        }
        Ok(())
    }

    /// The case as text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.about.clone();
        let mut section = |name: &str, body: &str| text.push_str(&format!("-- {name} --\n{body}"));
        for (name, body) in &self.files {
            section(name, body);
        }
        if !self.setup.is_empty() {
            section("setup", &(self.setup.join("\n") + "\n"));
        }
        let command: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        section("command", &(["halite".to_owned()].into_iter().chain(command).collect::<Vec<_>>().join(" ") + "\n"));
        section("exit", &format!("{}\n", self.exit));
        section("stderr", &self.stderr);
        text
    }
}

fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && !word.contains(|character: char| character.is_whitespace() || "()*'".contains(character));
    if plain { word.to_owned() } else { format!("'{word}'") }
}

/// The words of a line, separated by spaces; `'one word'`.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').ok_or_else(|| format!("an open quote in `{line}`"))?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}
