//! An instruction of our set whose type is inferred.

use super::Checker;
use crate::attributes::{self, ReplicaGroups, WindowDim, to_dims};
use crate::frontend::HAS_TOKEN;
use crate::proto::{HloInstructionProto, ReplicaGroup};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Dims;
use std::rc::Rc;

/// The inferred type; `None` for a form that XLA has and our set lacks, which is checked no further.
pub(super) type Inferred = Result<Option<Type>>;

/// The lists of groups that are remembered.
const KNOWN: usize = 8;

/// An instruction with the types of its operands and the type that it states.
pub(super) struct Site<'a> {
    pub(super) checker: &'a Checker<'a>,
    pub(super) at: usize,
    pub(super) inst: &'a HloInstructionProto,
    pub(super) stated: &'a Type,
    pub(super) operands: &'a [&'a Type],
}

impl<'a> Site<'a> {
    /// The operands, which are so many.
    pub(super) fn exactly<const N: usize>(&self) -> Result<[&'a Type; N]> {
        let arity = |_| Diagnostic::error(codes::ARITY, format!("{N} operands needed, found {}", self.operands.len()));
        self.operands.try_into().map_err(arity)
    }

    /// The operands, which are so many arrays.
    pub(super) fn arrays<const N: usize>(&self) -> Result<[&'a ArrayType; N]> {
        self.exactly::<N>()?;
        let arrays = self.each_array()?;
        arrays.try_into().map_err(|_| Diagnostic::bug("the number of operands was just checked"))
    }

    /// The operands, which are arrays.
    pub(super) fn each_array(&self) -> Result<Vec<&'a ArrayType>> {
        self.operands.iter().map(|ty| ty.array()).collect()
    }

    /// The operands of a collective without its token, and that.
    pub(super) fn token(&self) -> Result<(&'a [&'a Type], Option<&'a Type>)> {
        if !self.inst.has_token() {
            return Ok((self.operands, None));
        }
        match self.operands {
            [operands @ .., token] if !operands.is_empty() && token.array()?.rank() == 0 => Ok((operands, Some(token))),
            operands => {
                let found: Vec<String> = operands.iter().map(|ty| format!("`{ty}`")).collect();
                let message =
                    format!("`{HAS_TOKEN}` says that the last of several operands is a token, a scalar; found ");
                Err(Diagnostic::error(codes::TYPE_MISMATCH, message + &found.join(", ")))
            }
        }
    }

    /// The attribute `dimensions`.
    pub(super) fn dims(&self) -> Result<Dims> {
        to_dims("a dimension", &self.inst.dimensions)
    }

    /// The only dimension of the attribute `dimensions`.
    pub(super) fn dim(&self) -> Result<usize> {
        match self.dims()?.as_slice() {
            [dim] => Ok(*dim),
            dims => {
                let message = format!("1 dimensions needed, found {}", dims.len());
                Err(Diagnostic::error(codes::ATTRIBUTE, message))
            }
        }
    }

    /// The window along each dimension.
    pub(super) fn window(&self) -> Result<Vec<WindowDim>> {
        let dims = self.inst.window.as_ref().map_or(&[][..], |window| &window.dimensions);
        dims.iter().map(WindowDim::from_proto).collect()
    }

    /// Whether groups of ranks are an iota, or axes of a mesh.
    pub(super) fn has_foreign_groups(&self) -> bool {
        self.inst.iota_groups().is_some() || self.inst.mesh_axes_replica_group_list.is_some()
    }

    /// The groups of ranks, from either field that XLA versions store them in.
    pub(super) fn groups(&self) -> Result<Rc<ReplicaGroups>> {
        let (listed, graph) = (self.inst.groups().unwrap_or_default(), self.checker.graph);
        let mut known = self.checker.groups.borrow_mut();
        let are_these = |groups: &[ReplicaGroup]| std::ptr::eq(groups, &*listed) || *groups == *listed;
        let is_known = |(at, _): &&(usize, _)| graph.inst(*at).groups().is_some_and(|groups| are_these(&groups));
        if let Some((_, groups)) = known.iter().find(is_known) {
            return Ok(Rc::clone(groups));
        }
        let groups = Rc::new(attributes::groups_from_proto(&listed)?);
        if known.len() == KNOWN {
            known.clear();
        }
        known.push((self.at, Rc::clone(&groups)));
        Ok(groups)
    }
}
