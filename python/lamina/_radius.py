"""Radius search with scikit-learn's contract."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ._arrays import Array, threads_of
from ._functions import cdist
from ._kept_rows import KeepsRows, as_objects, blocks, dense_rows, require_mode
from ._parameters import Parameter


class FindsWithin(KeepsRows):
    """Finds all rows that are no farther than a radius."""

    _parameters = {
        "radius": Parameter(
            "float",
            "Rows within it, or at exactly this distance, are neighbors.",
            [Interval(Real, 0, None, closed="both"), None],
        )
    }

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of all rows of ``fit`` within a radius of the rows of X.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features), optional
            Left out: the rows of ``fit``, which are then not their own neighbors.
        radius : float or array, (rows of X,), optional
            ``radius`` of the constructor where it is left out.
        return_distance : bool
        sort_results : bool
            Nearest first, of equal distances the lower number; else by number.

        Returns
        -------
        distances : array of arrays, (rows,)
            Only with ``return_distance``.
        indices : array of arrays of int64, (rows,)
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        starts, indices, distances = self._within(X, radius, sort_results)
        of_rows = as_objects(indices, starts)
        return (as_objects(distances, starts), of_rows) if return_distance else of_rows

    def radius_neighbors_graph(
        self, X: Any = None, radius: Any = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """The rows within a radius as a sparse matrix in CSR, (rows of X, rows of ``fit``).

        Parameters
        ----------
        X, radius, sort_results
            As for `radius_neighbors`.
        mode : {"connectivity", "distance"}
            What it holds: ones, or distances.
        """
        require_mode(mode)
        starts, indices, distances = self._within(X, radius, sort_results)
        data = distances.astype(np.float64) if mode == "distance" else np.ones(len(indices))
        return csr_matrix((data, indices, starts), shape=(len(starts) - 1, self.n_samples_fit_))

    def _within(self, X: Any, radius: Any, sort_results: bool) -> tuple[Array, Array, Array]:
        """Where the neighbors of each row begin, (rows + 1,), and the numbers and distances of all of them."""
        check_is_fitted(self)
        rows = self._asked_rows(X)
        reach = self.radius if radius is None else radius
        of_rows = np.broadcast_to(np.asarray(reach, np.float64), rows.shape[:1])
        found_by_tree = self._within_by_tree(rows, of_rows, X is None, sort_results)
        if found_by_tree is not None:
            return found_by_tree
        counts: list[Array] = [np.zeros(1, np.int64)]
        found: list[tuple[Array, Array]] = []
        for block in blocks(rows, self.n_samples_fit_):
            x = dense_rows(rows, block)
            own = block.start if X is None else -1
            parts = [self._near_pairs(x, other, of_rows[block], own) for other in blocks(self._fit_X)]
            row, index, distance = (np.concatenate([part[i] for part in parts]) for i in range(3))
            order = np.lexsort((index, distance, row) if sort_results else (index, row))
            counts.append(np.bincount(row, minlength=len(x)))
            found.append((index[order], distance[order]))
        if not found:
            return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
        indices, distances = (np.concatenate([part[i] for part in found]) for i in range(2))
        return np.cumsum(np.concatenate(counts)), indices, distances

    def _within_by_tree(
        self, rows: Any, reach: Array, own: bool, sort_results: bool
    ) -> tuple[Array, Array, Array] | None:
        """The same; None where a look at all distances is quicker."""
        if issparse(rows) or issparse(self._fit_X) or not len(rows) or not (reach == reach[0]).all():
            return None
        tree = self._tree_for(rows)
        found = None if tree is None else tree.within(rows, float(reach[0]), threads_of(self._threads()))
        if found is None:
            return None
        counts, index, distance = (part.ravel() for part in found)
        row = np.repeat(np.arange(len(rows)), counts)
        if own:
            others = index != row
            row, index, distance = row[others], index[others], distance[others]
            counts = np.bincount(row, minlength=len(rows))
        if sort_results:
            order = np.lexsort((index, distance, row))
            index, distance = index[order], distance[order]
        return np.concatenate(([0], np.cumsum(counts))), index, distance.astype(rows.dtype)

    def _near_pairs(self, x: Array, other: slice, reach: Array, own: int) -> tuple[Array, Array, Array]:
        """Rows of x, rows of ``fit`` in a block and their distances, where those are near. ``own``: the row of ``fit``
        that is the first of x, which is not its own neighbor; -1 where x are others."""
        apart = cdist(x, dense_rows(self._fit_X, other), self.effective_metric_, threads=self._threads())
        near = apart <= reach.astype(apart.dtype)[:, None]
        if own >= 0:
            itself = np.arange(own, own + len(x))
            inside = (other.start <= itself) & (itself < other.stop)
            near[np.flatnonzero(inside), itself[inside] - other.start] = False
        row, index = np.nonzero(near)
        return row, index + other.start, apart[row, index]
