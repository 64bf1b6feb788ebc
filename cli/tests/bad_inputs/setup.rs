//! Inputs that are made, or damaged, before the command of a case runs.
//!
//! | directive | does |
//! |---|---|
//! | `halite ARGS..` | runs the binary, which must succeed |
//! | `replace FILE OLD NEW` | puts one text in the place of another |
//! | `bytes FILE HEX..` | writes a file of these bytes |
//! | `repeat FILE N TEXT` | appends a text N times, `\n` standing for a new line |
//! | `truncate FILE N` | keeps the first N bytes |
//! | `remove FILE` | removes a file |
//! | `seal BUNDLE MODULE` | makes the manifest state the checksum that the module's file has |
//! | `tensors FILE NAME:TYPE..` | writes tensors of zeros, e.g. `x:f32[2,3]`, or of a whole number: `x:s32[2,3]=7` |

use crate::case::{Case, words};
use halite_bundle::tensors::{self, Tensors};
use halite_tensor::{DType, HostTensor};
use std::path::Path;

/// Writes the files of a case and follows its directives.
pub(crate) fn prepare(case: &Case, folder: &Path) -> Result<(), String> {
    for (name, text) in &case.files {
        let place = folder.join(name);
        let written =
            std::fs::create_dir_all(place.parent().unwrap_or(folder)).and_then(|()| std::fs::write(&place, text));
        written.map_err(|error| format!("{name}: {error}"))?;
    }
    case.setup.iter().try_for_each(|line| follow(line, folder).map_err(|error| format!("`{line}`: {error}")))
}

fn follow(line: &str, folder: &Path) -> Result<(), String> {
    let words = words(line)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
    match words[..] {
        ["halite", ref arguments @ ..] => {
            let output = crate::halite(folder, arguments);
            if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
        }
        ["replace", file, old, new] => edit(&folder.join(file), |bytes| {
            let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
            if text.contains(old) { Ok(text.replacen(old, new, 1).into_bytes()) } else { Err("not found".to_owned()) }
        }),
        ["bytes", file, ref digits @ ..] => {
            let bytes = digits.iter().map(|digits| u8::from_str_radix(digits, 16).map_err(|error| error.to_string()));
            write(&folder.join(file), &bytes.collect::<Result<Vec<_>, _>>()?)
        }
        ["repeat", file, times, text] => {
            let more = text.replace("\\n", "\n").repeat(number(times)?);
            edit(&folder.join(file), |bytes| Ok([bytes, more.into_bytes()].concat()))
        }
        ["truncate", file, length] => {
            let length = number(length)?;
            edit(&folder.join(file), |mut bytes| {
                bytes.truncate(length);
                Ok(bytes)
            })
        }
        ["remove", file] => std::fs::remove_file(folder.join(file)).map_err(|error| error.to_string()),
        ["seal", bundle, module] => seal(&folder.join(bundle), module),
        ["tensors", file, ref names @ ..] => {
            let tensors = names.iter().map(|name| filled(name)).collect::<Result<Tensors, _>>()?;
            tensors::write(&folder.join(file), &tensors).map_err(|error| error.to_string())
        }
        _ => Err("no such directive".to_owned()),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| error.to_string())
}

/// A file that is not there yet is empty.
fn edit(path: &Path, change: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, String>) -> Result<(), String> {
    let bytes = if path.exists() { std::fs::read(path).map_err(|error| error.to_string())? } else { Vec::new() };
    write(path, &change(bytes)?)
}

fn seal(bundle: &Path, module: &str) -> Result<(), String> {
    let bytes = std::fs::read(bundle.join(format!("{module}.hlo.pb"))).map_err(|error| error.to_string())?;
    edit(&bundle.join(halite_bundle::MANIFEST), |manifest| {
        let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).map_err(|error| error.to_string())?;
        let modules = manifest["modules"].as_array_mut().ok_or("no modules")?;
        let entry = modules.iter_mut().find(|entry| entry["name"] == module).ok_or("no such module")?;
        entry["sha256"] = halite_bundle::sha256(&bytes).into();
        Ok(manifest.to_string().into_bytes())
    })
}

/// `name:f32[2,3]` or `name:s32[2,3]=7` as a tensor.
fn filled(text: &str) -> Result<(String, HostTensor), String> {
    let wrong = || format!("`{text}` is not `name:dtype[sizes]`, nor that with `=number`");
    let (typed, value) = text.split_once('=').unwrap_or((text, "0"));
    let value = value.parse::<i128>().map_err(|_| wrong())?;
    let (name, ty) = typed.split_once(':').ok_or_else(wrong)?;
    let (dtype, sizes) = ty.strip_suffix(']').and_then(|ty| ty.split_once('[')).ok_or_else(wrong)?;
    let dtype = DType::ALL.iter().find(|candidate| candidate.to_string() == dtype).ok_or_else(wrong)?;
    let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().map_err(|_| wrong()));
    let sizes = sizes.collect::<Result<Vec<usize>, _>>()?;
    if value == 0 {
        return Ok((name.to_owned(), HostTensor::zeros(*dtype, sizes.as_slice())));
    }
    let values = vec![value; sizes.iter().product()];
    let tensor = HostTensor::try_from_ints(*dtype, sizes.as_slice(), values).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), tensor))
}
