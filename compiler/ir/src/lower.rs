//! Lowering: the entry of a module in phase `legal` becomes an HLO module.

use crate::loc::{LocId, LocTable};
use crate::op::Ids;
use crate::syntax::{FuncResult, Function, Inst, Module, Phase, ResultRole, Value};
use crate::ty::TensorType;
use halite_hlo::proto::{HloModuleProto, OpMetadata};
use halite_hlo::{ArrayType, ComputationBuilder, Id, ModuleBuilder};
use halite_support::{Diagnostic, Result, SourceMap, Span};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// What the form of the HLO depends on besides the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LowerOptions {
    /// How `take`, `take_along_axis` and their gradients are written.
    pub gather: Gather,
}

/// How indexed reads and sums are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gather {
    /// As `gather` and `scatter` with clamped indices.
    #[default]
    Native,
    /// As products with one-hot matrices.
    OneHot,
}

/// What the lowering of an op may use.
#[derive(Debug)]
pub struct LowerCx<'m> {
    /// The computation being built.
    pub hlo: ComputationBuilder<'m>,
    /// Choices of form.
    pub options: LowerOptions,
    /// Types of the results.
    pub results: SmallVec<[TensorType; 1]>,
}

impl<'m> LowerCx<'m> {
    /// Emits an instruction with a single result.
    ///
    /// # Errors
    /// What the builder says.
    pub fn one(&mut self, emit: impl FnOnce(&mut ComputationBuilder<'m>) -> Result<Id>) -> Result<Ids> {
        Ok(smallvec![emit(&mut self.hlo)?])
    }
}

/// The HLO of a module's entry.
///
/// Parameters keep their order and names; each result that replaces a parameter aliases it. Entry parameters and the root
/// carry the names `neff_input_names` and `neff_output_names`, which sort in their order, as frontend attributes. Every
/// instruction says which scope and which line of `sources` it comes from.
///
/// # Errors
/// When the module is not in phase `legal`, or an op has no HLO form.
pub fn lower(module: &Module, sources: &SourceMap, options: LowerOptions) -> Result<HloModuleProto> {
    let entry = module.entry().filter(|_| module.phase == Phase::Legal && module.functions.len() == 1);
    let entry = entry.ok_or_else(|| Diagnostic::bug("only a `legal` module with one function can be lowered"))?;
    // XLA refuses a module without a name.
    let mut hlo = ModuleBuilder::new(if module.name.is_empty() { "module" } else { &*module.name });
    let mut cx = LowerCx { hlo: hlo.computation("main"), options, results: SmallVec::new() };
    let mut metadata = Metadata::new(&module.locs, sources);
    let mut ids = lower_params(&mut cx, entry)?;
    for inst in &entry.insts {
        metadata.enter(&mut cx, inst);
        lower_inst(&mut cx, entry, inst, &mut ids)?;
    }
    cx.hlo.set_metadata(None);
    let results: Vec<Id> = entry.results.iter().map(|result| defined(&ids, result.value)).collect::<Result<_>>()?;
    let root = cx.hlo.root_tuple(&results)?;
    let names: Vec<_> = (0..results.len()).map(|index| numbered("output", index, results.len())).collect();
    cx.hlo.set_frontend_attribute(root, "neff_output_names", names.join(","))?;
    cx.hlo.finish(root)?;
    for (parameter, output) in aliases(entry) {
        hlo.alias(parameter, output);
    }
    hlo.finish()
}

/// Pairs of parameter and result positions that share memory.
pub fn aliases(entry: &Function) -> Vec<(usize, usize)> {
    let positions: FxHashMap<&str, usize> =
        entry.params.iter().enumerate().map(|(position, param)| (&*param.name, position)).collect();
    let alias = |(output, result): (usize, &FuncResult)| match &result.role {
        ResultRole::State(name) => positions.get(&**name).map(|&parameter| (parameter, output)),
        _ => None,
    };
    entry.results.iter().enumerate().filter_map(alias).collect()
}

fn array_type(ty: &TensorType) -> ArrayType {
    ArrayType::new(ty.dtype(), ty.shape().clone())
}

/// `input007`: a name that sorts like its position among `count`.
fn numbered(word: &str, index: usize, count: usize) -> String {
    let width = count.saturating_sub(1).to_string().len();
    format!("{word}{index:0width$}")
}

fn lower_params(cx: &mut LowerCx<'_>, entry: &Function) -> Result<Vec<Option<Id>>> {
    let mut ids = vec![None; entry.values.len()];
    for (index, param) in entry.params.iter().enumerate() {
        let id = cx.hlo.parameter(&*param.name, array_type(entry.ty(param.value)))?;
        cx.hlo.set_frontend_attribute(id, "neff_input_names", numbered("input", index, entry.params.len()))?;
        ids[param.value.index()] = Some(id);
    }
    Ok(ids)
}

fn defined(ids: &[Option<Id>], value: Value) -> Result<Id> {
    ids[value.index()].ok_or_else(|| Diagnostic::bug(format!("{value:?} is lowered before it is defined")))
}

fn lower_inst(cx: &mut LowerCx<'_>, entry: &Function, inst: &Inst, ids: &mut [Option<Id>]) -> Result<()> {
    let args = inst.args.iter().map(|&arg| defined(ids, arg)).collect::<Result<SmallVec<[Id; 4]>>>()?;
    cx.results = inst.results.iter().map(|&result| entry.ty(result).clone()).collect();
    let lowered = inst.op.def().lower(cx, &args)?;
    for (&result, &id) in inst.results.iter().zip(&lowered) {
        let (expected, found) = (array_type(entry.ty(result)), cx.hlo.array(id)?);
        if &expected != found {
            let message = format!("`{}` lowers to `{found}`, inferred `{expected}`", inst.op.name());
            return Err(Diagnostic::bug(message));
        }
        ids[result.index()] = Some(id);
    }
    Ok(())
}

/// Turns locations into `OpMetadata`, remembering the last one: neighbours share it.
struct Metadata<'a> {
    locs: &'a LocTable,
    sources: &'a SourceMap,
    last: Option<LocId>,
    lines: LineIndex,
}

impl<'a> Metadata<'a> {
    fn new(locs: &'a LocTable, sources: &'a SourceMap) -> Self {
        Self { locs, sources, last: None, lines: LineIndex::default() }
    }

    fn enter(&mut self, cx: &mut LowerCx<'_>, inst: &Inst) {
        if self.last == Some(inst.loc) {
            return;
        }
        self.last = Some(inst.loc);
        let mut metadata = OpMetadata { op_name: self.locs.path(inst.loc), ..OpMetadata::default() };
        if let Some(span) = self.locs.span(inst.loc)
            && let Some(file) = self.sources.get(span.file)
        {
            let name = &file.name;
            metadata.source_file = name.rsplit('/').next().unwrap_or(name).to_owned();
            metadata.source_line = self.lines.line(&file.text, span);
        }
        cx.hlo.set_metadata(Some(metadata));
    }
}

/// Starts of the lines of each file, so that a line number costs a binary search.
#[derive(Default)]
struct LineIndex(Vec<Option<Vec<u32>>>);

impl LineIndex {
    fn line(&mut self, text: &str, span: Span) -> i32 {
        let index = span.file.index();
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let starts = self.0[index].get_or_insert_with(|| {
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        });
        i32::try_from(starts.partition_point(|&start| start <= span.start)).unwrap_or(i32::MAX)
    }
}
