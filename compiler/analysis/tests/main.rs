//! The analyses, by themselves.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod deep;
mod exact_integers;
