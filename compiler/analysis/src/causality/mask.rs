//! Recognition of masks: the function of query and key that a predicate or a two-valued tensor is.

use super::affine::{Affine, Digit};
use super::analysis::Causality;
use super::check::param_state;
use super::levels::Levels;
use super::region::{Area, Region};
use super::state::State;
use crate::forward::needed;
use halite_ir::{FuncId, Module, Registry, Value};
use halite_support::Result;
use std::fmt;
use std::rc::Rc;

/// Facts about the values of one function that hold for all inputs: numbers counted from indices, and elements that are constants by
/// region. Made for `fold-causal-mask`.
///
/// `Facts::of(module, id, registry)?.mask(value)` answers, for a predicate or for numbers of two kinds, whether it is a
/// mask over two digits of its dimensions, the same along all others. It is [`MaskKind::Causal`] exactly when it equals
/// `key <= query`, whichever way it was spelled; [`Mask::seen`] is what it holds there, so that
/// `select(broadcast(causal_mask), seen, unseen)` has the same bits (up to the sign of zero), and a predicate with
/// `seen = 0.0` is the negation. The digits need not be whole dimensions: in `[kv_heads, group * seq, seq]` the query is
/// `Digit { dim: 1, stride: 1, size: seq }`. A digit is a whole dimension when its size is that of the dimension. A mask
/// of `key >= query` over the same dimensions is causal with query and key exchanged; which of the two a softmax runs over
/// is for the caller to look at. Other strips have two readings; that with the query before the key is given.
#[derive(Debug)]
pub struct Facts {
    known: Vec<Rc<State>>,
}

impl Facts {
    /// The facts of a function.
    ///
    /// # Errors
    /// When a composite cannot be decomposed.
    pub fn of(module: &Module, id: FuncId, registry: &Registry) -> Result<Self> {
        let function = module.function(id);
        let params: Vec<_> = function.params.iter().map(|param| Rc::new(param_state(function, param))).collect();
        let known = Causality::walk(module, registry).run(function, &params, Some(needed(function, |_| true)))?;
        Ok(Self { known })
    }

    /// The mask that a value is, if all of its elements are one of two constants by query and key alone.
    pub fn mask(&self, value: Value) -> Option<Mask> {
        mask(&self.known[value.index()].levels)
    }

    /// The constant that all elements of a value are.
    pub fn constant(&self, value: Value) -> Option<f64> {
        self.known[value.index()].levels.everywhere()
    }
}

/// Two constants, one for the keys that a query sees and one for the others.
#[derive(Clone, PartialEq, Debug)]
pub struct Mask {
    /// The position that asks.
    pub query: Digit,
    /// The position that is asked about.
    pub key: Digit,
    /// The keys that a query sees.
    pub kind: MaskKind,
    /// The elements of keys that are seen.
    pub seen: f64,
    /// The elements of the others.
    pub unseen: f64,
}

/// The keys that a query sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaskKind {
    /// `key <= query`, over equal ranges.
    Causal,
    /// `key <= query + ahead`; with `ahead = 0` over ranges of different size.
    Shifted {
        /// How far a query sees ahead; negative when it does not see itself.
        ahead: i64,
    },
    /// `query - behind <= key <= query + ahead`.
    Window {
        /// How far back a query sees.
        behind: i64,
        /// How far ahead it sees.
        ahead: i64,
    },
    /// `key <= query` or `key < length`.
    Prefix {
        /// How many positions every query sees.
        length: i64,
    },
}

impl fmt::Display for MaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaskKind::Causal => f.write_str("a causal mask"),
            MaskKind::Shifted { ahead } => write!(f, "a mask of `key <= query + {ahead}`"),
            MaskKind::Window { behind, ahead } => {
                write!(f, "a sliding window of `query - {behind} <= key <= query + {ahead}`")
            }
            MaskKind::Prefix { length } => write!(f, "a causal mask with a prefix of {length} that all positions see"),
        }
    }
}

fn mask(levels: &Levels) -> Option<Mask> {
    let all: Vec<_> = levels.iter().collect();
    let [(first, a), (second, b)] = all.as_slice() else { return None };
    let (first, second) = (first.as_constant()?, second.as_constant()?);
    if !levels.cover_all() {
        return None;
    }
    let seen = |area: &Area, others: &Area, seen: f64, unseen: f64| {
        let (query, key, kind) = match (area.regions(), others.regions()) {
            ([region], _) => strip(region)?,
            (_, [others]) if others.spaces().len() == 1 => strip(&beyond(others)?)?,
            ([one, other], _) => prefix(one, other).or_else(|| prefix(other, one))?,
            _ => return None,
        };
        Some(Mask { query, key, kind, seen, unseen })
    };
    let (one, other) = (seen(a, b, first, second), seen(b, a, second, first));
    let rank = |mask: &Mask| (mask.kind != MaskKind::Causal, mask.query.dim >= mask.key.dim);
    one.into_iter().chain(other).min_by_key(rank)
}

/// Everything outside of a half-space.
fn beyond(region: &Region) -> Option<Region> {
    let [space] = region.spaces() else { return None };
    Region::new([space.negated().plus_constant(-1)])
}

/// `plus - minus + offset >= 0`.
fn difference(space: &Affine) -> Option<(Digit, Digit, i64)> {
    match *space.terms() {
        [(plus, 1), (minus, -1)] | [(minus, -1), (plus, 1)] => Some((plus, minus, space.offset())),
        _ => None,
    }
}

/// Keys up to some distance from the query.
fn strip(region: &Region) -> Option<(Digit, Digit, MaskKind)> {
    match region.spaces() {
        [space] => {
            let (query, key, ahead) = difference(space)?;
            let is_causal = ahead == 0 && query.size == key.size;
            let kind = if is_causal { MaskKind::Causal } else { MaskKind::Shifted { ahead } };
            Some((query, key, kind))
        }
        [one, other] => {
            let (first, second) = (difference(one)?, difference(other)?);
            let matches = (first.0, first.1) == (second.1, second.0);
            // The query is taken to be the one that sees less far ahead than behind.
            let (ahead, behind) = if first.2 <= second.2 { (first, second) } else { (second, first) };
            let kind = MaskKind::Window { behind: behind.2, ahead: ahead.2 };
            matches.then_some((ahead.0, ahead.1, kind))
        }
        _ => None,
    }
}

/// A causal region and the first few keys.
fn prefix(causal: &Region, first: &Region) -> Option<(Digit, Digit, MaskKind)> {
    let (query, key, MaskKind::Causal) = strip(causal)? else { return None };
    let [space] = first.spaces() else { return None };
    match *space.terms() {
        [(digit, -1)] if digit == key => Some((query, key, MaskKind::Prefix { length: space.offset() + 1 })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::SourceMap;

    /// The mask that the result of a function of these instructions is.
    fn found(body: &str, ty: &str) -> Option<Mask> {
        let text = format!("func @f(%x: f32[4,4], %t: s32[4,4]) -> ({ty}) {{\n{body}\n  return %m\n}}\n");
        let (registry, mut sources) = (Registry::builtin(), SourceMap::new());
        let file = sources.add("mask.ir", text.clone());
        let module = halite_ir::text::parse(&text, file, &registry).unwrap();
        let value = module.functions[0].results[0].value;
        Facts::of(&module, FuncId::new(0), &registry).unwrap().mask(value)
    }

    const INDICES: &str = "  %q = iota {dim = 0} : s32[4,4]\n  %k = iota {dim = 1} : s32[4,4]\n";

    fn kind(body: &str) -> Option<MaskKind> {
        found(&format!("{INDICES}{body}"), "pred[4,4]").map(|mask| mask.kind)
    }

    #[test]
    fn comparisons_of_indices_are_masks() {
        let compare = |direction: &str| kind(&format!("  %m = compare %k, %q {{direction = {direction}}} : pred[4,4]"));
        assert_eq!(compare("LE"), Some(MaskKind::Causal));
        assert_eq!(compare("GT"), Some(MaskKind::Causal));
        assert_eq!(compare("GE"), Some(MaskKind::Causal));
        assert_eq!(compare("EQ"), Some(MaskKind::Window { behind: 0, ahead: 0 }));
        let plus = "  %one = constant 1 : s32[4,4]\n  %l = add %q, %one : s32[4,4]\n";
        assert_eq!(
            kind(&format!("{plus}  %m = compare %k, %l {{direction = LT}} : pred[4,4]")),
            Some(MaskKind::Causal)
        );
        let ahead = kind(&format!("{plus}  %m = compare %k, %l {{direction = LE}} : pred[4,4]"));
        assert_eq!(ahead, Some(MaskKind::Shifted { ahead: 1 }));
    }

    #[test]
    fn the_query_is_the_one_that_sees_and_negations_say_so() {
        let mask =
            found(&format!("{INDICES}  %m = compare %k, %q {{direction = GT}} : pred[4,4]"), "pred[4,4]").unwrap();
        assert_eq!((mask.query.dim, mask.key.dim, mask.seen, mask.unseen), (0, 1, 0.0, 1.0));
        let mask =
            found(&format!("{INDICES}  %m = compare %k, %q {{direction = GE}} : pred[4,4]"), "pred[4,4]").unwrap();
        assert_eq!((mask.query.dim, mask.key.dim, mask.seen, mask.unseen), (1, 0, 1.0, 0.0));
    }

    #[test]
    fn masks_keep_through_layouts_and_arithmetic() {
        let body = "  %q = iota {dim = 0} : f32[4,4]
  %k = iota {dim = 1} : f32[4,4]
  %p = compare %k, %q {direction = LE} : pred[4,4]
  %n = convert %p : f32[4,4]
  %one = constant 1.0 : f32[4,4]
  %r = subtract %one, %n : f32[4,4]
  %f = constant -10000.0 : f32[4,4]
  %a = multiply %r, %f : f32[4,4]
  %b = broadcast_in_dim %a {dims = [1, 2]} : f32[3,4,4]
  %c = reshape %b : f32[12,4]
  %m = broadcast_in_dim %c {dims = [1, 2]} : f32[2,12,4]";
        let mask = found(body, "f32[2,12,4]").unwrap();
        assert_eq!(mask.kind, MaskKind::Causal);
        assert_eq!((mask.query, mask.key), (Digit { dim: 1, stride: 1, size: 4 }, Digit::whole(2, 4)));
        assert_eq!((mask.seen, mask.unseen), (0.0, -10000.0));
    }

    #[test]
    fn windows_prefixes_and_literals_are_told_apart() {
        let both = "  %two = constant 2 : s32[4,4]
  %c = compare %k, %q {direction = LE} : pred[4,4]
  %d = subtract %q, %k : s32[4,4]
  %w = compare %d, %two {direction = LT} : pred[4,4]
  %p = compare %k, %two {direction = LT} : pred[4,4]
";
        let window = kind(&format!("{both}  %m = and %c, %w : pred[4,4]"));
        assert_eq!(window, Some(MaskKind::Window { behind: 1, ahead: 0 }));
        assert_eq!(kind(&format!("{both}  %m = or %c, %p : pred[4,4]")), Some(MaskKind::Prefix { length: 2 }));
        assert_eq!(
            kind(&format!("{both}  %s = compare %t, %k {{direction = EQ}} : pred[4,4]\n  %m = and %c, %s : pred[4,4]")),
            None
        );
        let literal = found("  %m = constant [1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1] : f32[4,4]", "f32[4,4]");
        assert_eq!(literal.unwrap().kind, MaskKind::Causal);
    }
}
