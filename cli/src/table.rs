//! Tables and numbers for people.

pub(super) use halite_support::units::{bytes, short};

use crate::{layout, terminal};

/// Rows of cells, the first row being the head; columns of numbers are aligned to the right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    layout::grid(rows, terminal::out_columns())
}

/// Names and values, one pair a line.
pub(super) fn facts(pairs: &[(&str, String)]) -> String {
    layout::pairs(pairs, terminal::out_columns())
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
