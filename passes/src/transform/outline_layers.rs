//! `outline-layers`.

mod group;
mod parts;
mod region;
mod write;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use group::{groups, levels};
use halite_ir::{Function, InferCx, Module};
use halite_recipe::Calls;
use halite_support::Result;
use region::Regions;

/// The name of the pass.
const PASS: &str = "outline-layers";

/// Outlines the work of the optimizer on each layer of a list as a function, which is called for each of them, where calls stay calls:
/// the reverse of `inline`.
///
/// Instructions belong to a layer by their scope. Those that run before and after something of all layers, as the squares of
/// gradients and the updates that their sum scales, become functions of their own. What layers share is handed over, but for
/// constants and spread scalars, which are written where they are read.
///
/// ```text
/// %0 = multiply %h.0.g, %r     // optimizer.h.0.w       func @optimizer.h(%g, %r, %w)
/// %1 = subtract %h.0.w, %0     // optimizer.h.0.w         %0 = multiply %g, %r      // w
/// %2 = multiply %h.1.g, %r     // optimizer.h.1.w   =>    %1 = subtract %w, %0      // w
/// %3 = subtract %h.1.w, %2     // optimizer.h.1.w         return %1
///                                                       %0 = call %h.0.g, %r, %h.0.w {callee = @optimizer.h}
///                                                       %1 = call %h.1.g, %r, %h.1.w {callee = @optimizer.h}
/// ```
#[derive(Debug)]
pub(crate) struct OutlineLayers;

impl Pass for OutlineLayers {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make a function of what the optimizer does for each layer", Relation::Identical)
            .example(golden!("outline_layers" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        if cx.target.calls == Calls::Inline {
            return Ok(Changed::No);
        }
        let entry = module.take_entry()?;
        let all = regions(module, cx, &entry);
        let entry = parts::by_region(module, cx.registry, entry, &all)?;
        let regions = regions(module, cx, &entry);
        let infer = InferCx { functions: &module.functions, registry: cx.registry };
        let levels = levels(&infer, &entry, &regions);
        let groups = groups(&entry, &regions, &levels);
        if groups.is_empty() {
            module.functions.push(entry);
            return Ok(Changed::No);
        }
        write::write(module, cx.registry, &entry, (&regions, &levels), &groups)?;
        Ok(Changed::Yes)
    }
}

fn regions(module: &mut Module, cx: &PassCx<'_>, function: &Function) -> Regions {
    let infer = InferCx { functions: &module.functions, registry: cx.registry };
    Regions::of(&infer, &mut module.locs, function)
}
