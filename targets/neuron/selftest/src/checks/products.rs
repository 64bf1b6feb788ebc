//! Matrix products in the type that is stated.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The size of the contracted dimension.
const INNER: usize = 64;

/// A product in `f32`, and one of narrow operands that is added up in `f32`.
const PROGRAM: &str = "
module @products {phase = built}

func @main(%x: f32[16,64], %y: f32[64,16], %h: bf16[16,64], %k: bf16[64,16]) -> (f32[16,16], f32[16,16]) {
  %a = dot_general %x, %y {batch = [] x [], contract = [1] x [0], accumulate = f32} : f32[16,16]
  %b = dot_general %h, %k {batch = [] x [], contract = [1] x [0], accumulate = f32} : f32[16,16]
  return %a, %b
}
";

pub(super) struct Products;

impl Check for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn about(&self) -> &'static str {
        "matrix products of f32, and of bf16 added up in f32"
    }

    fn meaning(&self) -> &'static str {
        "The compiler narrows what programs state in f32: look at `--auto-cast` and `--enable-mixed-precision-accumulation`."
    }

    fn told(&self) -> Vec<Told> {
        vec![
            Told::new(
                "flags/--auto-cast",
                "`--auto-cast=none` keeps products of `f32` in `f32`",
                "compiler.toml: the row is confirmed for this version",
                "precision `fp32` is refused for this version, since it is not what programs say",
            ),
            Told::new(
                "flags/--enable-mixed-precision-accumulation",
                "products of `bf16` are added up in `f32`",
                "compiler.toml: the row is confirmed for this version",
                "`precision.accumulate = \"f32\"` is refused for this version",
            ),
        ]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("products", PROGRAM)?;
        // Numbers with all bits of f32, of one sign so that sums do not cancel; narrow ones with all bits of theirs.
        let values = |from: usize, dtype| {
            let value = |at: usize| 1.0 + ((at * 7919 + from) % 8191) as f64 / 8191.0;
            let shape = if from.is_multiple_of(2) { [16, INNER] } else { [INNER, 16] };
            HostTensor::from_f64s(dtype, shape, (0..16 * INNER).map(value))
        };
        let all = [values(0, DType::F32), values(1, DType::F32), values(2, DType::Bf16), values(3, DType::Bf16)];
        let runs = vec![vec![program.inputs(&all)]];
        let mut case = Case::of(bench, "products", program, runs)?;
        // A sum of n terms of one sign errs by at most n - 1 roundings, and each product by one; the interpreter errs by one in the end.
        // In `bf16` the operands alone would err by 2^-9, which is 32768 units of `f32`.
        let units = INNER as f64 + 1.0;
        for (at, (label, flag)) in [
            ("products of `f32`", "--auto-cast"),
            ("products of `bf16` added up in `f32`", "--enable-mixed-precision-accumulation"),
        ]
        .into_iter()
        .enumerate()
        {
            let facts = vec![format!("flags/{flag}")];
            let (inputs, outputs) = (at * 2..at * 2 + 2, at..at + 1);
            case.probes.push(crate::check::Probe {
                label: label.to_owned(),
                facts,
                inputs,
                outputs,
                within: Within::Units(units),
            });
        }
        Ok(vec![case])
    }
}
