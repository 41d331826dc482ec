"""The matrix instructions of gfx942 as AMD publishes them (`matrix_facts.txt`), and as numpy computes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

LANES = 64
A, B, INDEX, D = 0, 2, 6, 8
"""The first word of each operand among those of a lane."""
WORDS = 40

Words: TypeAlias = NDArray[np.uint32]
Numbers: TypeAlias = NDArray[np.float64]

TYPES = {
    "f32": np.dtype(np.float32),
    "xf32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "bf8": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
    "f64": np.dtype(np.float64),
}
_KEPT_BITS = 0xFFFFE000
"""The bits of a float that xf32 keeps."""


@dataclass(frozen=True)
class Modifiers:
    """The immediates of an instruction."""

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0


@dataclass(frozen=True)
class Instruction:
    """A matrix instruction: D[m][n] += A[m][k] * B[k][n], for each block; `figures` are AMD's, as text."""

    mnemonic: str
    builtin: str
    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    d: str
    modifiers: str
    figures: tuple[str, ...]

    @property
    def sparse(self) -> bool:
        """True if only 2 of each 4 values of A are there."""
        return self.builtin.startswith("smfmac")

    @property
    def stored_k(self) -> int:
        """How many values are there of a row of A."""
        return self.k // 2 if self.sparse else self.k

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many values of A, B and D a lane holds."""
        rows, columns = self.m * self.blocks, self.n * self.blocks
        return rows * self.stored_k // LANES, columns * self.k // LANES, rows * self.n // LANES

    def a_place(self, row: int, stored: int, block: int, how: Modifiers) -> tuple[int, int]:
        """Return the lane of a value of A, and its number there."""
        if not self.sparse:
            block = block // (1 << how.cbsz) * (1 << how.cbsz) + how.abid
        return _source_place(self.m, self.blocks, self.counts[0], row, stored, block)

    def b_place(self, k: int, column: int, block: int, how: Modifiers) -> tuple[int, int]:
        """Return the lane of a value of B, and its number there."""
        lane, at = _source_place(self.n, self.blocks, self.counts[1], column, k, block)
        return (lane if self.modifiers == "negate" else _lane_group(lane, how.blgp)), at

    def d_place(self, row: int, column: int, block: int) -> tuple[int, int]:
        """Return the lane of a value of D, and its number there."""
        height = 1 if self.d == "f64" else 4
        strips = LANES // self.n
        sharing = -(-LANES // (self.m * self.n // height))
        at = block * (self.m * self.n // LANES) + row // (height * strips) * height + row % height
        return (block % sharing + row // height % strips * sharing) * self.n + column, at

    def index_bits(self, stored: int, how: Modifiers) -> int:
        """Return the first of the two bits that say which of 4 a stored value of A is."""
        held = self.counts[0]
        return (0 if how.cbsz else how.abid * held * 2) + stored % held * 2


def _source_place(size: int, blocks: int, held: int, row: int, k: int, block: int) -> tuple[int, int]:
    return row + size * (block + blocks * (k // held)), k % held


def _lane_group(lane: int, blgp: int) -> int:
    if blgp >= 4:
        return lane % 16 + 16 * (blgp - 4)
    return (lane, lane % 32, lane % 32 + 32, (lane + 16) % LANES)[blgp]


def _instructions() -> list[Instruction]:
    found: list[Instruction] = []
    figures: list[str] = []
    for line in reversed((Path(__file__).parent / "matrix_facts.txt").read_text().splitlines()):
        if line.startswith("    "):
            figures.append(line.strip())
        elif not line.startswith("#"):
            mnemonic, builtin, m, n, k, blocks, a, b, d, modifiers = line.split()
            shape = int(m), int(n), int(k), int(blocks)
            found.append(Instruction(mnemonic, builtin, *shape, a, b, d, modifiers, tuple(figures)))
            figures = []
    return found[::-1]


INSTRUCTIONS = _instructions()


def packed(values: NDArray[np.generic]) -> Words:
    """Return the words of values that lanes hold: one row for each lane, then one for each word."""
    return np.ascontiguousarray(np.ascontiguousarray(values).view(np.uint32).reshape(LANES, -1).T)


def held(words: Words, kind: str) -> NDArray[np.generic]:
    """Return the values of `kind` that lanes hold, one row for each lane."""
    return np.ascontiguousarray(words.T).view(TYPES[kind]).reshape(LANES, -1)


def product(one: Instruction, how: Modifiers, words: Words) -> tuple[Numbers, Numbers]:
    """Return D as lanes hold it, and the sum of the sizes of what was added; the values must be finite."""
    in_a, in_b, in_d = one.counts
    a, b, c = (
        held(words[first : first + count * TYPES[kind].itemsize // 4], kind).astype(np.float64)
        for first, count, kind in ((A, in_a, one.a), (B, in_b, one.b), (D, in_d, one.d))
    )
    if one.a == "xf32":
        a, b = (
            held(words[first : first + count] & np.uint32(_KEPT_BITS), "f32").astype(np.float64)
            for first, count in ((A, in_a), (B, in_b))
        )
    if one.modifiers == "negate":
        a, b, c = (-values if how.blgp >> bit & 1 else values for bit, values in enumerate((a, b, c)))
    left = np.zeros((one.blocks, one.m, one.k))
    for block, row, stored in np.ndindex(one.blocks, one.m, one.stored_k):
        place = one.a_place(row, stored, block, how)
        k = stored
        if one.sparse:
            k = stored // 2 * 4 + (int(words[INDEX, place[0]]) >> one.index_bits(stored, how) & 3)
        left[block, row, k] += a[place]
    right = np.zeros((one.blocks, one.k, one.n))
    for block, k, column in np.ndindex(*right.shape):
        right[block, k, column] = b[one.b_place(k, column, block, how)]
    products, sizes = left @ right, np.abs(left) @ np.abs(right)
    result, size = np.zeros((LANES, in_d)), np.zeros((LANES, in_d))
    for block, row, column in np.ndindex(*products.shape):
        place = one.d_place(row, column, block)
        result[place] = c[place] + products[block, row, column]
        size[place] = abs(c[place]) + sizes[block, row, column]
    return result, size
