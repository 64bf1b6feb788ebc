//! What stays of compiled modules, put together.

use super::describe::{buffers, module_entry, statistics};
use super::ranges::Ranges;
use super::{CompileOptions, Compiled, CompiledModule, MODEL, PreparedModule, locate};
use crate::bundle::{Bundle, TWINS, sha256};
use crate::estimate;
use crate::layout;
use crate::legality::Legality;
use crate::neuron;
use crate::source::Source;
use halite_lang::Elaborated;
use halite_passes::{Audit, CausalityReport, PassReport, Remark};
use halite_spec::{
    Buffer, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, ModuleRole, Recipe, Statistics, Twin, Waiver,
};
use halite_support::{Diagnostic, Name};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What a bundle keeps of a module, so that the module itself can go.
pub(super) struct Packed {
    pub(super) role: ModuleRole,
    entry: ModuleEntry,
    buffers: Vec<Buffer>,
    statistics: Statistics,
    files: IndexMap<String, Vec<u8>>,
    /// The HLO of twins by name.
    twins: Vec<(Name, Vec<u8>)>,
    reports: Vec<PassReport>,
    remarks: Vec<Remark>,
    audit: Audit,
    pub(super) legality: Legality,
}

pub(super) fn pack(
    module: CompiledModule,
    ranges: Ranges,
    recipe: &Recipe,
    options: &CompileOptions,
) -> Result<Packed, Diagnostic> {
    let name = module.role.name();
    let entry = module.ir.entry().ok_or_else(|| Diagnostic::bug("a compiled module without an entry"))?;
    let bytes = module.hlo.encode();
    let statistics = statistics(recipe, &module.ir, entry, &module.hlo)?;
    let (mut described, buffers) = (module_entry(module.role, entry, ranges, &bytes), buffers(entry));
    described.estimate = estimate::of_module(&module.hlo, &described, &buffers, recipe)?;
    let mut files = IndexMap::new();
    if options.emit_hlo_text {
        files.insert(format!("{name}.hlo.txt"), halite_hlo::text::print(&module.hlo).into_bytes());
    }
    if options.emit_ir {
        files.insert(format!("{name}.ir"), halite_ir::text::print(&module.ir).into_bytes());
    }
    files.extend(module.dumps.into_iter().map(|(file, text)| (file, text.into_bytes())));
    files.insert(format!("{name}.hlo.pb"), bytes);
    let twins = module.twins.iter().map(|(name, twin)| (name.clone(), twin.encode())).collect();
    let CompiledModule { role, reports, remarks, audit, legality, .. } = module;
    Ok(Packed { role, entry: described, buffers, statistics, files, twins, reports, remarks, audit, legality })
}

/// Joins the modules of a bundle. Each buffer stands once, in the order of first use; the figures are those of the
/// training step, or of the first module without one.
pub(super) fn assemble(
    elaborated: Elaborated,
    source: &Source,
    prepared: PreparedModule,
    packed: Vec<Packed>,
) -> Compiled {
    let step = packed.iter().find(|module| module.role == ModuleRole::TrainStep);
    let schedule = step.iter().map(|module| module.role.name().to_owned()).collect();
    let statistics = step.or(packed.first()).map(|module| module.statistics).unwrap_or_default();
    let (mut files, mut buffers) = (IndexMap::new(), IndexMap::new());
    let (mut modules, mut reports) = (Vec::new(), Vec::new());
    files.extend(prepared.dumps.into_iter().map(|(file, text)| (file, text.into_bytes())));
    let mut remarks = vec![(MODEL, prepared.remarks)];
    let mut audit: Option<Audit> = None;
    let mut presumed = BTreeSet::new();
    for module in packed {
        presumed.extend(module.legality.presumed);
        files.extend(module.files);
        for buffer in module.buffers {
            buffers.entry(buffer.name.clone()).or_insert(buffer);
        }
        let twins = module.twins.into_iter().map(|(name, bytes)| add_twin(&mut files, module.role, &name, bytes));
        modules.push(ModuleEntry { twins: twins.collect(), ..module.entry });
        reports.push((module.role, module.reports));
        remarks.push((module.role.name(), module.remarks));
        match &mut audit {
            Some(audit) => audit.merge(module.audit),
            None => audit = Some(module.audit),
        }
    }
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        model: ModelInfo { name: elaborated.module.name.to_string(), config: elaborated.config.clone() },
        recipe: source.recipe.clone(),
        buffers: buffers.into_values().collect(),
        modules,
        schedule,
        rounding: neuron::rounding(&source.recipe.precision),
        environment: neuron::environment(&source.recipe),
        flags: neuron::flags(&source.recipe),
        launch: neuron::launch(&source.recipe),
        statistics,
    };
    let audit = audit.unwrap_or_default();
    let causality = prepared.causality;
    let mut warnings = elaborated.warnings;
    warnings.extend(neuron::warnings(&source.recipe).into_iter().map(|warning| locate(source, warning)));
    warnings.extend(layout::warn_not_compiled(&source.recipe, &source.places));
    warnings.extend(estimate::warning(&manifest));
    if !source.recipe.check.waive.contains(&Waiver::Causality) {
        warnings.extend(causality.iter().flat_map(CausalityReport::diagnostics));
    }
    warnings.extend(audit.diagnostics().into_iter().map(|finding| locate(source, finding)));
    Compiled { bundle: Bundle { manifest, files }, warnings, presumed, audit, causality, reports, remarks }
}

/// Adds the file of a twin. Modules that call a kernel on the same types share the file of its twin.
fn add_twin(files: &mut IndexMap<String, Vec<u8>>, role: ModuleRole, name: &str, bytes: Vec<u8>) -> Twin {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let stem: String = name.chars().map(allowed).collect();
    let shared = format!("{TWINS}/{stem}.hlo.pb");
    let is_free = files.get(&shared).is_none_or(|known| *known == bytes);
    let file = if is_free { shared } else { format!("{TWINS}/{}.{stem}.hlo.pb", role.name()) };
    let twin = Twin { name: name.to_owned(), file: file.clone(), sha256: sha256(&bytes) };
    files.insert(file, bytes);
    twin
}
