//! Diagnostics on standard error.

use crate::table::counted;
use halite_report::Style;
use halite_support::{Diagnostic, Severity, SourceMap};

/// The most diagnostics that are shown in full.
const SHOWN: usize = 20;

/// Reports for people: the most serious ones in their order, and how many more there are.
pub(super) fn text(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    let mut order: Vec<usize> = (0..diagnostics.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(diagnostics[index].severity()));
    let (shown, hidden) = order.split_at_mut(SHOWN.min(diagnostics.len()));
    shown.sort_unstable();
    let report = |&index: &usize| halite_report::report(&diagnostics[index], sources, style) + "\n";
    let reports: String = shown.iter().map(report).collect();
    if hidden.is_empty() {
        return reports;
    }
    let of =
        |wanted: fn(Severity) -> bool| hidden.iter().filter(|&&index| wanted(diagnostics[index].severity())).count();
    let counts = [
        (of(|severity| severity > Severity::Warning), "error"),
        (of(|severity| severity == Severity::Warning), "warning"),
        (of(|severity| severity == Severity::Note), "note"),
    ];
    let counts =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, &format!("more {what}")));
    format!("{reports}and {}: `--json` shows all\n", counts.collect::<Vec<_>>().join(" and "))
}

/// All of them, each as a line of JSON.
pub(super) fn json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| halite_report::json(diagnostic, sources) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::{Span, codes};

    /// As many diagnostics in a text of one line, which is the hardest: nothing in it is near its start.
    fn many(count: usize) -> (Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let file = sources.add("config.json", "\"key\": 1, ".repeat(count));
        let at = |index: usize| Span::new(file, 10 * index, 10 * index + 5);
        let error =
            |index| Diagnostic::error(codes::RECIPE_RANGE, format!("unknown key {index}")).at(at(index), "here");
        (std::iter::once(Diagnostic::warning(codes::UNUSED, "w")).chain((1..count).map(error)).collect(), sources)
    }

    #[test]
    fn twenty_are_shown_and_the_others_counted() {
        let text = |count| {
            let (diagnostics, sources) = many(count);
            text(&diagnostics, &sources, Style::default())
        };
        assert!(text(20).contains("warning[") && !text(20).contains("more"));
        // Errors before warnings.
        assert!(text(21).ends_with("and 1 more warning: `--json` shows all\n") && !text(21).contains("warning["));
        let shown = text(5000);
        assert!(shown.ends_with("and 4,979 more errors and 1 more warning: `--json` shows all\n"), "{shown}");
        assert_eq!(shown.matches("error[").count(), 20);
        assert!(shown.contains("unknown key 1\n") && shown.contains("unknown key 20\n"), "{shown}");
        // What is said does not grow with their number.
        assert!(shown.len() < text(100).len() + 1000);
    }

    #[test]
    fn json_holds_all_and_grows_with_their_number_alone() {
        let json = |count| {
            let (diagnostics, sources) = many(count);
            json(&diagnostics, &sources)
        };
        assert_eq!(json(5000).lines().count(), 5000);
        let slope = (json(8000).len() as f64 / json(1000).len() as f64).log(8.0);
        assert!(slope < 1.05, "{slope}");
        assert!(json(3000).lines().last().is_some_and(|line| line.contains("\"line\":1,\"column\":29991")));
    }
}
