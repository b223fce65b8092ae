"""The data that experiments train on: what it is, what is held out, and that equal seeds give equal batches."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from evidence.lab.data import (
    batches,
    digits,
    draws,
    epochs,
    held_out,
    library_bytes,
    library_files,
    library_prose,
    wikipedia_lengths,
)


def test_digits_are_scaled_by_their_training_part_and_split_for_good() -> None:
    split = digits()
    assert split.train_x.shape == (1297, 64) and split.test_x.shape == (500, 64)
    assert split.train_x.dtype == torch.float32 and set(split.train_y.tolist()) == set(range(10))
    assert split.train_x.mean(0).abs().max() < 1e-5
    assert float(split.train_x.std(correction=0)) == pytest.approx(1.0, abs=1e-4)
    assert torch.equal(split.test_x, digits().test_x) and not torch.equal(split.test_x, digits(seed=1).test_x)


def test_no_digit_is_both_trained_on_and_held_out() -> None:
    split = digits()
    # The data set itself holds no image twice, so rows can stand for images.
    assert len(torch.unique(torch.cat([split.train_x, split.test_x]), dim=0)) == 1797


def test_the_text_is_pythons_own_source_without_tests_and_installed_packages() -> None:
    files = library_files()
    assert Path(pytest.__file__) not in files and len(files) > 300
    assert not [path for path in files if "test" in path.parts or "site-packages" in path.parts]
    assert [path.name for path in files].count("textwrap.py") == 1


def test_bytes_are_symbols_below_128_and_the_last_tenth_is_held_out() -> None:
    text = library_bytes(100_000)
    assert (len(text.train), len(text.test)) == (90_000, 10_000)
    assert text.train.dtype == torch.uint8 and int(text.train.max()) <= 127
    assert b"import" in bytes(text.train.tolist())
    assert library_bytes(100_000) is text, "read once a process"
    # A longer text begins like the shorter one, so that sizes can be compared.
    assert torch.equal(library_bytes(200_000).train[:90_000], text.train)


def test_more_text_than_there_is_is_refused() -> None:
    with pytest.raises(ValueError, match="asked for"):
        library_bytes(10**9)


def test_prose_is_a_domain_of_its_own() -> None:
    prose = library_prose()
    assert len(prose.train) > 100_000 and len(prose.test) == pytest.approx(len(prose.train) / 4, abs=1)
    sentence = bytes(prose.train[50_000:50_080].tolist())
    assert sentence not in bytes(library_bytes(4_000_000).train.tolist())


def test_equal_seeds_pair_batches_and_targets_are_the_next_symbols() -> None:
    text = library_bytes(100_000).train
    first, again, other = (list(islice(batches(text, batch=4, length=8, seed=seed), 3)) for seed in (5, 5, 6))
    assert all(torch.equal(a[0], b[0]) and torch.equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0][0], other[0][0]) and not torch.equal(first[0][0], first[1][0])
    x, y = first[0]
    assert x.shape == y.shape == (4, 8) and torch.equal(x[:, 1:], y[:, :-1]) and x.dtype == torch.int64


def test_held_out_windows_cover_the_text_evenly_to_its_end() -> None:
    text = torch.arange(101, dtype=torch.uint8)
    x, y = held_out(text, count=3, length=10)
    assert x[:, 0].tolist() == [0, 45, 90] and int(y[-1, -1]) == 100


def test_rows_of_indices_depend_on_their_seed_alone() -> None:
    one = list(islice(draws(100, batch=5, seeds=[3]), 4))
    three = list(islice(draws(100, batch=5, seeds=[1, 3, 2]), 4))
    assert all(torch.equal(a[0], b[1]) for a, b in zip(one, three, strict=True))
    assert three[0].shape == (3, 5) and not torch.equal(three[0][0], three[0][1])


def test_an_epoch_takes_every_sample_once_and_drops_the_rest() -> None:
    rows = list(islice(epochs(10, batch=3, seeds=[0, 1]), 6))
    for epoch in (rows[:3], rows[3:]):
        seen = torch.cat(epoch, dim=1)
        assert all(len(set(row.tolist())) == 9 for row in seen)
    assert not torch.equal(torch.cat(rows[:3], 1), torch.cat(rows[3:], 1))


def test_lengths_like_wikipedias_leave_half_of_a_padded_batch_empty() -> None:
    lengths = wikipedia_lengths(np.random.default_rng(0).random(20_000))
    assert lengths.min() >= 8 and lengths.max() == 512
    assert 0.45 < 1 - lengths.mean() / 512 < 0.52
    assert 0.23 < (lengths == 512).mean() < 0.30  # the log-normal part reaches the limit now and then
    assert list(wikipedia_lengths(np.array([0.0, 1.0]))) == [8, 512]
