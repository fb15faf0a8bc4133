"""Filters of other packages, read here with the same answers."""

import decimal
import os
import pickle
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import pybloom_live
import pytest
import rbloom

import tamis
from tamis import foreign


def digest(item: object) -> int:
    """The hash function that rbloom's page shows."""
    return int.from_bytes(sha256(pickle.dumps(item)).digest()[:16], "big", signed=True)


def test_rbloom_with_the_hash_function_that_it_was_given(tmp_path: Path) -> None:
    theirs = rbloom.Bloom(1000, 0.01, digest)
    theirs.update(range(1000))
    theirs.save(str(tmp_path / "seen"))
    ours = foreign.read(tmp_path / "seen", "rbloom", key=digest)
    assert ours.contains_many(range(20_000)).tolist() == [item in theirs for item in range(20_000)]
    assert ours.to_bytes() == (tmp_path / "seen").read_bytes() == theirs.save_bytes()
    assert ours.format == "rbloom" and 0.005 < ours.rate() < 0.02
    assert foreign.read(theirs.save_bytes(), "rbloom", key=digest).parameters == ours.parameters


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: pybloom_live.BloomFilter(1000, 0.01), "pybloom_live:bloom"),
        (lambda: pybloom_live.ScalableBloomFilter(100, 0.01), "pybloom_live:scalable"),
    ],
)
def test_pybloom_live(
    make: Callable[[], pybloom_live.BloomFilter], name: str, tmp_path: Path
) -> None:
    theirs = make()
    for item in range(900):
        # The opposite of `add` here: False for a new item.
        theirs.add(f"item {item}")
    with open(tmp_path / "seen", "wb") as file:
        theirs.tofile(file)
    ours = foreign.read(tmp_path / "seen", "pybloom_live")
    assert ours.format == name
    items = [f"item {item}" for item in range(20_000)]
    assert ours.contains_many(items).tolist() == [item in theirs for item in items]


def test_a_column_of_a_parquet_file_knows_its_ints(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    small = pyarrow.array(range(-100, 100), pyarrow.int32())
    table = pyarrow.table({"small": small, "large": small.cast(pyarrow.int64())})
    options = {name: {"ndv": 200, "fpp": 1e-6} for name in table.column_names}
    pyarrow.parquet.write_table(table, path, bloom_filter_options=options)
    for name in table.column_names:
        ours = foreign.read(path, "parquet", column=name)
        assert all(ours.contains_many(range(-100, 100))) and not any(
            ours.contains_many(range(1000, 1100))
        )
    with pytest.raises(ValueError):
        2**40 in foreign.read(path, "parquet", column="small")  # noqa: B015


def test_only_a_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(tamis.FormatError, match="not a file"):
            foreign.read(path, "guava")
    with pytest.raises(FileNotFoundError) as missing:
        foreign.read(tmp_path / "missing", "guava")
    assert missing.value.filename == str(tmp_path / "missing")


def test_a_foreign_filter_refuses_other_items() -> None:
    ours = foreign.read(rbloom.Bloom(100, 0.01, digest).save_bytes(), "rbloom")
    for item in (None, 1.5):
        with pytest.raises(TypeError):
            item in ours  # noqa: B015
    with pytest.raises(ValueError):
        2**200 in ours  # noqa: B015
    for item in ("text", b"text", bytearray(b"text")):
        with pytest.raises(TypeError, match="is one item"):
            ours.contains_many(item)
    assert isinstance(ours, tamis.ForeignFilter)


def test_a_foreign_filter_has_the_ints_of_the_other_classes() -> None:
    theirs = rbloom.Bloom(100, 0.01, lambda number: number)
    for number in (1, 7, 0):
        theirs.add(number)
    ours = foreign.read(theirs.save_bytes(), "rbloom")

    class Index:
        def __index__(self) -> int:
            return 7

    items = [numpy.int64(1), Index(), True, numpy.True_, numpy.bool(False), numpy.uint8(7)]
    assert all(item in ours for item in items) and all(ours.contains_many(items))
    assert ours.contains_many(numpy.array([1, 7])).tolist() == [True, True]
    with pytest.raises(TypeError, match="not decimal.Decimal"):
        decimal.Decimal(1) in ours  # noqa: B015
