//! The parts that make each value.

use crate::transform::place_stages::{Source, sources};
use halite_ir::composites::Transfer;
use halite_ir::{Function, Inst, ParamRole, Value};
use halite_support::{Diagnostic, Result, codes};

/// The part of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transform) enum Owner {
    /// Made wherever it is read: it follows from nothing that came from another part.
    Reader,
    /// Made in one part.
    Part(usize),
    /// Made of what several parts made.
    Joined,
}

/// The parts that run each instruction of an entry.
pub(super) struct Owners {
    pub(super) parts: usize,
    /// For each instruction, the parts that run it, in order.
    runs: Vec<Vec<usize>>,
    /// For each instruction, whether the entry runs it: it joins what several parts made, or is read by what does.
    pub(super) joins: Vec<bool>,
    /// The sources of each value.
    pub(super) sources: Vec<Source>,
}

impl Owners {
    /// # Errors
    /// When a transfer takes what another part has than it says.
    pub(super) fn of(entry: &Function) -> Result<Self> {
        let sources = sources(entry);
        let owners = owners(entry)?;
        let ends = entry.insts.iter().filter_map(|inst| Transfer::ends(&inst.op));
        let parts = ends.clone().map(|(from, to)| from.max(to) + 1).max().unwrap_or(1);
        if parts > ends.count() + 1 {
            let message = format!("nothing is handed on to some of the {parts} parts of the model");
            return Err(Diagnostic::error(codes::PIPELINE, message).help("number the parts of the model from 0"));
        }
        let mut runs: Vec<Vec<usize>> = vec![Vec::new(); entry.insts.len()];
        let mut joins = vec![false; entry.insts.len()];
        let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); entry.values.len()];
        let mut wanted_by_entry = vec![false; entry.values.len()];
        entry.results.iter().for_each(|result| wanted_by_entry[result.value.index()] = true);
        for (at, inst) in entry.insts.iter().enumerate().rev() {
            let mut readers: Vec<usize> =
                inst.results.iter().flat_map(|result| wanted[result.index()].clone()).collect();
            if let Some((from, _)) = Transfer::ends(&inst.op) {
                readers = vec![from];
            } else {
                let by_entry = inst.results.iter().any(|result| wanted_by_entry[result.index()]);
                let is_own = inst.results.iter().any(|result| sources[result.index()].is_own());
                match owner(&owners, inst) {
                    Owner::Part(part) => readers = vec![part],
                    Owner::Joined => {
                        joins[at] = true;
                        readers.clear();
                    }
                    // Nothing came from another part: the first one makes it, unless another reads it.
                    Owner::Reader if is_own && readers.is_empty() => readers.push(0),
                    // What follows from the batch alone is returned by the part that returns the loss.
                    Owner::Reader if by_entry && !is_own => readers.push(parts - 1),
                    Owner::Reader => {}
                }
                readers.sort_unstable();
                readers.dedup();
                runs[at].clone_from(&readers);
            }
            for arg in &inst.args {
                wanted[arg.index()].extend(&readers);
                wanted_by_entry[arg.index()] |= joins[at];
            }
        }
        Ok(Self { parts, runs, joins, sources })
    }

    /// Whether a part runs an instruction.
    pub(super) fn runs(&self, part: usize, inst: usize) -> bool {
        self.runs[inst].contains(&part)
    }

    /// The part from which the entry has the results of an instruction.
    pub(super) fn maker(&self, inst: usize) -> Option<usize> {
        self.runs[inst].first().copied()
    }
}

/// The owner of each value. A sum over micro-batches is of the part that adds it up.
///
/// # Errors
/// When a transfer takes what another part has than it says.
pub(in crate::transform) fn owners(entry: &Function) -> Result<Vec<Owner>> {
    let mut owners = vec![Owner::Reader; entry.values.len()];
    for param in &entry.params {
        if let ParamRole::State(spec) = &param.role
            && let Some(part) = spec.part
        {
            owners[param.value.index()] = Owner::Part(part);
        }
    }
    for inst in &entry.insts {
        let own = owner(&owners, inst);
        let own = match Transfer::ends(&inst.op) {
            Some((from, _)) if own != Owner::Reader && own != Owner::Part(from) => return Err(misplaced(own, from)),
            Some((_, to)) => Owner::Part(to),
            None => own,
        };
        inst.results.iter().for_each(|result| owners[result.index()] = own);
    }
    Ok(owners)
}

/// A transfer that takes what another part has.
fn misplaced(owner: Owner, from: usize) -> Diagnostic {
    let made = match owner {
        Owner::Part(part) => format!("part {part}"),
        Owner::Joined | Owner::Reader => "several parts".to_owned(),
    };
    let message = format!("a transfer takes a value from part {from} of the model that is on {made}");
    Diagnostic::error(codes::PIPELINE, message)
        .help("write transfers where `place-stages` would: from a part to the next one, or back")
}

/// The owner of what an instruction makes of its operands.
fn owner(owners: &[Owner], inst: &Inst) -> Owner {
    let of = |arg: &Value| owners[arg.index()];
    inst.args.iter().map(of).fold(Owner::Reader, |all, own| match (all, own) {
        (Owner::Reader, other) | (other, Owner::Reader) => other,
        (Owner::Part(one), Owner::Part(other)) if one == other => all,
        _ => Owner::Joined,
    })
}
