//! Tables and numbers for people.

pub(super) use halite::units::{bytes, short};

/// Rows of cells, the first row being the head; columns of numbers are aligned to the right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let starts_with_digit =
        |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '+');
    let is_number = |column: usize| rows.iter().skip(1).filter_map(|row| row.get(column)).all(starts_with_digit);
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if is_number(column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let rule = format!("  {}\n", widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("  "));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if lines.len() > 1 {
        lines.insert(1, rule);
    }
    lines.concat()
}

/// Names and values, one pair a line.
pub(super) fn facts(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    pairs.iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect()
}

/// A whole number with its digits in groups of three: `6,738,415,616`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 finding`, `2 findings`.
pub(super) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", grouped(number as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(6_738_415_616), "6,738,415,616");
        assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["op".to_owned(), "n".to_owned()], vec!["dot".to_owned(), "12".to_owned()]];
        assert_eq!(table(&rows), "  op    n\n  ───  ──\n  dot  12\n");
    }
}
