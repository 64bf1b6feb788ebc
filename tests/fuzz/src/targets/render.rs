//! Rendering of diagnostics: any spans in any text.

use crate::judge::{Verdict, rendered};
use crate::random::Random;
use crate::repository;
use crate::target::{TEXT, Target};
use halite_cli::exit_code;
use halite_report::Style;
use halite_support::{Diagnostic, FileId, SourceMap, Span, codes};

pub(crate) const TARGET: Target = Target { name: "render", share: 95, seeds, prepare: |_| Box::new(run), ..TEXT };

fn seeds() -> Vec<Vec<u8>> {
    let models = repository::contents(&repository::files("models", ".hal"));
    let long =
        ["x = 1, ".repeat(500), "\u{e9}\u{1f9c2}e\u{301}\t".repeat(50), "\n".repeat(200), "a\r\nb\r\n".to_owned()];
    let texts = [models, repository::case_files(".toml"), repository::case_files(".hal")].concat();
    texts.into_iter().chain(long.map(String::into_bytes)).collect()
}

/// Spans, labels and looks follow from the text.
fn run(input: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(input);
    let mut random = Random::of_content(input);
    let mut sources = SourceMap::new();
    let file = sources.add(words(&mut random, &text), &*text);
    let message = words(&mut random, &text);
    let mut diagnostic = match random.below(3) {
        0 => Diagnostic::warning(codes::INPUT, message),
        1 => Diagnostic::error(*random.pick(codes::ALL), message),
        _ => Diagnostic::bug(message),
    };
    if !random.once_in(8) {
        diagnostic = diagnostic.at(span(&mut random, file, &text), words(&mut random, &text));
    }
    for _ in 0..random.below(4) {
        let file = if random.once_in(8) { FileId::of("elsewhere", "") } else { file };
        diagnostic = diagnostic.also(span(&mut random, file, &text), words(&mut random, &text));
    }
    if random.once_in(2) {
        diagnostic = diagnostic.note(words(&mut random, &text)).help(words(&mut random, &text));
    }
    let style = Style {
        color: random.once_in(2),
        width: *random.pick(&[None, Some(0), Some(1), Some(20), Some(80), Some(100_000)]),
    };
    exit_code(std::slice::from_ref(&diagnostic));
    rendered(&diagnostic, &sources, style).map(|()| true)
}

/// A span that may be empty, backwards, between the bytes of a character, or outside.
fn span(random: &mut Random, file: FileId, text: &str) -> Span {
    let start = random.below(text.len() + 3);
    let length = *random.pick(&[0, 1, 2, 10, 100, text.len()]);
    let end = if random.once_in(20) { start.saturating_sub(length) } else { start + length };
    Span { file, start: start as u32, end: if random.once_in(50) { u32::MAX } else { end as u32 } }
}

/// A few words of the text.
fn words(random: &mut Random, text: &str) -> String {
    let start = random.below(text.len());
    text.chars().skip(start).take(random.below(60)).collect()
}
