//! Arguments of the command line, run as `main` does, in a folder with one of each input. One argument is one line.

use super::{manifest, put_below};
use crate::judge::Verdict;
use crate::repository;
use crate::target::{TEXT, Target};
use crate::targets::hlo;
use halite::Session;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const TARGET: Target = Target {
    name: "arguments",
    share: 5,
    seeds,
    prepare: |folder| {
        let folder = folder.join("inputs");
        let files = inputs();
        Box::new(move |input| run(input, &folder, &files))
    },
    memory: 4096,
    ..TEXT
};

/// The commands of cases and of examples, of the small preset.
fn seeds() -> Vec<Vec<u8>> {
    let cases = repository::cases().into_iter().map(|case| case.arguments);
    let all = cases.chain(repository::examples()).filter(|arguments| !arguments.is_empty());
    let small = |word: &String| if word.starts_with("hlat-") { "tiny".to_owned() } else { word.clone() };
    all.map(|words| words.iter().map(small).collect::<Vec<_>>().join("\n").into_bytes()).collect()
}

/// A file or folder of everything that commands take, under the names that cases use.
fn inputs() -> Vec<(PathBuf, Vec<u8>)> {
    let case_file =
        |name: &str| repository::cases().into_iter().flat_map(|case| case.files).find(|(own, _)| own == name);
    let texts = ["m.hal", "r.toml", "m.ir"].into_iter().filter_map(case_file);
    let texts = texts.map(|(name, text)| (PathBuf::from(name), text.into_bytes()));
    let copied = [
        ("config.json", "tests/hugging_face/fixtures/llama/config.json"),
        ("x.safetensors", "tests/hugging_face/fixtures/llama/model.safetensors"),
        ("book.txt", "tests/hugging_face/configs/gpt2.json"),
    ];
    let root = repository::root();
    let copied =
        copied.into_iter().filter_map(|(name, path)| Some((name.into(), std::fs::read(root.join(path)).ok()?)));
    let hlo = hlo::seeds().into_iter().next().map(|bytes| ("step.hlo.pb".into(), bytes));
    let bundle = manifest::bundles().into_iter().next().into_iter().flat_map(|bundle| {
        let manifest = ("b/manifest.json".into(), bundle.manifest_json().into_bytes());
        let files = bundle.files.into_iter().map(|(name, bytes)| (Path::new("b").join(name), bytes));
        files.chain([manifest]).collect::<Vec<_>>()
    });
    texts.chain(copied).chain(hlo).chain(bundle).collect()
}

fn run(input: &[u8], folder: &Path, files: &[(PathBuf, Vec<u8>)]) -> Verdict {
    let arguments: Vec<&[u8]> = input.split(|&byte| byte == b'\n').filter(|argument| !argument.is_empty()).collect();
    if !arguments.iter().all(|argument| stays_here(argument)) {
        return Ok(false);
    }
    _ = std::fs::remove_dir_all(folder);
    for (name, bytes) in files {
        put_below(&folder.join(name), bytes);
    }
    std::env::set_current_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let before = snapshot(folder);
    let arguments: Vec<OsString> =
        [&b"halite"[..]].into_iter().chain(arguments).map(|word| OsString::from_vec(word.to_vec())).collect();
    let code = halite_cli::run(Session::new(), &arguments);
    if code == ExitCode::SUCCESS || code == ExitCode::from(1) {
        return Ok(true);
    }
    if code != ExitCode::from(2) && code != ExitCode::from(3) {
        return Err(format!("the exit code {code:?}"));
    }
    if snapshot(folder) != before {
        return Err("something is written although the input is wrong".to_owned());
    }
    Ok(false)
}

/// Whether an argument can be one, and leads nowhere but into the current folder: `/` only inside a path, no `..`.
fn stays_here(argument: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let slash = |at: usize| at > 0 && is_name(&argument[at - 1]);
    let is_short = argument.starts_with(b"-") && !argument.starts_with(b"--");
    let slashes: Vec<usize> = (0..argument.len()).filter(|&at| argument[at] == b'/').collect();
    slashes.iter().all(|&at| slash(at))
        && (!is_short || slashes.is_empty())
        && !argument.windows(2).any(|pair| pair == b"..")
        && !argument.contains(&0)
}

/// Every file below a folder with its bytes, and the folders.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            let is_folder = path.is_dir();
            found.push((path.clone(), if is_folder { None } else { std::fs::read(&path).ok() }));
            open.extend(is_folder.then_some(path));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::stays_here;

    #[test]
    fn nothing_outside_is_touched() {
        for inside in ["compile", "-o", "build/tiny", "--output=build/a.b", "model.name=m.hal"] {
            assert!(stays_here(inside.as_bytes()), "{inside}");
        }
        for outside in ["/etc", "-o/etc", "--output=/etc", "../x", "a/../../x", "model.name=\"/etc\"", "a//b"] {
            assert!(!stays_here(outside.as_bytes()), "{outside}");
        }
    }
}
