//! The cases of the law that ranks compute together what one device computes, and those of them that CI runs.

use crate::covering::{Shows, covering};
use crate::meshes::{ALL_MODELS, Model, Ranks, settings, shapes};
use crate::product::Asked;

/// Values of the recipe key `recompute`.
pub const RECOMPUTE: [&str; 3] = ["['none']", "['attention', 'activation']", "['block']"];

/// The cases that are asked for: by `HALITE_LAYOUTS=all` all, by `HALITE_LAYOUTS=500` so many of them.
pub fn asked() -> Asked {
    Asked::by("HALITE_LAYOUTS")
}

/// Whether a long run is asked for.
pub fn is_long() -> bool {
    asked() != Asked::Covering
}

/// The executor of the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// The interpreter, on the legal module.
    Interpreter,
    /// As many virtual devices of CPU XLA, on the bytes of HLO.
    Xla,
}

/// A model in a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// Its position among all models.
    pub model: usize,
    /// The layout, and how many micro-batches are accumulated.
    pub ranks: Ranks,
    /// The position of its policy in [`RECOMPUTE`].
    pub recompute: usize,
    /// The executor.
    pub machine: Machine,
}

/// A choice of one thing: its name and its value.
type Choice = (&'static str, usize);

/// Two choices that meet in a case.
pub type Pair = (Choice, Choice);

impl Case {
    /// The most cases that CI runs.
    pub const MOST: usize = 48;

    /// Every model in every layout, with one micro-batch and two, each way of computing again, on both machines.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for model in 0..ALL_MODELS.len() {
            for ranks in [1, 2].into_iter().flat_map(shapes) {
                for recompute in 0..RECOMPUTE.len() {
                    let of = |machine| Self { model, ranks, recompute, machine };
                    all.extend([Machine::Interpreter, Machine::Xla].map(of));
                }
            }
        }
        all
    }

    /// At most 48 cases in which any two values of `data`, `fsdp`, `tensor`, `sequence`, `zero`, micro-batches, computing again and machine
    /// meet that can, and each model meets each kind of parallelism, micro-batches, computing again and both machines. There are more
    /// pairs of a model and a size than 48 cases hold (20 models, 4 sizes of `data`), let alone of a model and a layout: of these
    /// there are as many as there is room for. All of them meet in [`all`](Self::all).
    pub fn covering() -> Vec<Self> {
        let all = Self::all();
        let shows: Vec<_> =
            all.iter().map(|case| Shows { must: [case.pairs(), case.of_model()].concat(), may: case.more() }).collect();
        covering(&shows, Self::MOST).into_iter().map(|at| all[at]).collect()
    }

    /// The model.
    pub fn model(&self) -> Model {
        ALL_MODELS[self.model]
    }

    /// The settings of its recipe in a precision.
    pub fn settings(&self, precision: &str) -> Vec<String> {
        let recompute = format!("recompute={}", RECOMPUTE[self.recompute]);
        [settings(self.ranks, precision), vec![recompute]].concat()
    }

    /// All choices but the model.
    fn choices(&self) -> [Choice; 8] {
        let Ranks { data, fsdp, tensor, sequence, zero, accumulate } = self.ranks;
        [
            ("data", data),
            ("fsdp", fsdp),
            ("tensor", tensor),
            ("sequence", usize::from(sequence)),
            ("zero", zero),
            ("accumulate", accumulate),
            ("recompute", self.recompute),
            ("machine", self.machine as usize),
        ]
    }

    /// Any two of its choices.
    pub fn pairs(&self) -> Vec<Pair> {
        let choices = self.choices();
        let of = |at: usize| choices[at + 1..].iter().map(move |&other| (choices[at], other));
        (0..choices.len()).flat_map(of).collect()
    }

    /// The model with whatever of these is on, by name, and its machine.
    pub fn of_model(&self) -> Vec<Pair> {
        let on = self.choices().into_iter().filter(|&(name, value)| match name {
            "data" | "fsdp" | "tensor" | "accumulate" => value > 1,
            "machine" => true,
            _ => value > 0,
        });
        let kind = |(name, value)| (name, if name == "machine" { value } else { 1 });
        on.map(|choice| (("model", self.model), kind(choice))).collect()
    }

    /// The model with its sizes of axes and what is computed again, the layout with everything else.
    fn more(&self) -> Vec<Pair> {
        let model = ("model", self.model);
        let [data, fsdp, tensor, sequence, zero, rest @ ..] = self.choices();
        let layout = ("layout", (((data.1 * 16 + fsdp.1) * 16 + tensor.1) * 2 + sequence.1) * 4 + zero.1);
        let of_model = [data, fsdp, tensor, rest[1]].map(|choice| (model, choice));
        let of_layout = rest.map(|choice| (layout, choice));
        of_model.into_iter().chain(of_layout).collect()
    }
}
