//! The model that a recipe is compiled with.

use crate::libraries::ModelText;
use halite_import::Program;
use halite_lang::Elaborated;
use halite_support::{SourceMap, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// The model of a recipe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Model {
    /// A text with the libraries that it uses, which is elaborated with the configuration of the recipe.
    Text(Arc<ModelText>),
    /// One that is built already, e.g. with [`ModelBuilder`](crate::model::ModelBuilder). It has its configuration: what
    /// the recipe says of it must agree.
    Built(Arc<Elaborated>),
    /// A program that another framework made. It has its sizes: what the recipe says of them must agree.
    Program(Arc<Program>),
}

impl Model {
    /// The beginning of its text.
    pub(crate) fn span(&self) -> Option<Span> {
        if let Model::Text(text) = self { Some(Span::new(text.model().id(), 0, 0)) } else { None }
    }

    /// The texts that its instructions come from: its own and those that it uses, or, where it is built, those that `known` holds.
    pub(crate) fn sources<'s>(&self, known: &'s SourceMap) -> Cow<'s, SourceMap> {
        let Model::Text(text) = self else { return Cow::Borrowed(known) };
        let mut own = SourceMap::new();
        text.texts().files().for_each(|file| _ = own.insert(file.clone()));
        Cow::Owned(own)
    }
}
