"""Real data that is present wherever Python and scikit-learn are: digits, and the standard library's own source.

Shapes: N images or symbols, S seeds, B samples of a batch, T positions, D pixels.
"""

from __future__ import annotations

import os
import random
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor

HELD_OUT_DIGITS = 500
HELD_OUT_SHARE = 0.1
HELD_OUT_PROSE = 0.2
SYMBOLS = 128
SHUFFLE_SEED = 0
"""Fixes the order of the source files, and so which of them are held out."""

LONGEST, SHORTEST = 512, 8
FULL_ROWS, MEDIAN_LENGTH, SPREAD_OF_LENGTHS = 0.235, 150, 0.8
"""The lengths of BERT's sequences at 512, in shape: nearly a quarter full, the others log-normal; half is padding."""

NOT_TEXT = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"})


@dataclass(frozen=True)
class Split:
    """Images as float32 (N, 64) and labels as int64 (N,), for training and held out."""

    train_x: Tensor
    train_y: Tensor
    test_x: Tensor
    test_y: Tensor


@dataclass(frozen=True)
class Bytes:
    """Text as uint8 symbols below 128, for training and held out."""

    train: Tensor
    test: Tensor

    def to(self, device: str) -> Bytes:
        return Bytes(self.train.to(device), self.test.to(device))


def digits(seed: int = 0, device: str = "cpu") -> Split:
    """scikit-learn's 1,797 images of 8 × 8 pixels, split into 1,297 for training and 500 held out.

    Pixels are divided by 16, centred per pixel and divided by the overall standard deviation of the training part.

    Args:
        seed: chooses the split; leave it alone unless the split itself is what varies.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(images))
    train, test = order[HELD_OUT_DIGITS:], order[:HELD_OUT_DIGITS]
    pixels = images / 16.0
    pixels = pixels - pixels[train].mean(axis=0)
    pixels = pixels / pixels[train].std()
    x = torch.tensor(pixels, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    return Split(x[train], y[train], x[test], y[test])


def library_files() -> list[Path]:
    """The standard library's own `.py` files, without tests and installed packages, sorted by their path."""
    root, found = Path(sysconfig.get_paths()["stdlib"]), []
    for folder, inner, names in os.walk(root):
        # Pruned on the way down: installed packages hold many times as many files.
        inner[:] = [name for name in inner if name not in NOT_TEXT]
        found += [Path(folder, name).relative_to(root) for name in names if name.endswith(".py")]
    return [root / path for path in sorted(found, key=Path.as_posix)]


@cache
def library_bytes(size: int = 2_000_000) -> Bytes:
    """`size` bytes of Python source as symbols 0..127 (bytes above become 127); the last tenth is held out.

    The text differs a little between Python versions: bounds on losses do not carry over, paired gaps do.

    Raises:
        ValueError: the standard library of this Python holds fewer bytes.
    """
    files = library_files()
    random.Random(SHUFFLE_SEED).shuffle(files)
    text = bytearray()
    for path in files:
        if len(text) >= size:
            break
        # pydoc_data is English in the form of source: a domain of its own, see library_prose.
        text += b"" if "pydoc_data" in path.parts else path.read_bytes()
    if len(text) < size:
        raise ValueError(f"the standard library holds {len(text):,} bytes of source; {size:,} were asked for")
    return _hold_out(text[:size], HELD_OUT_SHARE)


@cache
def library_prose() -> Bytes:
    """English that ships with Python, the reference text inside `pydoc_data.topics`; the last fifth is held out.

    None of it is in `library_bytes`: the new domain for fine-tuning.
    """
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    return _hold_out(bytearray(text.encode()), HELD_OUT_PROSE)


def _hold_out(text: bytearray, share: float) -> Bytes:
    symbols = torch.frombuffer(text, dtype=torch.uint8).clamp(max=SYMBOLS - 1)
    first = len(symbols) - round(len(symbols) * share)
    return Bytes(symbols[:first], symbols[first:])


def windows(symbols_N: Tensor, starts_B: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Inputs and next symbols, both int64 (B, T), for windows of `length` that begin at `starts_B`."""
    offsets = torch.arange(length + 1, device=starts_B.device)
    rows = symbols_N[starts_B[:, None] + offsets].long()
    return rows[:, :-1], rows[:, 1:]


def batches(symbols_N: Tensor, *, batch: int, length: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches of windows at random places. Equal seeds give equal batches, so that arms are paired.

    Places are drawn on the CPU: a GPU then sees the same batches.
    """
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(symbols_N) - length, (batch,), generator=generator)
        yield windows(symbols_N, starts.to(symbols_N.device), length)


def held_out(symbols_N: Tensor, *, count: int, length: int) -> tuple[Tensor, Tensor]:
    """`count` windows spread evenly over the text: the same for every arm and seed. Shapes as `windows`."""
    starts = torch.linspace(0, len(symbols_N) - length - 1, count, dtype=torch.float64).long()
    return windows(symbols_N, starts.to(symbols_N.device), length)


def draws(size: int, *, batch: int, seeds: Sequence[int], device: str = "cpu") -> Iterator[Tensor]:
    """Endless sample indices (S, B), drawn with replacement; row s depends on `seeds[s]` alone."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    while True:
        rows = [torch.randint(size, (batch,), generator=generator) for generator in generators]
        yield torch.stack(rows).to(device)


def epochs(size: int, *, batch: int, seeds: Sequence[int], device: str = "cpu") -> Iterator[Tensor]:
    """Endless sample indices (S, B) without replacement within an epoch; a last partial batch is left out."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    while True:
        orders = torch.stack([torch.randperm(size, generator=generator) for generator in generators]).to(device)
        for first in range(0, size - batch + 1, batch):
            yield orders[:, first : first + batch]


def wikipedia_lengths(quantiles: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sequence lengths like those of BERT's Wikipedia at 512, in tokens, at quantiles between 0 and 1.

    Synthetic: for what depends on lengths alone. Uniform random quantiles draw from the law, even ones spread over it.
    """
    short = MEDIAN_LENGTH * np.exp(SPREAD_OF_LENGTHS * ndtri(np.minimum(quantiles / (1 - FULL_ROWS), 1.0)))
    lengths: NDArray[np.int64] = np.clip(short, SHORTEST, LONGEST).round().astype(np.int64)
    return lengths
