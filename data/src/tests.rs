//! Laws that hold for whatever is read and however it is cut, over random corpora.

mod ahead;
mod arrays;
mod corpus;
mod efficiency;
mod faults;
mod mixtures;
mod pieces;
mod reads;
mod resume;
mod tables;
mod tokenizers;
mod tokens;
