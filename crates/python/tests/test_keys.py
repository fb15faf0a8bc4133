"""Items: which are equal, which are refused, and that a key function stands before all."""

import decimal
import gc
import operator
import weakref

import numpy
import pytest

import tamis


class Text(str):
    def __hash__(self) -> int:
        raise AssertionError("a filter does not use hash()")


class Index:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("added", "equal"),
    [
        ("é", "é".encode()),
        ("a", Text("a")),
        (7, Index()),
        (7, numpy.uint8(7)),
        (1, True),
        (1, numpy.True_),
        (0, numpy.bool(False)),
        (-1, numpy.int16(-1)),
        (7, (7).to_bytes(8, "little")),
        (-2, (-2).to_bytes(8, "little", signed=True)),
        (2**63, (2**63).to_bytes(16, "little")),
        (-(2**127), (-(2**127)).to_bytes(16, "little", signed=True)),
        (2**64 - 1, numpy.uint64(2**64 - 1)),
    ],
)
def test_equal_items(added: object, equal: object) -> None:
    seen = tamis.BloomFilter(1000, 1e-12)
    assert seen.add(added)
    assert equal in seen and not seen.add(equal)
    assert seen.contains_many([equal]).tolist() == [True]


@pytest.mark.parametrize("item", ["7", 7.0, "a\0", b"a\0", (2**63).to_bytes(8, "little"), 2**64 + 7])
def test_unequal_items(item: object) -> None:
    seen = tamis.BloomFilter(1000, 1e-12)
    seen.update([7, "a", 2**63])
    assert isinstance(item, float) or item not in seen


@pytest.mark.parametrize("item", [None, 1.5, (1, 2), bytearray(b"a"), memoryview(b"a"), object()])
def test_other_objects_are_type_errors(item: object) -> None:
    seen = tamis.BloomFilter(1000)
    for call in (seen.add, seen.__contains__, lambda item: seen.update([item])):
        with pytest.raises(TypeError, match="key="):
            call(item)


def test_the_message_names_the_module_of_the_type() -> None:
    items: list[object] = [decimal.Decimal(1), numpy.float32(1), 1.5, None]
    for item, name in zip(items, ("decimal.Decimal", "numpy.float32", "float", "NoneType")):
        with pytest.raises(TypeError, match=f"not {name};"):
            tamis.BloomFilter(100).add(item)


def test_only_the_class_gives_an_index() -> None:
    class Plain:
        pass

    plain = Plain()
    plain.__index__ = lambda: 7  # type: ignore[attr-defined]
    for item in (plain, Index, numpy.array([7]), numpy.float64(7)):
        for call in (operator.index, tamis.BloomFilter(100).add):
            with pytest.raises(TypeError):
                call(item)  # type: ignore[operator]


@pytest.mark.parametrize("item", [2**127, -(2**127) - 1, 10**100, "\ud800", "a\udfffb"])
def test_values_out_of_range_are_value_errors(item: object) -> None:
    seen = tamis.BloomFilter(1000)
    for call in (seen.add, seen.__contains__, lambda item: seen.contains_many([item])):
        with pytest.raises(ValueError):
            call(item)


def test_items_before_a_bad_one_are_added() -> None:
    seen = tamis.BloomFilter(10_000, 1e-9)
    with pytest.raises(TypeError):
        seen.update([*range(5000), None, -1])
    assert all(seen.contains_many(range(5000))) and -1 not in seen


def test_a_key_function_gives_the_item() -> None:
    seen = tamis.BloomFilter(1000, 1e-12, key=lambda pair: pair[0])
    assert seen.update([("a", 1), ("a", 2), ("b", 1)]) == 2
    assert ("a", 7) in seen and ("c", 1) not in seen
    # The function gets the elements of an array, too.
    plus = tamis.BloomFilter(1000, 1e-12, key=lambda number: int(number) + 1)
    plus.update(numpy.arange(3))
    assert 2 in plus and 3 not in plus
    with pytest.raises(ZeroDivisionError):
        tamis.BloomFilter(10, key=lambda _: 1 // 0).add(1)


def test_a_cycle_through_the_key_function_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.seen = tamis.BloomFilter(10, key=self.key)

        def key(self, item: int) -> int:
            return item

    owner = weakref.ref(Owner())
    gc.collect()
    assert owner() is None


@pytest.mark.parametrize("seed", [-1, 2**64, "other", 1.5, None.__class__])
def test_bad_seeds_are_value_errors(seed: object) -> None:
    with pytest.raises(ValueError, match="seed"):
        tamis.BloomFilter(10, seed=seed)


def test_a_random_seed_differs_and_is_saved() -> None:
    one, other = tamis.BloomFilter(1000, seed="random"), tamis.BloomFilter(1000, seed="random")
    for seen in (one, other):
        seen.update(range(1000))
    assert one.to_bytes() != other.to_bytes()
    again = tamis.BloomFilter.from_bytes(one.to_bytes())
    assert again.contains_many(range(9999)) == one.contains_many(range(9999))
    assert "random" not in repr(one)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0, 2.0, float("nan"), 1e-300])
def test_bad_rates_are_value_errors(rate: float) -> None:
    for make in (tamis.BloomFilter, tamis.CuckooFilter, tamis.ScalableBloomFilter):
        with pytest.raises(ValueError):
            make(1000, rate)


@pytest.mark.parametrize("capacity", [-1, 2**64, 10**30])
def test_bad_capacities_are_value_errors(capacity: int) -> None:
    with pytest.raises(ValueError):
        tamis.BloomFilter(capacity)


def test_too_much_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        tamis.BloomFilter(2**50)


def test_a_capacity_of_0_is_a_small_filter() -> None:
    seen = tamis.BloomFilter(0)
    assert seen.add("a") and "a" in seen
