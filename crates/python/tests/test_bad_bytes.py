"""Bytes and files that are no filters: only the stated errors."""

import errno
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import foreign

CLASSES = [
    tamis.BloomFilter,
    tamis.ScalableBloomFilter,
    tamis.CuckooFilter,
    tamis.RotatingBloomFilter,
    tamis.SavedFilter,
]
SAVED = [
    tamis.BloomFilter(100).to_bytes(),
    tamis.ScalableBloomFilter(100).to_bytes(),
    tamis.CuckooFilter(100).to_bytes(),
    tamis.CuckooFilter(10, max_capacity=1000).to_bytes(),
    tamis.RotatingBloomFilter(100).to_bytes(),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A saved filter with some bytes changed, removed or added; most often in its header."""
    saved = bytearray(draw(st.sampled_from(SAVED)))
    for _ in range(draw(st.integers(1, 4))):
        ends = st.sampled_from([0, len(saved)])
        place = draw(st.one_of(st.integers(0, 200), st.integers(0, len(saved)), ends))
        saved[place : place + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(saved)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=400), damaged()), st.sampled_from(CLASSES))
def test_any_bytes_are_a_filter_or_an_error(data: bytes, kind: type[tamis.BloomFilter]) -> None:
    try:
        seen = kind.from_bytes(data)
    except (tamis.FormatError, MemoryError):
        return
    # All bytes are those of the filter.
    assert len(seen.to_bytes()) == len(data)
    # What is changed may be the seed, or the padding.
    seen.update(["a"])
    assert "a" in seen


@pytest.mark.parametrize("kind", CLASSES)
def test_bytes_after_a_filter_are_an_error(kind: type[tamis.BloomFilter], tmp_path: Path) -> None:
    make = tamis.BloomFilter if kind is tamis.SavedFilter else kind
    data = make(100).to_bytes()
    from_bytes, arguments = kind.from_bytes(data).__reduce__()
    (tmp_path / "seen").write_bytes(data + data)
    for call in (
        lambda: kind.from_bytes(data + b"\0"),
        lambda: kind.from_bytes(data + data),
        lambda: kind.load(tmp_path / "seen"),
        lambda: pickle.loads(pickle.dumps(Pickled(from_bytes, (data + b"x", *arguments[1:])))),
    ):
        with pytest.raises(tamis.FormatError, match=f"ends after {len(data)}"):
            call()


class Pickled:
    """An object that is pickled as this call."""

    def __init__(self, function: object, arguments: tuple[object, ...]) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> object:
        return self.call


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(foreign.formats))
def test_any_bytes_are_a_foreign_filter_or_an_error(data: bytes, name: str) -> None:
    try:
        seen = foreign.read(data, name)
    except (tamis.FormatError, MemoryError):
        return
    for item in ("a", b"a", 7):
        try:
            assert (item in seen) in (True, False)
        except ValueError:
            pass
    assert 0 <= seen.rate() <= 1 and isinstance(seen.to_bytes(), bytes)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_saved_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for seen in (tamis.BloomFilter(10), tamis.CuckooFilter(10)):
        with pytest.raises(ValueError, match="file"):
            seen.save(tmp_path / "pipe")


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("text")
    for name in ("empty", "text"):
        for load in (tamis.open, tamis.BloomFilter.load, tamis.SharedBloomFilter):
            with pytest.raises(tamis.FormatError):
                load(tmp_path / name)
    for load in (tamis.open, tamis.BloomFilter.load, tamis.SharedBloomFilter):
        with pytest.raises(FileNotFoundError) as missing:
            load(tmp_path / "missing")
        assert missing.value.errno == errno.ENOENT
        assert missing.value.filename == str(tmp_path / "missing")
        with pytest.raises((OSError, ValueError)):
            load(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        tamis.BloomFilter(10).save(tmp_path / "missing" / "seen")
    assert missing.value.errno == errno.ENOENT
    with pytest.raises((OSError, ValueError)):
        tamis.BloomFilter(10).save(tmp_path)
    for wrong in (b"", bytearray(b"x"), memoryview(b"x"), "text", None):
        with pytest.raises((TypeError, tamis.FormatError)):
            tamis.BloomFilter.from_bytes(wrong)  # type: ignore[arg-type]


def test_a_format_must_be_known() -> None:
    with pytest.raises(ValueError, match="pybloom_live"):
        foreign.read(b"", "bitcoin")
