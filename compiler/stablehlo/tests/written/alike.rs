//! Texts without the names of values and places.

/// A text whose values are numbered in the order in which they are first named, without locations.
pub(crate) fn renamed(text: &str) -> String {
    let mut numbers = std::collections::BTreeMap::new();
    let (mut renamed, mut next) = (String::new(), 0);
    let lines = text.lines().filter(|line| !line.starts_with("#loc"));
    for line in lines.map(without_locations) {
        let (is_block, is_value) = (line.trim_start().starts_with('^'), line.trim_start().starts_with('%'));
        let mut parts = line.split('%');
        renamed.extend(parts.next());
        for (at, part) in parts.enumerate() {
            let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || "._-$".contains(c))).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            // What combines is written out at each of its uses, and may be one computation or several.
            if is_block || is_value && at == 0 || !numbers.contains_key(name) {
                next += 1;
                numbers.insert(name.to_owned(), next);
            }
            renamed.push_str(&format!("%{}{rest}", numbers[name]));
        }
        renamed.push('\n');
    }
    renamed
}

/// A line without ` loc(#loc3)`.
fn without_locations(line: &str) -> String {
    let mut parts = line.split(" loc(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + part.split_once(')').map_or("", |(_, rest)| rest))
}
