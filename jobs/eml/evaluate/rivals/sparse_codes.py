"""Sparse codes in a dictionary, drawn to the codes of like samples: the lower level of `bdml`, which alone calls it.

A row x has the code

    z = argmin  ½ ||x - z D||² + λ |z|₁ + ½ β ||z - z̄||²,     z̄: mean code of its nearest samples

Knows no labels; the upper level enters as the derivative of its loss by the codes.
"""

from dataclasses import dataclass

import numpy as np

from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.metric_space import squared_distances

SPARSITY = 0.05  # λ, for rows of typical norm 1
LIKENESS = 1.0  # β
LIKE = 5  # nearest samples whose codes are averaged
ITERATIONS = 60  # of soft thresholding
SWEEPS = 3  # of codes and their neighbours' means


@dataclass(frozen=True, slots=True)
class Lower:
    """A dictionary (atoms, features) with rows of norm 1; the samples (n, features) it was fitted to; their codes."""

    atoms: Floats
    rows: Floats
    codes: Floats
    scale: float  # what rows are divided by: their typical norm

    def encode(self, rows: Floats) -> Floats:
        """Codes of any rows; a row that is a sample's own is no neighbour of itself."""
        rows = rows / self.scale
        return solved(self.atoms, rows, neighbours(rows, self.rows) @ self.codes)


def begin(rows: Floats, atoms: int, seed: int) -> Lower:
    """A dictionary of drawn samples."""
    # one scale for all: rows come centred, and those near the mean would be turned into noise by norms of their own
    scale = float(np.sqrt((rows**2).sum(axis=1).mean()))
    chosen = np.random.default_rng(seed).permutation(len(rows))[:atoms]
    return coded(unit(rows[np.sort(chosen)]), rows / scale, scale)


def unit(rows: Floats) -> Floats:
    """Rows divided by their norms; a row of zeros stays one."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0.0, norms, 1.0))


def coded(atoms: Floats, rows: Floats, scale: float) -> Lower:
    """The samples' codes in a dictionary, each drawn to those of its neighbours, in turns."""
    around = neighbours(rows, rows)
    codes = solved(atoms, rows, np.zeros((len(rows), len(atoms))))
    for _ in range(SWEEPS):
        codes = solved(atoms, rows, around @ codes)
    return Lower(atoms, rows, codes, scale)


def neighbours(rows: Floats, samples: Floats) -> Floats:
    """Averaging matrix (rows, samples): equal shares of the nearest samples that are not the row itself."""
    squares = squared_distances(rows, samples)
    squares[squares < 1e-12] = np.inf  # rows have norms of about 1: this is the sample itself
    places = np.argsort(squares, axis=1, kind="stable")[:, :LIKE]
    shares = np.zeros_like(squares)
    np.put_along_axis(shares, places, 1.0 / places.shape[1], axis=1)
    return shares


def solved(atoms: Floats, rows: Floats, around: Floats) -> Floats:
    """Codes (rows, atoms) by accelerated soft thresholding; `around`: z̄ of each."""
    gram = atoms @ atoms.T
    rate = 1.0 / (np.linalg.eigvalsh(gram)[-1] + LIKENESS)
    goal = rows @ atoms.T + LIKENESS * around
    codes = ahead = np.zeros_like(around)
    pace = 1.0
    for _ in range(ITERATIONS):
        moved = ahead - rate * (ahead @ gram + LIKENESS * ahead - goal)
        new = np.sign(moved) * np.maximum(np.abs(moved) - rate * SPARSITY, 0.0)
        next_pace = (1.0 + np.sqrt(1.0 + 4.0 * pace**2)) / 2.0
        ahead = new + (pace - 1.0) / next_pace * (new - codes)
        codes, pace = new, next_pace
    return codes


def upper_slope(lower: Lower, by_codes: Floats) -> Floats:
    """Derivative by the dictionary of a loss with derivative `by_codes` (n, atoms) by the codes.

    Optimality says (z D - x) Dᵀ + λ sign(z) + β (z - z̄) = 0 on a code's atoms in use. With h the solution there of
    (D Dᵀ + β I) h = ∂loss/∂z, and residual e = x - z D, the derivative is hᵀ e - zᵀ (h D).
    """
    gram = lower.atoms @ lower.atoms.T + LIKENESS * np.eye(len(lower.atoms))
    solutions = np.zeros_like(by_codes)
    for solution, code, wanted in zip(solutions, lower.codes, by_codes, strict=True):
        used = np.flatnonzero(code)
        if len(used):
            solution[used] = np.linalg.solve(gram[np.ix_(used, used)], wanted[used])
    residual = lower.rows - lower.codes @ lower.atoms
    return np.asarray(solutions.T @ residual - lower.codes.T @ (solutions @ lower.atoms))


def bent(lower: Lower, by_codes: Floats, share: float) -> Lower:
    """The dictionary after a step on both losses, each of `share` of its size, and new codes."""
    fitting = -lower.codes.T @ (lower.rows - lower.codes @ lower.atoms)
    atoms = lower.atoms
    for slope in (fitting, upper_slope(lower, by_codes)):
        size = np.linalg.norm(slope)
        if size > 0.0:
            atoms = atoms - share * np.linalg.norm(lower.atoms) / size * slope
    return coded(unit(atoms), lower.rows, lower.scale)
