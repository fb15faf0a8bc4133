"""The speed of Tamis and of other libraries, as far as they are installed.

    python -m tamis.bench
    python -m tamis.bench --items 1000000 --runs 5 --chart chart.svg

The others: ``pip install rbloom abloom pybloom-live fastbloom-rs pyprobables numpy``. Each figure
is the median of the runs, which are interleaved: in each run, every library does everything once.
The time is that of the thread on a processor, so that other programs disturb less.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import platform
import random
import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from statistics import median
from typing import Any

import tamis

RATE = 0.01

# A library that takes microseconds per item gets this part of the items.
PART_OF_SLOW = 20

Call = Callable[[Any], object]
# `add`; what is asked by `in`, or the call that asks; `update`, if there is one; and the bytes.
Calls = tuple[Call, Any, Call | None, Callable[[], int]]


def _tamis(capacity: int) -> Calls:
    seen = tamis.BloomFilter(capacity, RATE)
    return seen.add, seen, seen.update, seen.__sizeof__


def _rbloom(capacity: int) -> Calls:
    import rbloom

    seen = rbloom.Bloom(capacity, RATE)
    return seen.add, seen, seen.update, lambda: seen.size_in_bits // 8


def _abloom(capacity: int) -> Calls:
    import abloom

    seen = abloom.BloomFilter(capacity, RATE, serializable=True)
    return seen.add, seen, seen.update, lambda: seen.byte_count


def _pybloom_live(capacity: int) -> Calls:
    import pybloom_live

    seen = pybloom_live.BloomFilter(capacity, RATE)
    return seen.add, seen, None, lambda: seen.num_bits // 8


def _fastbloom_rs(capacity: int) -> Calls:
    import fastbloom_rs

    seen = fastbloom_rs.FilterBuilder(capacity, RATE).build_bloom_filter()

    def update(items: list[Any]) -> None:
        if isinstance(items[0], int):
            seen.add_int_batch(items)
        else:
            seen.add_str_batch(items)

    return seen.add, seen.contains, update, lambda: len(seen.get_bytes())


def _pyprobables(capacity: int) -> Calls:
    import probables

    seen = probables.BloomFilter(capacity, RATE)

    # It takes no int.
    def add(item: str | int) -> None:
        seen.add(str(item))

    def contains(item: str | int) -> bool:
        return seen.check(str(item))

    return add, contains, None, lambda: seen.bloom_length


def _set(capacity: int) -> Calls:
    seen: set[Any] = set()

    # The objects, too, which only the set keeps: 32 bytes of an int, 89 of a str of 40 characters.
    def size() -> int:
        some = next(iter(seen))
        return sys.getsizeof(seen) + len(seen) * sys.getsizeof(some)

    return seen.add, seen, seen.update, size


LIBRARIES: dict[str, Callable[[int], Calls]] = {
    "tamis": _tamis,
    "rbloom": _rbloom,
    "abloom": _abloom,
    "fastbloom-rs": _fastbloom_rs,
    "pybloom-live": _pybloom_live,
    "pyprobables": _pyprobables,
    "set": _set,
}

SLOW = ("pybloom-live", "pyprobables")

# The columns: what is called, and with what.
COLUMNS = [f"{call} {kind}" for kind in ("int", "str") for call in ("add", "in", "update")]


def _each(call: Call, items: Iterable[Any]) -> float:
    """Call with each item. Return the nanoseconds of all."""
    began = time.thread_time_ns()
    for item in items:
        call(item)
    return time.thread_time_ns() - began


def _each_in(seen: Any, items: Iterable[Any]) -> float:
    """Ask for each item by `in`, or by the call that stands for it. Return the nanoseconds."""
    if callable(seen):
        return _each(seen, items)
    began = time.thread_time_ns()
    for item in items:
        item in seen
    return time.thread_time_ns() - began


def _loop(items: Iterable[Any]) -> float:
    """Return what `_each` takes but for the calls."""
    began = time.thread_time_ns()
    for _ in items:
        pass
    return time.thread_time_ns() - began


def _strings(numbers: list[int]) -> list[str]:
    """Return new strings of 40 characters. No library has made them keep their `hash()` yet."""
    return [f"https://example.org/{number:020d}" for number in numbers]


def _run(make: Callable[[int], Calls], numbers: list[int], slow: bool) -> dict[str, float]:
    """Do everything once. Return the nanoseconds per item, and the bits per item."""
    result = {}
    some = numbers[: len(numbers) // PART_OF_SLOW] if slow else numbers
    count = len(some)
    kinds: dict[str, Callable[[], list[Any]]] = {"int": lambda: some, "str": lambda: _strings(some)}
    for kind, items in kinds.items():
        add, contains, _, size = make(count)
        loop = _loop(items())
        result[f"add {kind}"] = (_each(add, items()) - loop) / count
        result[f"in {kind}"] = (_each_in(contains, items()) - loop) / count
        result[f"bits {kind}"] = 8 * size() / count
        update, new = make(count)[2], items()
        if update:
            began = time.thread_time_ns()
            update(new)
            result[f"update {kind}"] = (time.thread_time_ns() - began) / count
    return result


def _arrays(count: int) -> dict[str, float]:
    """Do everything once with an array of numpy, which only Tamis takes."""
    import numpy

    items = numpy.random.default_rng(1).integers(0, 1 << 62, count)
    seen = tamis.BloomFilter(count, RATE)
    began = time.thread_time_ns()
    seen.update(items)
    half = time.thread_time_ns()
    seen.contains_many(items)
    end = time.thread_time_ns()
    return {"update": (half - began) / count, "contains_many": (end - half) / count}


def _threads(count: int) -> dict[str, float]:
    """Return how much faster two threads are, each with half of an array, than one."""
    import numpy

    items = numpy.random.default_rng(1).integers(0, 1 << 62, 8 * count)
    one, two = (tamis.BloomFilter(len(items), RATE) for _ in range(2))
    result = {}
    for call in ("update", "contains_many"):
        began = time.perf_counter()
        getattr(one, call)(items)
        half = time.perf_counter()
        threads = [
            threading.Thread(target=getattr(two, call), args=(part,))
            for part in numpy.array_split(items, 2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        result[call] = (half - began) / (time.perf_counter() - half)
    return result


def measure(count: int, runs: int) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the medians of each library, and what is not installed."""
    numbers = random.Random(1)
    ints = [numbers.getrandbits(62) for _ in range(count)]
    libraries, missing = dict(LIBRARIES), []
    for name, make in LIBRARIES.items():
        try:
            make(1000)
        except ImportError as error:
            del libraries[name]
            missing.append(f"{name} ({error})")
    arrays = importlib.util.find_spec("numpy") is not None
    results: dict[str, list[dict[str, float]]] = {name: [] for name in libraries}
    if arrays:
        results |= {"tamis, numpy": [], "tamis, threads": []}
    gc.disable()
    try:
        for _ in range(runs):
            for name, make in libraries.items():
                results[name].append(_run(make, ints, name in SLOW))
            if arrays:
                results["tamis, numpy"].append(_arrays(count))
                results["tamis, threads"].append(_threads(count))
    finally:
        gc.enable()
    medians = {
        name: {column: median(run[column] for run in done) for column in done[0]}
        for name, done in results.items()
    }
    return medians, missing


def table(medians: dict[str, dict[str, float]]) -> str:
    """Return the table in Markdown."""
    columns = [*COLUMNS, "bits int"]
    names = [*columns[:-1], "bits per item"]
    lines = ["| ns per item | " + " | ".join(names) + " |", "|---|" + "--:|" * len(columns)]
    for name, times in medians.items():
        if name not in LIBRARIES:
            continue
        cells = [f"{times[column]:.0f}" if column in times else "–" for column in columns]
        title = f"{name} {version(name)}" if name != "set" else "`set`"
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def chart(medians: dict[str, dict[str, float]]) -> str:
    """Return a chart as SVG: the time of `add` and `in` of a str, in bars on a logarithmic axis."""
    from math import log10

    rows, top, left, width = [], 58, 130, 430
    scale = width / log10(30_000 / 10)
    names = [name for name in medians if name in LIBRARIES]
    for number, name in enumerate(names):
        y = top + 44 * number
        rows.append(f'<text x="{left - 8}" y="{y + 21}" text-anchor="end">{name}</text>')
        for part, (column, colour) in enumerate((("add str", "#0b7285"), ("in str", "#74c0fc"))):
            value = medians[name][column]
            bar = max(log10(value / 10) * scale, 1)
            at = y + 16 * part
            size = f'width="{bar:.0f}" height="14"'
            rows.append(f'<rect x="{left}" y="{at}" {size} fill="{colour}"/>')
            rows.append(f'<text x="{left + bar + 6:.0f}" y="{at + 12}">{value:,.0f}</text>')
    height = top + 44 * len(names)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" '
            f'viewBox="0 0 640 {height}" font-family="sans-serif" font-size="13">',
            f'<rect width="640" height="{height}" fill="#fff"/>',
            '<text x="16" y="22" font-weight="bold">Nanoseconds per str of 40 characters, one by '
            "one (logarithmic axis)</text>",
            '<rect x="130" y="34" width="12" height="12" fill="#0b7285"/><text x="147" y="45">add'
            '</text><rect x="190" y="34" width="12" height="12" fill="#74c0fc"/><text x="207" '
            'y="45">in</text>',
            *rows,
            "</svg>\n",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tamis.bench")
    parser.add_argument("--items", type=int, default=1_000_000, help="the number of items")
    parser.add_argument("--runs", type=int, default=5, help="the number of runs")
    parser.add_argument("--chart", metavar="FILE", help="write a chart, too, as SVG")
    options = parser.parse_args()
    if options.items < 1000 or options.runs < 1:
        parser.error("it needs 1000 items and a run")
    medians, missing = measure(options.items, options.runs)
    print(f"{options.items:,} items, a rate of {RATE:.0%}, medians of {options.runs} runs")
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    print(table(medians))
    if arrays := medians.get("tamis, numpy"):
        times = ", ".join(f"`{call}` {value:.1f} ns" for call, value in arrays.items())
        print(f"\nArrays of int64, which only Tamis takes: {times} per item.")
    if threads := medians.get("tamis, threads"):
        times = ", ".join(f"`{call}` {value:.2f}" for call, value in threads.items())
        print(f"\nTwo threads, each with half of {8 * options.items:,} items, to one: {times}.")
    slow = [name for name in SLOW if name in medians]
    if slow:
        print(f"\nWith a {PART_OF_SLOW}th of the items: {', '.join(slow)}.")
    if missing:
        print(f"\nNot installed: {'; '.join(missing)}")
    if options.chart:
        with open(options.chart, "w", encoding="utf-8") as file:
            file.write(chart(medians))


if __name__ == "__main__":
    main()
