//! The kinds of faults: replacements of an instruction of the program of one rank.

use halite_ir::ops::{AllGather, AllReduce, AllToAll, DynamicSlice, ReduceScatter, Reduction};
use halite_ir::{Function, Inst, Op, Rewriter, Value};
use halite_support::Result;
use halite_tensor::{DType, DimShard, Groups, Mesh, SubAxisId};

/// An instruction that is to be replaced.
pub(super) struct Site<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) source: &'a Function,
    pub(super) inst: &'a Inst,
    /// The values that replace its operands.
    pub(super) args: &'a [Value],
}

/// Makes a value that replaces the result of an instruction; `None` where the fault cannot be made.
type Replace = fn(&mut Rewriter<'_>, &Site<'_>) -> Result<Option<Value>>;

/// A kind of fault.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Whether the analysis has to find each of them alone.
    pub(super) proven: bool,
    /// The op that it is made of.
    pub(super) op: &'static str,
    pub(super) replace: Replace,
}

const fn proven(name: &'static str, op: &'static str, replace: Replace) -> Kind {
    Kind { name, proven: true, op, replace }
}

const fn other(name: &'static str, op: &'static str, replace: Replace) -> Kind {
    Kind { name, proven: false, op, replace }
}

pub(super) const KINDS: &[Kind] = &[
    proven("sum left out", "all_reduce", |_, site| Ok(Some(site.args[0]))),
    proven("sum of a number left out", "all_reduce", |_, site| Ok((site.rank() == 0).then_some(site.args[0]))),
    proven("sum of a vector left out", "all_reduce", |_, site| Ok((site.rank() == 1).then_some(site.args[0]))),
    proven("sum made twice", "all_reduce", |b, site| {
        let once = b.emit(site.inst.op.clone(), site.args)?;
        b.emit(site.inst.op.clone(), &[once]).map(Some)
    }),
    proven("sum over another axis", "all_reduce", |b, site| site.reduced(b, site.other_axes())),
    proven("sum over all axes", "all_reduce", |b, site| {
        let all: Vec<SubAxisId> = (0..site.mesh.sub_axes().len()).collect();
        let same = site.group_size() == site.mesh.num_ranks();
        site.reduced(b, (!same).then(|| site.mesh.groups(&all)))
    }),
    proven("sum over half of the ranks", "all_reduce", |b, site| {
        let half = |group: Vec<usize>| group.chunks(group.len() / 2).map(<[usize]>::to_vec).collect::<Vec<_>>();
        let halves = (site.group_size() > 2)
            .then(|| site.groups().lists().into_iter().flat_map(half).collect::<Vec<_>>().into());
        site.reduced(b, halves)
    }),
    proven("groups of a transposed mesh", "all_reduce", |b, site| site.reduced(b, site.transposed())),
    proven("groups with ranks exchanged", "all_reduce", |b, site| site.reduced(b, site.exchanged())),
    proven("maximum for a sum", "all_reduce", |b, site| site.kind(b, Reduction::Max)),
    proven("minimum for a sum", "all_reduce", |b, site| site.kind(b, Reduction::Min)),
    other("mean for a sum", "all_reduce", |b, site| {
        if site.all_reduce().is_none_or(|op| op.kind != Reduction::Sum) || !b.dtype(site.args[0]).is_float() {
            return Ok(None);
        }
        let sum = b.emit(site.inst.op.clone(), site.args)?;
        b.multiply_scalar(sum, 1.0 / site.group_size() as f64).map(Some)
    }),
    other("constant added before a sum", "all_reduce", |b, site| {
        let more = b.add_scalar(site.args[0], 1.0)?;
        b.emit(site.inst.op.clone(), &[more]).map(Some)
    }),
    other("square before a sum", "all_reduce", |b, site| {
        let square = b.multiply(site.args[0], site.args[0])?;
        b.emit(site.inst.op.clone(), &[square]).map(Some)
    }),
    other("rank within a sum", "all_reduce", |b, site| {
        let rank = b.replica_id()?;
        let rank = b.convert(rank, site.source.ty(site.inst.args[0]).dtype())?;
        let shape = b.shape(site.args[0]).clone();
        let rank = b.broadcast_in_dim(rank, &[], shape)?;
        let scaled = b.multiply(site.args[0], rank)?;
        b.emit(site.inst.op.clone(), &[scaled]).map(Some)
    }),
    proven("gather in another order", "all_gather", |b, site| site.gathered(b, site.reversed())),
    proven("gather with the parts of an axis exchanged", "all_gather", |b, site| site.gathered(b, site.rotated())),
    proven("gather over another axis", "all_gather", |b, site| site.gathered(b, site.other_axes())),
    proven("gather with ranks exchanged", "all_gather", |b, site| site.gathered(b, site.exchanged())),
    proven("gather left out", "all_gather", |b, site| {
        let Op::AllGather(op) = &site.inst.op else { return Ok(None) };
        let own = vec![site.args[0]; site.group_size()];
        b.concatenate(&own, op.dim).map(Some)
    }),
    other("gather of another dimension", "all_gather", |b, site| {
        let Op::AllGather(op) = &site.inst.op else { return Ok(None) };
        let dim = (op.dim + 1) % site.rank();
        let wrong = b.emit(AllGather { dim, ..op.clone() }, site.args)?;
        let shape = site.source.ty(site.inst.results[0]).shape().clone();
        if dim == op.dim { Ok(None) } else { b.reshape(wrong, shape).map(Some) }
    }),
    proven("scatter in another order", "reduce_scatter", |b, site| site.scattered(b, site.reversed())),
    proven("scatter with the parts of an axis exchanged", "reduce_scatter", |b, site| {
        site.scattered(b, site.rotated())
    }),
    proven("scatter over another axis", "reduce_scatter", |b, site| site.scattered(b, site.other_axes())),
    proven("scatter with ranks exchanged", "reduce_scatter", |b, site| site.scattered(b, site.exchanged())),
    proven("sum before a scatter", "reduce_scatter", |b, site| {
        let sum = b.all_reduce(Reduction::Sum, site.args[0], site.groups())?;
        b.emit(site.inst.op.clone(), &[sum]).map(Some)
    }),
    proven("scatter without its sum", "reduce_scatter", |b, site| site.first_block(b, site.args[0])),
    proven("sum and the first part for a scatter", "reduce_scatter", |b, site| {
        let sum = b.all_reduce(Reduction::Sum, site.args[0], site.groups())?;
        site.first_block(b, sum)
    }),
    other("scatter of another dimension", "reduce_scatter", |b, site| {
        let Op::ReduceScatter(op) = &site.inst.op else { return Ok(None) };
        let dim = (op.dim + 1) % site.rank();
        if dim == op.dim {
            return Ok(None);
        }
        let wrong = b.emit(ReduceScatter { dim, ..op.clone() }, site.args)?;
        let shape = site.source.ty(site.inst.results[0]).shape().clone();
        b.reshape(wrong, shape).map(Some)
    }),
    proven("exchange in another order", "all_to_all", |b, site| site.exchange(b, |_| site.reversed())),
    proven("exchange over another axis", "all_to_all", |b, site| site.exchange(b, |_| site.other_axes())),
    proven("exchange with ranks exchanged", "all_to_all", |b, site| site.exchange(b, |_| site.exchanged())),
    proven("exchange of two dimensions swapped", "all_to_all", |b, site| {
        site.exchange(b, |op| {
            std::mem::swap(&mut op.split_dim, &mut op.concat_dim);
            Some(op.groups.clone())
        })
    }),
    proven("exchange that splits another dimension", "all_to_all", |b, site| {
        site.exchange(b, |op| {
            op.split_dim = (op.split_dim + 1) % site.rank();
            Some(op.groups.clone())
        })
    }),
    other("exchange that joins another dimension", "all_to_all", |b, site| {
        site.exchange(b, |op| {
            op.concat_dim = (op.concat_dim + 1) % site.rank();
            Some(op.groups.clone())
        })
    }),
    proven("exchange left out", "all_to_all", |b, site| {
        let x = site.args[0];
        site.first_parts(b, &vec![x; site.group_size()])
    }),
    proven("gather and the first part for an exchange", "all_to_all", |b, site| {
        let Op::AllToAll(op) = &site.inst.op else { return Ok(None) };
        let whole = b.all_gather(site.args[0], op.concat_dim, op.groups.clone())?;
        site.first_parts(b, &[whole])
    }),
    other("slice at the start", "dynamic_slice", |b, site| {
        let zero = b.splat_like(site.args[1], 0.0)?;
        let starts = vec![zero; site.args.len() - 1];
        site.sliced(b, &starts)
    }),
    other("slice one element on", "dynamic_slice", |b, site| site.shifted(b, |_| 1)),
    other("slice one part on", "dynamic_slice", |b, site| site.shifted(b, |size| size)),
    other("slice by another axis", "dynamic_slice", |b, site| {
        let Some(dim) = site.cut() else { return Ok(None) };
        let whole = site.source.ty(site.inst.args[0]).shape()[dim];
        let size = site.result_shape()[dim];
        let fits = |sub_axis: &SubAxisId| site.mesh.sub_axes()[*sub_axis].size * size == whole;
        for sub_axis in (0..site.mesh.sub_axes().len()).filter(fits) {
            let digit = DimShard { sub_axis, size: site.mesh.sub_axes()[sub_axis].size, stride: size };
            let at = b.coordinate(site.mesh, digit)?;
            if site.ops(site.inst.args[dim + 1]) != ops(b.function(), at) {
                let mut starts = site.args[1..].to_vec();
                starts[dim] = b.multiply_scalar(at, size as f64)?;
                return site.sliced(b, &starts);
            }
        }
        Ok(None)
    }),
    other("ranks counted from 1", "replica_id", |b, site| {
        let rank = b.replica_id()?;
        let rank = b.add_scalar(rank, 1.0)?;
        let count = b.splat_like(rank, site.mesh.num_ranks() as f64)?;
        b.remainder(rank, count).map(Some)
    }),
    other("ranks counted backwards", "replica_id", |b, site| {
        let rank = b.replica_id()?;
        let last = b.splat_like(rank, (site.mesh.num_ranks() - 1) as f64)?;
        b.subtract(last, rank).map(Some)
    }),
    other("all ranks the first", "replica_id", |b, _| b.splat(DType::U32, &[][..], 0.0).map(Some)),
    other("mask of the next rank", "compare", |b, site| {
        if !site.ops(site.inst.args[1]).contains(&"replica_id") {
            return Ok(None);
        }
        let next = b.add_scalar(site.args[1], 1.0)?;
        b.emit(site.inst.op.clone(), &[site.args[0], next]).map(Some)
    }),
    other("rank within random words", "xor", |b, site| {
        if site.source.ty(site.inst.args[0]).dtype() != DType::U32 {
            return Ok(None);
        }
        let rank = b.replica_id()?;
        let shape = b.shape(site.args[0]).clone();
        let rank = b.broadcast_in_dim(rank, &[], shape)?;
        let more = b.add(site.args[0], rank)?;
        b.emit(site.inst.op.clone(), &[more, site.args[1]]).map(Some)
    }),
    other("mask left out", "select", |_, site| Ok(site.masks().then_some(site.args[1]))),
    other("mask inverted", "select", |b, site| {
        if !site.masks() {
            return Ok(None);
        }
        let not = b.not(site.args[0])?;
        b.select(not, site.args[1], site.args[2]).map(Some)
    }),
    proven("sum of what a product reads", "dot_general", |b, site| {
        let all: Vec<SubAxisId> = (0..site.mesh.sub_axes().len()).collect();
        let sum = b.all_reduce(Reduction::Sum, site.args[1], site.mesh.groups(&all))?;
        b.emit(site.inst.op.clone(), &[site.args[0], sum]).map(Some)
    }),
    proven("rank within a product", "dot_general", |b, site| {
        let rank = b.replica_id()?;
        let rank = b.convert(rank, site.source.ty(site.inst.args[0]).dtype())?;
        let shape = b.shape(site.args[0]).clone();
        let rank = b.broadcast_in_dim(rank, &[], shape)?;
        let more = b.add(site.args[0], rank)?;
        b.emit(site.inst.op.clone(), &[more, site.args[1]]).map(Some)
    }),
];

impl Site<'_> {
    fn rank(&self) -> usize {
        self.source.ty(self.inst.args[0]).rank()
    }

    fn result_shape(&self) -> &[usize] {
        self.source.ty(self.inst.results[0]).shape()
    }

    fn all_reduce(&self) -> Option<&AllReduce> {
        if let Op::AllReduce(op) = &self.inst.op { Some(op) } else { None }
    }

    fn groups(&self) -> Groups {
        match &self.inst.op {
            Op::AllReduce(op) => op.groups.clone(),
            Op::AllGather(op) => op.groups.clone(),
            Op::ReduceScatter(op) => op.groups.clone(),
            Op::AllToAll(op) => op.groups.clone(),
            _ => Groups::default(),
        }
    }

    /// The ranks of the first group.
    fn first_group(&self) -> Vec<usize> {
        self.groups().lists().swap_remove(0)
    }

    fn group_size(&self) -> usize {
        self.groups().size().unwrap_or(1)
    }

    /// The groups along the sub-axes that these groups are not of.
    fn other_axes(&self) -> Option<Groups> {
        let first = self.first_group();
        let other = |&sub_axis: &SubAxisId| {
            first.iter().all(|&rank| self.mesh.coordinate(sub_axis, rank) == self.mesh.coordinate(sub_axis, first[0]))
        };
        let sub_axes: Vec<SubAxisId> = (0..self.mesh.sub_axes().len()).filter(other).collect();
        (!sub_axes.is_empty()).then(|| self.mesh.groups(&sub_axes))
    }

    /// The groups of as many ranks as if the last axis were the first; `None` where they are the same.
    fn transposed(&self) -> Option<Groups> {
        let axes = self.mesh.axes().iter().rev().map(|axis| (axis.name.clone(), axis.size));
        let other = Mesh::new(axes).ok()?;
        let first = self.first_group();
        let differs = |axis: &str| {
            let mut sub_axes = self.mesh.sub_axes_of(axis);
            sub_axes.any(|sub_axis| first.iter().any(|&rank| self.mesh.coordinate(sub_axis, rank) != 0))
        };
        let axes = other.axes().iter().filter(|axis| differs(&axis.name));
        let sub_axes: Vec<SubAxisId> =
            axes.flat_map(|axis| other.sub_axes_of(&axis.name).collect::<Vec<_>>()).collect();
        let groups = other.groups(&sub_axes);
        (groups.ascending() != self.groups().ascending()).then_some(groups)
    }

    /// The groups with the first rank of one in another.
    fn exchanged(&self) -> Option<Groups> {
        let mut groups = self.groups().lists();
        let [first, second, ..] = &mut groups[..] else { return None };
        std::mem::swap(&mut first[0], &mut second[0]);
        Some(groups.into())
    }

    fn reversed(&self) -> Option<Groups> {
        let mut groups = self.groups().lists();
        groups.iter_mut().for_each(|group| group.reverse());
        Some(groups.into())
    }

    /// The groups along the same sub-axes, which count in the reverse order.
    fn rotated(&self) -> Option<Groups> {
        let first = self.first_group();
        let own = |&sub_axis: &SubAxisId| {
            first.iter().any(|&rank| self.mesh.coordinate(sub_axis, rank) != self.mesh.coordinate(sub_axis, first[0]))
        };
        let sub_axes: Vec<SubAxisId> = (0..self.mesh.sub_axes().len()).filter(own).rev().collect();
        let groups = self.mesh.groups(&sub_axes);
        (groups != self.groups()).then_some(groups)
    }

    fn reduced(&self, b: &mut Rewriter<'_>, groups: Option<Groups>) -> Result<Option<Value>> {
        let (Some(op), Some(groups)) = (self.all_reduce(), groups) else { return Ok(None) };
        b.all_reduce(op.kind, self.args[0], groups).map(Some)
    }

    fn kind(&self, b: &mut Rewriter<'_>, kind: Reduction) -> Result<Option<Value>> {
        let Some(op) = self.all_reduce().filter(|op| op.kind == Reduction::Sum) else { return Ok(None) };
        b.all_reduce(kind, self.args[0], op.groups.clone()).map(Some)
    }

    fn gathered(&self, b: &mut Rewriter<'_>, groups: Option<Groups>) -> Result<Option<Value>> {
        let (Op::AllGather(op), Some(groups)) = (&self.inst.op, groups) else { return Ok(None) };
        if groups.size() != self.groups().size() {
            return Ok(None);
        }
        b.all_gather(self.args[0], op.dim, groups).map(Some)
    }

    fn scattered(&self, b: &mut Rewriter<'_>, groups: Option<Groups>) -> Result<Option<Value>> {
        let (Op::ReduceScatter(op), Some(groups)) = (&self.inst.op, groups) else { return Ok(None) };
        if groups.size() != self.groups().size() {
            return Ok(None);
        }
        b.reduce_scatter(self.args[0], op.dim, groups).map(Some)
    }

    /// Another exchange between dimensions, of groups that `change` gives; its result has the shape of the right one.
    fn exchange(
        &self,
        b: &mut Rewriter<'_>,
        change: impl FnOnce(&mut AllToAll) -> Option<Groups>,
    ) -> Result<Option<Value>> {
        let Op::AllToAll(own) = &self.inst.op else { return Ok(None) };
        let mut op = own.clone();
        let Some(groups) = change(&mut op) else { return Ok(None) };
        op.groups = groups;
        if op == *own || op.groups.size() != own.groups.size() {
            return Ok(None);
        }
        let Ok(wrong) = b.emit(op, self.args) else { return Ok(None) };
        b.reshape(wrong, self.source.ty(self.inst.results[0]).shape().clone()).map(Some)
    }

    /// The first parts of some values along the dimension that an exchange splits, one after another along the one that it joins.
    fn first_parts(&self, b: &mut Rewriter<'_>, xs: &[Value]) -> Result<Option<Value>> {
        let Op::AllToAll(op) = &self.inst.op else { return Ok(None) };
        let size = self.source.ty(self.inst.args[0]).shape()[op.split_dim] / self.group_size();
        let parts = xs.iter().map(|&x| b.slice_dim(x, op.split_dim, 0, size)).collect::<Result<Vec<_>>>()?;
        b.concatenate(&parts, op.concat_dim).map(Some)
    }

    /// The first part of what is scattered.
    fn first_block(&self, b: &mut Rewriter<'_>, x: Value) -> Result<Option<Value>> {
        let Op::ReduceScatter(op) = &self.inst.op else { return Ok(None) };
        b.slice_dim(x, op.dim, 0, self.result_shape()[op.dim]).map(Some)
    }

    /// The dimension that is sliced.
    fn cut(&self) -> Option<usize> {
        let whole = self.source.ty(self.inst.args[0]).shape();
        (0..whole.len()).find(|&dim| whole[dim] != self.result_shape()[dim])
    }

    fn sliced(&self, b: &mut Rewriter<'_>, starts: &[Value]) -> Result<Option<Value>> {
        let Op::DynamicSlice(DynamicSlice { shape }) = &self.inst.op else { return Ok(None) };
        b.dynamic_slice(self.args[0], starts, shape.clone()).map(Some)
    }

    fn shifted(&self, b: &mut Rewriter<'_>, by: impl Fn(usize) -> usize) -> Result<Option<Value>> {
        let Some(dim) = self.cut() else { return Ok(None) };
        let mut starts = self.args[1..].to_vec();
        starts[dim] = b.add_scalar(starts[dim], by(self.result_shape()[dim]) as f64)?;
        self.sliced(b, &starts)
    }

    /// Whether it chooses between a value and zero by what is computed from the number of the rank.
    fn masks(&self) -> bool {
        let zero = match self.source.def(self.inst.args[2]).map(|def| &def.op) {
            Some(Op::Constant(constant)) => constant.splat_value() == Some(0.0),
            _ => false,
        };
        zero && self.ops(self.inst.args[0]).contains(&"replica_id")
    }

    fn ops(&self, value: Value) -> Vec<&str> {
        ops(self.source, value)
    }
}

/// The ops that a value is computed by, as far as 64 of them, without products.
fn ops(function: &Function, value: Value) -> Vec<&str> {
    let (mut open, mut found) = (vec![value], Vec::new());
    while let Some(def) = open.pop().and_then(|value| function.def(value)).filter(|_| found.len() < 64) {
        if !matches!(def.op, Op::Multiply(_) | Op::Constant(_)) {
            found.push(def.op.name());
        }
        open.extend(&def.args);
    }
    found
}
