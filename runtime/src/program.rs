//! A program that can be compiled: bytes, their signature, options.

use crate::{Neff, ProgramFormat, Result, RuntimeError, Signature};
use std::collections::BTreeSet;

/// Options of a compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileOptions {
    /// Number of replicas that run the program together, each on its own device; at least 1.
    pub num_replicas: usize,
    /// The device of each replica; without any, replica r runs on device r unless the back end says otherwise.
    pub devices: Vec<usize>,
    /// Whether XLA may keep chains of narrow floats in a wider type. Off, every instruction rounds as it says.
    pub excess_precision: bool,
    /// XLA's backend optimization level, 0 to 3; `None` leaves XLA's default.
    pub optimization_level: Option<u8>,
}

impl Default for CompileOptions {
    /// One replica, exact rounding, XLA's optimization level.
    fn default() -> Self {
        Self { num_replicas: 1, devices: Vec::new(), excess_precision: false, optimization_level: None }
    }
}

impl CompileOptions {
    /// The device of each replica, replica r on device r where none are stated.
    pub fn devices(&self) -> Vec<usize> {
        if self.devices.is_empty() { (0..self.num_replicas).collect() } else { self.devices.clone() }
    }

    /// # Errors
    /// When devices are stated, and not one for each replica.
    fn check_devices(&self) -> Result<()> {
        let (stated, replicas) = (self.devices.len(), self.num_replicas);
        let distinct: BTreeSet<usize> = self.devices.iter().copied().collect();
        if stated == 0 || stated == replicas && distinct.len() == stated {
            return Ok(());
        }
        let reason = format!("{replicas} replicas need a device each, these are stated: {:?}", self.devices);
        Err(RuntimeError::InvalidProgram(reason))
    }
}

/// The bytes of a serialized `HloModuleProto` with the signature they state and how to compile them, and the same program as StableHLO
/// or as a NEFF where its executor takes that.
///
/// XLA answers most broken modules with an error, but ends the process on some. Of those known, only a signature that
/// states another number of results than the entry has, negative parameter numbers, and instructions whose result type
/// is impossible for their opcode (`replica-id` that is not `u32[]`, `rng-bit-generator` that is no tuple) get past this
/// type. A module from outside is therefore checked as a whole before it is run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    hlo: &'a [u8],
    stablehlo: Option<String>,
    neff: Option<Neff<'a>>,
    signature: Signature,
    options: CompileOptions,
}

impl<'a> Program<'a> {
    /// A program from its bytes.
    ///
    /// # Errors
    /// When the bytes state no usable signature (see [`Signature::of_hlo`]) or an option is out of range.
    pub fn new(hlo: &'a [u8], options: CompileOptions) -> Result<Self> {
        if options.num_replicas == 0 || i32::try_from(options.num_replicas).is_err() {
            return Err(RuntimeError::InvalidProgram(format!("{} replicas cannot be had", options.num_replicas)));
        }
        options.check_devices()?;
        if let Some(level) = options.optimization_level.filter(|level| *level > 3) {
            let reason = format!("optimization level {level} does not exist, 0 to 3 do");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        Ok(Self { hlo, stablehlo: None, neff: None, signature: Signature::of_hlo(hlo)?, options })
    }

    /// The program in the format of an executor. For MLIR, `translate` makes StableHLO of the HLO, with the same inputs and outputs in
    /// the same order.
    ///
    /// # Errors
    /// The error of `translate`.
    pub fn in_format<E>(
        mut self,
        format: ProgramFormat,
        translate: impl FnOnce(&[u8]) -> std::result::Result<String, E>,
    ) -> std::result::Result<Self, E> {
        self.stablehlo = match format {
            ProgramFormat::Hlo | ProgramFormat::Neff => None,
            ProgramFormat::Mlir => Some(translate(self.hlo)?),
        };
        Ok(self)
    }

    /// The same program as its compiler has finished it.
    ///
    /// # Errors
    /// When it is of another number of inputs or outputs, an output takes the memory of an input that is none or of another type, or two
    /// do of one.
    pub fn with_neff(mut self, neff: Neff<'a>) -> Result<Self> {
        let Signature { inputs, outputs } = &self.signature;
        let counts = (neff.inputs.len(), neff.outputs.len(), neff.aliases.len());
        if counts != (inputs.len(), outputs.len(), outputs.len()) {
            return Err(RuntimeError::InvalidProgram(
                "a NEFF has a name for each input and output of its program".into(),
            ));
        }
        let mut taken = vec![false; inputs.len()];
        for (output, alias) in neff.aliases.iter().enumerate() {
            let Some(input) = *alias else { continue };
            let is_free = taken.get_mut(input).is_some_and(|taken| !std::mem::replace(taken, true));
            if !is_free || inputs[input] != outputs[output] {
                let reason = format!("output {output} of the program cannot take the memory of input {input}");
                return Err(RuntimeError::InvalidProgram(reason));
            }
        }
        self.neff = Some(neff);
        Ok(self)
    }

    /// The program as a NEFF, where it was compiled to one.
    pub fn neff(&self) -> Option<&Neff<'a>> {
        self.neff.as_ref()
    }

    /// The serialized `HloModuleProto` that it was made of.
    pub fn hlo(&self) -> &'a [u8] {
        self.hlo
    }

    /// The program as StableHLO, where it was made for an executor that takes that.
    pub fn stablehlo(&self) -> Option<&str> {
        self.stablehlo.as_deref()
    }

    /// The inputs and outputs of the program.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Its compile options.
    pub fn options(&self) -> &CompileOptions {
        &self.options
    }
}
