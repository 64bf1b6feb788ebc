//! Functions of golden files of passes: what goes in, and what must come out.

/// A function of a golden file, before and after the passes of the file.
#[derive(Debug)]
pub(super) struct Golden {
    /// The passes.
    pub(super) passes: String,
    /// Lines of the recipe.
    pub(super) recipe: Vec<String>,
    /// The function.
    pub(super) before: String,
    /// The function after the passes.
    pub(super) after: String,
    /// The texts of its `//~` lines, which the passes must say.
    pub(super) said: Vec<String>,
}

/// The function of this name; `None` where the file has none.
pub(super) fn function(text: &str, name: &str) -> Option<Golden> {
    let head = format!("func @{name}(");
    let start = text.lines().position(|line| line.starts_with(&head))?;
    let lines: Vec<&str> = text.lines().skip(start).collect();
    let end = lines.iter().position(|line| line.starts_with('}'))? + 1;
    let (before, rest) = lines.split_at(end);
    let is_said = |line: &&&str| line.contains("//~");
    let before_lines: Vec<&str> = before
        .iter()
        .map(|line| line.split("//~").next().unwrap_or_default().trim_end())
        .filter(|line| !line.is_empty())
        .collect();
    let after = rest.iter().take_while(|line| !line.starts_with("func @") && !line.starts_with("// "));
    let after: Vec<&str> =
        after.filter_map(|line| line.strip_prefix("//>")).map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let said = before.iter().filter(is_said).filter_map(|line| line.split("//~").nth(1));
    Some(Golden {
        passes: directive(text, "passes").next().unwrap_or_default().to_owned(),
        recipe: directive(text, "recipe").map(str::to_owned).collect(),
        before: before_lines.join("\n"),
        after: after.join("\n").trim_end().to_owned(),
        said: said.map(|said| said.trim_start_matches(['^', '?']).trim().to_owned()).collect(),
    })
}

/// The values of a directive, in order.
fn directive<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| line.strip_prefix("//@ ")?.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}
