"""`BloomFilter`: the names of `set`, saving, unions, and what is an error."""

import pickle

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
    same = tamis.BloomFilter(100, seed=1)
    one.add("a")
    same.add("b")
    both = one | same
    assert "a" in both and "b" in both and "b" not in one
    one |= same
    assert "b" in one


def test_a_pickle_and_bytes_and_a_file_have_the_same_answers(tmp_path) -> None:
    seen = tamis.BloomFilter(1000)
    seen.update(range(1000))
    seen.save(tmp_path / "seen")
    answers = seen.contains_many(range(20_000)).tolist()
    for again in (
        pickle.loads(pickle.dumps(seen)),
        tamis.BloomFilter.from_bytes(seen.to_bytes()),
        tamis.BloomFilter.load(tmp_path / "seen"),
        seen.copy(),
    ):
        assert again.contains_many(range(20_000)).tolist() == answers
    assert any(answers[1000:]), "no false positive among 19,000 queries at 1 %"
