"""The cases of the tests of rbloom and abloom, written anew, as far as the interfaces agree.

What differs here:

* There is no `hash_func`: items are str, bytes or int, and `key=` makes one of any other object.
  `key` must be given to `load`, too, but never to save: every filter can be saved.
* `add` returns whether the item is new, and `update` how many were (rbloom: None).
* `update` takes no filter: a union is `|=` (rbloom takes both). A bare str or bytes is an error.
* There are no `&`, `&=`, `<`, `<=`, `==`, `issubset`, `intersection`: of these, the answers for
  filters are those of their bits, not of their items. `to_bytes` can be compared.
* `approx_items` is `approx_len()`, since it scans the filter; `size_in_bits` is
  `8 * sys.getsizeof(seen)`, about; `save_bytes` and `load_bytes` are `to_bytes` and `from_bytes`.
* `bool(seen)` is True always; `len(seen)` does not exist.
* A float, a tuple or None is an error instead of the item of its `hash()`, which differs from
  process to process for a tuple of strings.
"""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis

ITEMS: list[str | bytes | int] = ["a", "", "é" * 100, b"a" * 1000, b"\0", 0, -1, 2**40, 2**100]


def test_circumvented_lookups_and_basic_use() -> None:
    seen = tamis.BloomFilter(1000, 0.0001)
    for number, item in enumerate(ITEMS):
        assert item not in seen
        seen.add(item)
        assert item in seen
        assert abs(seen.approx_len() - number - 1) <= 1
    assert all(item in seen for item in ITEMS)


def test_sizes_and_rates() -> None:
    small, large = tamis.BloomFilter(1000, 0.1), tamis.BloomFilter(10_000, 0.1)
    precise = tamis.BloomFilter(1000, 0.0001)
    sizes = [sys.getsizeof(seen) for seen in (small, large, precise)]
    assert sizes[0] < sizes[1] and sizes[0] < sizes[2]
    assert small.capacity == 1000 and 0.05 < small.rate <= 0.1
    for rate in (0.1, 0.01, 0.001):
        seen = tamis.BloomFilter(50_000, rate)
        seen.update(range(50_000))
        false = sum(seen.contains_many(range(50_000, 1_050_000)))
        # 10^6 queries: 10 standard deviations are at most 3 % at 0.1 and 32 % at 0.001.
        assert false / 1e6 < rate * (1.03 if rate == 0.1 else 1.1 if rate == 0.01 else 1.32)
        assert seen.figures().rate == pytest.approx(false / 1e6, rel=0.4)


def test_constructors_refuse_bad_arguments() -> None:
    for arguments in ((1000, -0.1), (1000, 0.0), (1000, 1.0), (1000, 1.1), (-1, 0.1)):
        with pytest.raises(ValueError):
            tamis.BloomFilter(*arguments)
    for wrong in (("1000", 0.1), (1000, "0.1"), (1000.5, 0.1), (None, 0.1)):
        with pytest.raises(TypeError):
            tamis.BloomFilter(*wrong)  # type: ignore[arg-type]


def test_update_of_lists_generators_sets_and_dicts() -> None:
    def generator() -> Iterator[int]:
        yield from range(100, 200)

    seen = tamis.BloomFilter(10_000, 1e-9)
    assert seen.update([1, 2, 3], (4, 5), {6, 7}, frozenset([8]), {9: "value"}) == 9
    assert seen.update(generator(), map(str, range(10)), iter([b"a"])) == 111
    for item in (1, 5, 7, 8, 9, 150, "7", b"a"):
        assert item in seen
    assert "value" not in seen
    assert seen.update() == 0
    with pytest.raises(TypeError):
        seen.update(5)  # type: ignore[arg-type]
    for single in ("text", b"bytes", bytearray(b"bytes")):
        with pytest.raises(TypeError, match="is one item"):
            seen.update(single)

    def broken() -> Iterator[int]:
        yield 1000
        raise RuntimeError("in the generator")

    with pytest.raises(RuntimeError, match="in the generator"):
        seen.update(broken())
    assert 1000 in seen


def test_unions() -> None:
    one, other = tamis.BloomFilter(1000, 0.001), tamis.BloomFilter(1000, 0.001)
    one.update(range(100))
    other.update(range(100, 200))
    both = one | other
    assert all(both.contains_many(range(200)))
    before = one.to_bytes()
    assert (one | one).to_bytes() == before
    one |= other
    assert one.to_bytes() == both.to_bytes()
    assert (both | other).to_bytes() == both.to_bytes()
    for unlike in (tamis.BloomFilter(1001, 0.0001), tamis.BloomFilter(99, 0.001)):
        with pytest.raises(ValueError, match="size"):
            both | unlike
    with pytest.raises(ValueError, match="seed="):
        both | tamis.BloomFilter(1000, 0.001, seed=1)
    with pytest.raises(TypeError):
        both | {1}  # type: ignore[operator]
    with pytest.raises(TypeError):
        both |= [1]  # type: ignore[arg-type]


def test_copies_are_independent() -> None:
    one = tamis.BloomFilter(1000, 1e-9)
    one.add("a")
    other = one.copy()
    assert other.to_bytes() == one.to_bytes()
    other.add("b")
    assert "b" not in one
    one.clear()
    assert "a" in other and "a" not in one and one.approx_len() == 0


def test_saved_filters(tmp_path: Path) -> None:
    seen = tamis.BloomFilter(10_000, 0.01)
    seen.update(map(str, range(10_000)))
    seen.save(str(tmp_path / "seen"))
    # A second save replaces the file.
    seen.save(tmp_path / "seen")
    for again in (
        tamis.BloomFilter.load(str(tmp_path / "seen")),
        tamis.BloomFilter.from_bytes(seen.to_bytes()),
        pickle.loads(pickle.dumps(seen, protocol=2)),
    ):
        assert again.to_bytes() == seen.to_bytes()
        assert (again | seen).to_bytes() == seen.to_bytes()
        assert again.capacity == seen.capacity and again.rate == seen.rate


def test_one_item_a_thousand_times_is_one_item() -> None:
    seen = tamis.BloomFilter(1000, 0.01)
    assert seen.update(["a"] * 1000) == 1
    assert round(seen.figures().items) == 1
