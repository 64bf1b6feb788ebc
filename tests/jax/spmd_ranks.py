"""How a program speaks to other ranks: as one of several within `shard_map`, with a fault where one is asked for, or alone on one device.

A program is written once, against these methods. `Alone` makes it the program of one device, on which nothing is sent and which holds all.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Ranks:
    """One rank of a mesh. Each use is a site; at the site `fault[0]` the program is wrong in the way `fault[1]`."""

    def __init__(self, mesh, fault=None):
        self.mesh, self.fault, self.sites = mesh, fault, []

    def _is(self, kind):
        """What is wrong with the next site, which is of a kind."""
        self.sites.append(kind)
        return self.fault[1] if self.fault and self.fault[0] == len(self.sites) - 1 else None

    def _other(self, axes):
        """An axis that is not among these."""
        return next((axis for axis in self.mesh if axis not in axes and self.mesh[axis] > 1), None)

    def size(self, axes):
        size = 1
        for axis in axes:
            size *= self.mesh[axis]
        return size

    def _position(self, axes):
        return lax.axis_index(axes) if axes else 0

    def index(self, axes, extent):
        """The number of the rank along axes, by which it finds its part, of an extent, of a dimension.

        Where the extent is 1, no number at all leaves a program of one device, which broadcasts: that fault is left out, as in `gather`.
        """
        if not axes:
            return 0
        fault, own = self._is("index"), self._position(axes)
        if fault == "next":
            return (own + 1) % self.size(axes)
        if fault == "zero" and extent > 1:
            return own * 0
        if fault == "axis" and (other := self._other(axes)):
            return lax.axis_index(other) % self.size(axes)
        return own

    def _reduced(self, kind, reduce, x, axes):
        if not axes:
            return x
        fault = self._is(kind)
        if fault == "drop":
            return x
        if fault == "axis":
            other = self._other(axes)
            return reduce(x, other) if other else x
        if fault == "twice":
            return reduce(reduce(x, axes), axes)
        return reduce(x, axes)

    def psum(self, x, axes):
        return self._reduced("psum", lax.psum, x, axes)

    def pmean(self, x, axes):
        return self._reduced("pmean", lax.pmean, x, axes)

    def pmax(self, x, axes):
        return self._reduced("pmax", lax.pmax, x, axes)

    def pmin(self, x, axes):
        return self._reduced("pmin", lax.pmin, x, axes)

    def _gathered(self, x, axes, dim):
        if self._is("gather") == "drop" and x.shape[dim] > 1:
            return jnp.concatenate([x] * self.size(axes), dim)
        return lax.all_gather(x, axes, axis=dim, tiled=True)

    def _scattered(self, x, axes, dim):
        fault, own = self._is("scatter"), x.shape[dim] // self.size(axes)
        if fault == "drop":
            return lax.dynamic_slice_in_dim(x, self._position(axes) * own, own, dim)
        part = lax.psum_scatter(x, axes, scatter_dimension=dim, tiled=True)
        return self._moved(part, axes, 1) if fault == "next" else part

    def gather(self, x, axes, dim):
        """The whole of a dimension. Each rank has a part of its gradient, and their sum is scattered."""
        return self._differently(self._gathered, self._scattered)(x, axes, dim) if axes else x

    def scatter(self, x, axes, dim):
        """A rank's part of a dimension of a sum."""
        return self._differently(self._scattered, self._gathered)(x, axes, dim) if axes else x

    def _differently(self, there, back):
        """A function whose gradient is made by another."""

        def called(x, *how):
            function = jax.custom_vjp(lambda x: there(x, *how))
            function.defvjp(lambda x: (there(x, *how), None), lambda _, ct: (back(ct, *how),))
            return function(x)

        return called

    def enter(self, x, axes):
        """What all ranks read, so that its gradient is a sum over them."""
        return self._differently(lambda x: x, lambda ct: self.psum(ct, axes))(x) if axes else x

    def leave(self, x, axes):
        """The sum of what ranks give, whose gradient all of them have."""
        return self._differently(lambda x: self.psum(x, axes), lambda ct: ct)(x) if axes else x

    def own(self, x, axes, dim):
        """The part of a dimension that is this rank's."""
        part = x.shape[dim] // self.size(axes)
        return lax.dynamic_slice_in_dim(x, self.index(axes, part) * part, part, dim) if axes else x

    def exchange(self, x, axes, split, concat):
        """Splits a dimension among ranks, and puts together another."""
        if not axes:
            return x
        if self._is("exchange") == "drop":
            return jnp.concatenate(jnp.split(x, self.size(axes), split), concat)
        return lax.all_to_all(x, axes, split, concat, tiled=True)

    def shift(self, x, axes, by=1):
        """What a rank before this one has, around the ring."""
        if not axes:
            return x
        fault = self._is("shift")
        return x if fault == "drop" else self._moved(x, axes, by + (fault == "next"))

    def _moved(self, x, axes, by):
        size = self.size(axes)
        return lax.ppermute(x, axes, [(self._counted(rank, axes), self._counted((rank + by) % size, axes)) for rank in range(size)])

    def _counted(self, rank, axes):
        """A rank along axes as `ppermute` counts: in the order of the mesh, whatever that of the axes."""
        place = dict(zip(axes, np.unravel_index(rank, [self.mesh[axis] for axis in axes])))
        ordered = [axis for axis in self.mesh if axis in axes]
        return int(np.ravel_multi_index([place[axis] for axis in ordered], [self.mesh[axis] for axis in ordered]))


class Alone(Ranks):
    """The only rank, which holds all."""

    def __init__(self):
        super().__init__({})
        nothing_to_send = lambda x, *_: x
        for name in ("psum", "pmean", "pmax", "pmin", "gather", "scatter", "enter", "leave", "own", "exchange", "shift"):
            setattr(self, name, nothing_to_send)

    def size(self, axes):
        return 1

    def index(self, axes, extent):
        return 0


#: What can be wrong with a site, by its kind.
FAULTS = {
    "psum": ("drop", "twice", "axis"),
    "pmean": ("drop", "axis"),
    "pmax": ("drop", "axis"),
    "pmin": ("drop", "axis"),
    "gather": ("drop",),
    "scatter": ("drop", "next"),
    "exchange": ("drop",),
    "shift": ("drop", "next"),
    "index": ("next", "zero", "axis"),
}
