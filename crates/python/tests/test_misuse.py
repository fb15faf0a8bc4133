"""Callers that misuse the interface: the interpreter survives, and the filter stays right."""

import array
import ctypes
import pickle
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy
import pyarrow
import pytest

import tamis

CLASSES = [
    tamis.BloomFilter,
    tamis.ScalableBloomFilter,
    tamis.CuckooFilter,
    tamis.RotatingBloomFilter,
]


@pytest.mark.parametrize("name", ["add", "__contains__"])
@pytest.mark.parametrize("class_of_method", CLASSES)
def test_methods_refuse_objects_of_other_classes(class_of_method: type, name: str) -> None:
    method = getattr(class_of_method, name)
    others = [each(100) for each in CLASSES if each is not class_of_method]
    for other in [5, None, object(), class_of_method, *others]:
        with pytest.raises(TypeError):
            method(other, "a")
    with pytest.raises(TypeError):
        method()
    # No object is made without `__new__`, and none gets another class.
    with pytest.raises(TypeError):
        object.__new__(class_of_method)
    seen = class_of_method(100)
    for other in others:
        with pytest.raises(TypeError):
            seen.__class__ = type(other)
    with pytest.raises(TypeError):
        type("Sub", (class_of_method,), {})


@pytest.mark.parametrize("class_of_filter", CLASSES)
def test_add_takes_exactly_one_item(class_of_filter: type) -> None:
    seen = class_of_filter(100)
    for arguments in ((), (1, 2)):
        with pytest.raises(TypeError, match="add"):
            seen.add(*arguments)
    with pytest.raises(TypeError, match="keyword"):
        seen.add(item=1)
    with pytest.raises(TypeError, match="keyword"):
        seen.add(1, item=1)
    assert seen.approx_len() == 0
    seen.add(*[1], **{})
    assert 1 in seen and seen.approx_len() == 1
    # A caller in C may pass an empty tuple of names.
    call = ctypes.pythonapi.PyObject_Vectorcall
    call.restype = ctypes.py_object
    items = (ctypes.py_object * 1)(1)
    object_of = ctypes.py_object
    call(object_of(seen.add), items, ctypes.c_size_t(1), object_of(()))
    with pytest.raises(TypeError, match="keyword"):
        call(object_of(seen.add), items, ctypes.c_size_t(0), object_of(("item",)))


class Raises:
    def __index__(self) -> int:
        raise OSError("no index")

    def __hash__(self) -> int:
        raise AssertionError("a filter does not use hash()")


class Returns:
    def __index__(self) -> str:
        return "7"


def test_the_errors_of_an_item_are_passed_on() -> None:
    seen = tamis.BloomFilter(1000, 1e-9)
    for item, error in ((Raises(), OSError), (Returns(), TypeError)):
        for call in (seen.add, seen.__contains__, lambda item: seen.update([1, item, 2])):
            with pytest.raises(error):
                call(item)
    assert 1 in seen and 2 not in seen

    def items() -> Iterator[int]:
        yield 3
        raise OSError("no item")

    with pytest.raises(OSError, match="no item"):
        seen.update(items())
    assert 3 in seen


def test_items_iterators_keys_and_streams_may_use_the_filter() -> None:
    seen = tamis.BloomFilter(1000, 1e-9)

    class Adds:
        def __index__(self) -> int:
            assert seen.add("by an item")
            return 7

    def items() -> Iterator[int]:
        yield 8
        assert seen.update(["by an iterator"]) == 1
        yield 9

    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield pyarrow.record_batch({"a": [10]})
        assert seen.update(numpy.arange(100, 200)) == 100
        yield pyarrow.record_batch({"a": [11]})

    assert seen.add(Adds()) and seen.update(items()) == 2
    schema = pyarrow.schema({"a": pyarrow.int64()})
    assert seen.update(pyarrow.RecordBatchReader.from_batches(schema, batches())) == 2
    added = [7, 8, 9, 10, 11, 100, 199, "by an item", "by an iterator"]
    assert all(seen.contains_many(added))

    def key(item: int) -> int:
        if item < 10:
            keyed.add(item + 1)
        return item

    keyed = tamis.BloomFilter(1000, 1e-9, key=key)
    assert keyed.add(1) and not keyed.add(5)
    assert all(keyed.contains_many(range(1, 11)))


def test_a_list_that_shrinks_while_it_is_added() -> None:
    seen = tamis.BloomFilter(1000, 1e-9)

    class Clears:
        def __index__(self) -> int:
            items.clear()
            return 7

    items: list[object] = [1, Clears(), 2]
    assert seen.update(items) == 2
    assert seen.contains_many([1, 7, 2]).tolist() == [True, True, False]


def test_a_buffer_is_not_moved_while_it_is_read() -> None:
    seen = tamis.BloomFilter(2_000_000, 1e-4)
    items = array.array("q", range(1 << 20))
    done = threading.Event()

    def add() -> None:
        while not done.is_set():
            seen.update(items)

    thread = threading.Thread(target=add)
    thread.start()
    refused = 0
    while refused < 20:
        try:
            items.append(-1)
            items.pop()
        except BufferError:
            refused += 1
    done.set()
    thread.join()
    assert all(seen.contains_many(range(0, 1 << 20, 1000)))


def test_a_view_that_was_released_is_an_error() -> None:
    view = memoryview(array.array("q", [1, 2]))
    seen = tamis.BloomFilter(100)
    assert seen.update(view) == 2
    # Nothing has kept it.
    view.release()
    with pytest.raises(ValueError, match="released"):
        seen.update(view)


def test_numbers_at_odd_addresses_and_without_the_right_to_write() -> None:
    numbers = numpy.arange(10_000, dtype=numpy.int64)
    odd = numpy.frombuffer(b"x" + numbers.tobytes(), numpy.int64, offset=1)
    assert not odd.flags.aligned and not odd.flags.writeable
    frozen = numbers.copy()
    frozen.flags.writeable = False
    expected = tamis.BloomFilter(20_000, 1e-6)
    expected.update(range(10_000))
    for items in (odd, frozen, numbers[::-1], memoryview(numbers.tobytes()).cast("q")):
        seen = tamis.BloomFilter(20_000, 1e-6)
        seen.update(items)
        assert seen.to_bytes() == expected.to_bytes()


def test_a_signal_handler_may_use_the_filter_and_ends_a_stream_without_items() -> None:
    seen = tamis.BloomFilter(1000, 1e-9)

    def batches() -> Iterator[pyarrow.RecordBatch]:
        while True:
            yield pyarrow.record_batch({"a": pyarrow.array([], pyarrow.int64())})

    class Stopped(Exception):
        pass

    def stop(*_: object) -> None:
        seen.add("by the handler")
        raise Stopped

    schema = pyarrow.schema({"a": pyarrow.int64()})
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for items in (pyarrow.RecordBatchReader.from_batches(schema, batches()), iter(int, 1)):
            with pytest.raises((Stopped, ValueError)):
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                seen.update(items)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "by the handler" in seen


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("class_of_filter", CLASSES)
def test_each_protocol_pickles_each_class(class_of_filter: type, protocol: int) -> None:
    seen = class_of_filter(100, rate=1e-6)
    seen.update(range(50))
    again = pickle.loads(pickle.dumps(seen, protocol))
    assert type(again) is class_of_filter and all(again.contains_many(range(50)))


ANSWERS = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
seen = pickle.load(sys.stdin.buffer)
print(sum(seen.contains_many(range(100_000))), all(seen.contains_many(["a", b"b", 2**64, -7])))
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_each_version_of_python_reads_the_pickle(version: str) -> None:
    python = shutil.which(f"python{version}")
    if not python or subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"there is no Python {version}")
    seen = tamis.BloomFilter(1000, 0.01)
    seen.update(range(900), ["a", b"b", 2**64, -7])
    expected = f"{sum(seen.contains_many(range(100_000)))} True"
    folder = str(Path(tamis.__file__).parents[1])
    answers = subprocess.run(
        [python, "-c", ANSWERS, folder], input=pickle.dumps(seen), stdout=subprocess.PIPE, check=True
    )
    assert answers.stdout.decode().strip() == expected
    assert int(expected.split()[0]) > 900, "no false positive was compared"
