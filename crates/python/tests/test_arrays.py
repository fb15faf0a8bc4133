"""Arrays and columns: they have the answers of their elements, and no interpreter lock."""

import array
import ctypes
import mmap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy
import polars
import pyarrow
import pytest

import tamis

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool"]


def numbers(dtype: str) -> numpy.ndarray:
    """The values of a type: its limits, and some around 0."""
    if dtype == "bool":
        return numpy.array([True, False])
    limits = numpy.iinfo(dtype)
    values = {limits.min, limits.min // 2, 0, 1, 77, limits.max // 2 + 1, limits.max}
    return numpy.array(sorted(values), dtype)


def assert_same(items: object, elements: Sequence[object]) -> None:
    """Adding `items` is adding `elements`, one after another, in all bulk methods."""
    by_array, by_element = (tamis.BloomFilter(10_000, 1e-6) for _ in range(2))
    new = [by_element.add(element) for element in elements]
    assert by_array.add_many(items).tolist() == new
    assert by_array.to_bytes() == by_element.to_bytes()
    assert all(by_array.contains_many(items).tolist())
    assert by_array.update(items) == 0
    assert by_array.contains_many(items).nbytes == len(elements)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("order", ["<", ">"])
def test_arrays_of_numpy(dtype: str, order: str) -> None:
    values = numbers(dtype)
    swapped = values.astype(values.dtype.newbyteorder(order))
    elements = [int(value) for value in values]
    for items in (swapped, swapped[::-1].copy()[::-1], memoryview(swapped)):
        assert_same(items, elements)
    assert_same(numpy.repeat(swapped, 2)[::2], elements)
    assert_same(swapped[:0], [])


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_arrays_of_the_standard_library(code: str) -> None:
    assert_same(array.array(code, [0, 1, 77]), [0, 1, 77])


def test_long_arrays_are_added_in_order() -> None:
    values = numpy.random.default_rng(1).integers(0, 200_000, 700_001)
    assert_same(values, values.tolist())
    assert_same(pyarrow.array(values), values.tolist())


def test_fixed_width_bytes_lose_trailing_nulls_as_in_numpy() -> None:
    items = numpy.array([b"a", b"bb\0", b"\0c", b""])
    assert_same(items, [bytes(item) for item in items])
    assert bytes(items[1]) == b"bb"
    assert_same(numpy.array(["a", "é", "𝄞"]), ["a", "é", "𝄞"])


def test_a_result_is_an_array_without_a_copy() -> None:
    seen = tamis.BloomFilter(100, 1e-9)
    seen.add(1)
    result = seen.contains_many([1, 2])
    as_array = numpy.asarray(result)
    assert as_array.dtype == bool and as_array.tolist() == [True, False]
    assert numpy.shares_memory(as_array, numpy.asarray(result))


def test_buffers_whose_elements_differ_are_iterated(tmp_path: Path) -> None:
    # This class strips white space on access.
    items = numpy.char.array([b"a  ", b"b"])
    assert_same(items, list(items))
    assert_same(items[:1], [b"a"])

    class Doubled(numpy.ndarray):
        def __iter__(self) -> Iterator[int]:
            return (2 * int(number) for number in memoryview(self))

    assert_same(numpy.arange(3, 9).view(Doubled), [6, 8, 10, 12, 14, 16])
    (tmp_path / "bytes").write_bytes(b"aab\0")
    with (
        open(tmp_path / "bytes", "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert_same(mapped, list(mapped))
        assert_same(memoryview(mapped), list(b"aab\0"))


def test_each_bool_but_0_is_true() -> None:
    items = numpy.array([0, 1, 2, 255, 0], numpy.uint8).view(bool)
    for bools in (items, numpy.repeat(items, 2)[::2], items[::-1][::-1].copy()):
        assert_same(bools, [False, True, True, True, False])
    assert_same(memoryview(bytes(items)).cast("?"), [False, True, True, True, False])


def test_subclasses_of_arrays_and_buffers_of_the_system() -> None:
    items = [3, 1, 2, 1]
    mapped = numpy.zeros(4, numpy.int64).view(numpy.memmap)
    mapped[:] = items
    record = numpy.rec.array([(3,), (1,)], dtype=[("a", "i8")])
    numbers = (ctypes.c_int64 * 4)(*items)
    for column in (mapped, array.array("q", items), numbers, memoryview(numbers)):
        assert_same(column, items)
    assert_same(record["a"], items[:2])


STRINGS = ["", "a", "é", "x" * 100, "a\0b"]
STRING_COLUMNS: list[Callable[[list[str]], object]] = [
    pyarrow.array,
    lambda items: pyarrow.array(items, pyarrow.large_string()),
    lambda items: pyarrow.array(items, pyarrow.string_view()),
    lambda items: pyarrow.array(items, pyarrow.binary()),
    lambda items: pyarrow.array(items, pyarrow.large_binary()),
    lambda items: pyarrow.array(items, pyarrow.binary_view()),
    lambda items: pyarrow.array(items).dictionary_encode(),
    lambda items: pyarrow.array(["skipped", *items])[1:],
    lambda items: pyarrow.chunked_array([items[:2], [], items[2:]]),
    lambda items: pyarrow.table({"url": items}),
    lambda items: pyarrow.record_batch({"url": items}),
    lambda items: pyarrow.table({"url": items}).to_reader(),
    polars.Series,
    lambda items: polars.Series(items, dtype=polars.Categorical),
    lambda items: polars.DataFrame({"url": items}),
]


@pytest.mark.parametrize("column", STRING_COLUMNS)
def test_columns_of_strings(column: Callable[[list[str]], object]) -> None:
    by_column, by_element = (tamis.BloomFilter(1000, 1e-6) for _ in range(2))
    assert by_column.add_many(column(STRINGS)).tolist() == [True] * len(STRINGS)
    by_element.update(STRINGS)
    assert by_column.to_bytes() == by_element.to_bytes()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_columns_of_integers(dtype: str) -> None:
    values = numbers(dtype)
    elements = [int(value) for value in values]
    assert_same(pyarrow.array(values), elements)
    assert_same(polars.Series(values), elements)


def test_fixed_size_binary_keeps_its_nulls() -> None:
    items = pyarrow.array([b"a\0", b"\0\0"], pyarrow.binary(2))
    assert_same(items, [b"a\0", b"\0\0"])


def dictionary(rows: list[int], values: list[object]) -> pyarrow.DictionaryArray:
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(rows, pyarrow.int32()), values)


@pytest.mark.parametrize("values", [[None, "a", "b"], [None, 5, 6], [None, b"a", b"b"]])
def test_a_dictionary_may_have_a_null_that_no_row_has(values: list[object]) -> None:
    seen = tamis.BloomFilter(100, 1e-9)
    assert seen.update(dictionary([1, 1, 2, 1], values)) == 2
    assert all(value in seen for value in values[1:]) and seen.approx_len() == 2
    assert seen.contains_many(dictionary([2, 1], values)).tolist() == [True, True]


@pytest.mark.parametrize("dtype", [polars.Int128, polars.UInt128])
def test_integers_of_polars_with_128_bits(dtype: type[polars.DataType]) -> None:
    values = [0, 77, 2**63, 2**126]
    assert_same(polars.Series(values, dtype=dtype), values)
    assert_same(polars.Series([], dtype=dtype), [])


def test_a_table_of_one_column_is_that_column() -> None:
    values = [0, 77, 2**126]
    assert_same(polars.DataFrame({"a": polars.Series(values, dtype=polars.Int128)}), values)
    assert_same(pyarrow.record_batch({"a": ["x", "y"]}), ["x", "y"])

    class Frame:
        """As one of pandas with an index, which its Arrow has as a further column."""

        __module__ = "pandas"
        columns = ("a",)

        def __getitem__(self, name: str) -> list[str]:
            return {"a": ["x", "y"]}[name]

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pyarrow.table({"a": ["x", "y"], "index": [7, 8]}).__arrow_c_stream__()

    assert_same(Frame(), ["x", "y"])
    Frame.columns = ()
    with pytest.raises(ValueError, match="a table of 0 columns"):
        tamis.BloomFilter(100).update(Frame())


def test_objects_of_pandas_may_have_several_types() -> None:
    class Series(list[object]):
        __module__ = "pandas"
        dtype = numpy.dtype(object)

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise pyarrow.ArrowTypeError("Expected bytes, got a 'int' object")

    assert_same(Series(["a", 1, 2**64]), ["a", 1, 2**64])


def test_nulls_of_polars_are_no_items() -> None:
    seen = tamis.BloomFilter(100)
    assert seen.update(polars.Series([], dtype=polars.Null)) == 0
    with pytest.raises(TypeError, match="not NoneType"):
        seen.update(polars.Series([None], dtype=polars.Null))


def test_objects_of_polars_are_no_addresses() -> None:
    seen = tamis.BloomFilter(100, 1e-9)
    assert seen.update(polars.Series(["a", 7], dtype=polars.Object)) == 2
    assert "a" in seen and 7 in seen


@pytest.mark.parametrize(
    "items",
    [
        pyarrow.array(["a", None]),
        dictionary([0, 1], [None, "a"]),
        pyarrow.nulls(3),
        pyarrow.array([None, "a"]).dictionary_encode(),
        polars.Series([1, None]),
        pyarrow.table({"a": [1, 2], "b": [3, 4]}),
        numpy.zeros((2, 2), int),
        numpy.array(7),
    ],
)
def test_nulls_tables_and_dimensions_are_value_errors(items: object) -> None:
    seen = tamis.BloomFilter(100)
    with pytest.raises(ValueError):
        seen.update(items)
    assert seen.approx_len() == 0


@pytest.mark.parametrize(
    "items",
    [
        numpy.array([1.5]),
        numpy.array(["2020-01-01"], "M8[D]"),
        numpy.array([None, "a"]),
        numpy.ma.array([1, 2, 3], mask=[True, False, False]),
        pyarrow.array([1.5]),
        pyarrow.array([[1], [2]]),
        # The storage of an extension type, and a part of a struct, are other items.
        pyarrow.ExtensionArray.from_storage(pyarrow.bool8(), pyarrow.array([2], pyarrow.int8())),
        pyarrow.array([bytes(16)], pyarrow.uuid()),
        pyarrow.table({"a": pyarrow.array([bytes(16)], pyarrow.uuid())}),
        pyarrow.array([{"a": "x"}]),
        polars.Series([{"a": "x"}]),
        numpy.int64(7),
        7,
        None,
    ],
)
def test_other_arrays_are_type_errors(items: object) -> None:
    with pytest.raises(TypeError):
        tamis.BloomFilter(100).update(items)


class Capsules:
    """An array of Arrow that returns these capsules each time."""

    def __init__(self, capsules: object) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


def test_with_a_function_elements_are_python_objects() -> None:
    seen = tamis.BloomFilter(1000, 1e-9, key=str)
    urls = ["a", "b"]
    for items in [pyarrow.array(urls), pyarrow.chunked_array([urls]), pyarrow.table({"url": urls})]:
        with pytest.raises(TypeError, match="to_pylist"):
            seen.update(items)
    with pytest.raises(ValueError, match="one dimension"):
        seen.update(numpy.zeros((3, 4), int))
    assert seen.approx_len() == 0
    assert seen.update(urls, polars.Series(["b", "c"])) == 3 and "c" in seen


def test_a_capsule_that_was_taken_is_an_error() -> None:
    once = Capsules(pyarrow.array(["a"]).__arrow_c_array__())
    seen = tamis.BloomFilter(100)
    assert seen.update(once) == 1
    with pytest.raises(ValueError, match="taken"):
        seen.update(once)


def test_an_array_that_lies_is_an_error() -> None:
    for capsules in (None, (), (1, 2), pyarrow.array([1]).__arrow_c_array__()[::-1]):
        with pytest.raises((TypeError, ValueError)):
            tamis.BloomFilter(100).update(Capsules(capsules))


def test_an_error_of_a_stream_is_an_error() -> None:
    def batches() -> object:
        yield pyarrow.record_batch({"a": [1, 2]})
        raise OSError("the disk is gone")

    schema = pyarrow.schema({"a": pyarrow.int64()})
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    seen = tamis.BloomFilter(100)
    with pytest.raises(ValueError, match="the disk is gone"):
        seen.update(reader)
    assert seen.contains_many([1, 2]).tolist() == [True, True]
