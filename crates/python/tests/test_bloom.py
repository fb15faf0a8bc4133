"""`BloomFilter`: the names of `set`, saving, unions, and what is an error."""

import pytest

import tamis


def test_add_returns_true_once() -> None:
    seen = tamis.BloomFilter(1000, 1e-9)
    assert [seen.add(item) for item in ["a", b"b", 3, "a", b"b", 3]] == [True] * 3 + [False] * 3
    assert "a" in seen and b"b" in seen and 3 in seen and "c" not in seen


def test_update_takes_iterables_and_returns_how_many_were_new() -> None:
    seen = tamis.BloomFilter(10_000, 1e-9)
    assert seen.update(range(10_000), [1, 2, 3]) == 10_000
    assert seen.update() == 0
    for single in ("text", b"bytes", bytearray(b"bytes")):
        with pytest.raises(TypeError, match="is one item"):
            seen.update(single)


def test_a_union_of_unlike_seeds_names_the_argument() -> None:
    one, other = tamis.BloomFilter(100, seed=1), tamis.BloomFilter(100, seed=2)
    with pytest.raises(ValueError, match="seed="):
        one | other
