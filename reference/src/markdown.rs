//! The little Markdown that entries are written in.

/// A fenced block.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end())
}

/// A piece of Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Block<'t> {
    /// A heading and its level.
    Heading(usize, &'t str),
    /// A paragraph.
    Paragraph(String),
    /// The items of a list.
    List(Vec<String>),
    /// A fenced block with its language.
    Code(&'t str, Vec<&'t str>),
}

/// The pieces of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut in_code, mut is_open) = (false, false);
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            if !in_code {
                blocks.push(Block::Code(language, Vec::new()));
            }
            in_code = !in_code;
            is_open = false;
        } else if in_code {
            if let Some(Block::Code(_, lines)) = blocks.last_mut() {
                lines.push(line);
            }
        } else if line.trim().is_empty() {
            is_open = false;
        } else if let Some(heading) = line.strip_prefix('#') {
            let title = heading.trim_start_matches('#');
            blocks.push(Block::Heading(line.len() - title.len(), title.trim()));
            is_open = false;
        } else if let Some(item) = line.strip_prefix("- ") {
            match blocks.last_mut() {
                Some(Block::List(items)) if is_open => items.push(item.to_owned()),
                _ => blocks.push(Block::List(vec![item.to_owned()])),
            }
            is_open = true;
        } else {
            go_on(&mut blocks, line.trim(), is_open);
            is_open = true;
        }
    }
    blocks
}

/// Adds a line to the open paragraph or item, or opens a paragraph.
fn go_on(blocks: &mut Vec<Block<'_>>, line: &str, is_open: bool) {
    let open = match blocks.last_mut() {
        Some(Block::Paragraph(text)) if is_open => Some(text),
        Some(Block::List(items)) if is_open => items.last_mut(),
        _ => None,
    };
    match open {
        Some(text) => {
            text.push(' ');
            text.push_str(line);
        }
        None => blocks.push(Block::Paragraph(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_is_written() {
        let text = "# Title\n\nOne\ntwo.\n- a\n- b\n  c\n\n```hal\nx = 1\n\ny\n```\nlast\n";
        let owned = |text: &str| text.to_owned();
        assert_eq!(
            blocks(text),
            [
                Block::Heading(1, "Title"),
                Block::Paragraph(owned("One two.")),
                Block::List(vec![owned("a"), owned("b c")]),
                Block::Code("hal", vec!["x = 1", "", "y"]),
                Block::Paragraph(owned("last")),
            ]
        );
    }
}
