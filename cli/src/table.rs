//! Tables and numbers for people.

pub(super) use halite_support::units::{bytes, counted, grouped, short};

use crate::{layout, terminal};

/// Rows of cells, the first row being the head; columns of numbers are aligned to the right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    layout::grid(rows, terminal::out_columns())
}

/// Names and values, one pair a line.
pub(super) fn facts(pairs: &[(&str, String)]) -> String {
    layout::pairs(pairs, terminal::out_columns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["op".to_owned(), "n".to_owned()], vec!["dot".to_owned(), "12".to_owned()]];
        assert_eq!(table(&rows), "  op    n\n  ───  ──\n  dot  12\n");
    }
}
