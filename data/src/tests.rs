//! Laws that hold for whatever is read and however it is cut, over random corpora.

mod corpus;
mod efficiency;
mod faults;
mod pieces;
mod resume;
mod tokenizers;
