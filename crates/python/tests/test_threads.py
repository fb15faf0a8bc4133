"""Threads: exactly one of them wins, and nobody waits for the interpreter lock."""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import rbloom

import tamis
from tamis import foreign

THREADS = 8


def in_threads(work: Callable[[int], object]) -> list[object]:
    """Runs `work` in all threads at once, and returns its results."""
    start = threading.Barrier(THREADS)

    def run(number: int) -> object:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.parametrize(
    "seen",
    [
        tamis.BloomFilter(1_000_000, 0.01),
        tamis.BloomFilter(1_000_000, 1e-6),
        tamis.ScalableBloomFilter(10_000, 1e-6),
        tamis.RotatingBloomFilter(10_000_000, None, 1e-6),
    ],
    ids=["word", "line", "scalable", "rotating"],
)
def test_each_of_a_million_items_is_new_to_one_of_eight_threads(seen: tamis.BloomFilter) -> None:
    count = 1_000_000
    rate = 0.01 if getattr(seen, "rate", 0.0) > 0.001 else 1e-6

    def add(number: int) -> numpy.ndarray:
        order = numpy.random.default_rng(number).permutation(count)
        new = numpy.zeros(count, numpy.int8)
        for part in numpy.array_split(order, 50):
            new[part] = numpy.asarray(seen.add_many(part))
        return new

    winners = sum(in_threads(add))
    assert winners.max() == 1
    # The items that were false positives. They are at most as many as for queries at capacity: the
    # mean is below 10,000 or 1, and the bounds are ten and more standard deviations above.
    assert count - winners.sum() < (11_000 if rate == 0.01 else 30)
    assert all(seen.contains_many(numpy.arange(count)))


def test_single_adds_of_threads_have_one_winner() -> None:
    seen = tamis.BloomFilter(100_000, 1e-9)
    winners = in_threads(lambda _: sum(seen.add(f"item {item}") for item in range(20_000)))
    assert sum(winners) == 20_000


def test_cuckoo_filters_keep_each_copy_of_each_thread() -> None:
    jobs = tamis.CuckooFilter(1000, 1e-6, max_capacity=400_000)
    in_threads(lambda number: jobs.update(numpy.arange(10_000) + 10_000 * number))
    assert jobs.approx_len() == THREADS * 10_000
    in_threads(lambda number: [jobs.remove(10_000 * number + item) for item in range(10_000)])
    assert jobs.approx_len() == 0


def test_clearing_and_saving_race_with_adding() -> None:
    seen = tamis.BloomFilter(50_000, 1e-6)
    items = numpy.arange(50_000)

    def work(number: int) -> None:
        for _ in range(20):
            if number == 0:
                seen.clear()
            elif number == 1:
                tamis.BloomFilter.from_bytes(seen.to_bytes())
            elif number == 2:
                seen.copy()
            else:
                seen.update(items)

    in_threads(work)
    seen.clear()
    assert seen.approx_len() == 0 and seen.update(items) == 50_000


def adds_an_array() -> Callable[[], object]:
    seen, items = tamis.BloomFilter(1_000_000), numpy.arange(1 << 24)
    return lambda: seen.update(items)


def reads_a_foreign_filter() -> Callable[[], object]:
    saved = rbloom.Bloom(10_000_000, 0.01, id).save_bytes()
    return lambda: foreign.read(saved, "rbloom")


def encodes_a_foreign_filter() -> Callable[[], object]:
    return foreign.read(rbloom.Bloom(10_000_000, 0.01, id).save_bytes(), "rbloom").to_bytes


@pytest.mark.parametrize("make", [adds_an_array, reads_a_foreign_filter, encodes_a_foreign_filter])
def test_other_threads_run_meanwhile(make: Callable[[], Callable[[], object]]) -> None:
    work = make()
    inside = ran_meanwhile = False

    def add() -> None:
        nonlocal inside
        # On a busy machine the other thread may wait for a processor all the time.
        for _ in range(20):
            inside = True
            work()
            inside = False
            if ran_meanwhile:
                break

    interval = sys.getswitchinterval()
    # A thread keeps the interpreter lock until it frees it by itself.
    sys.setswitchinterval(1000)
    try:
        adder = threading.Thread(target=add)
        adder.start()
        ran_meanwhile = inside
        while adder.is_alive() and not ran_meanwhile:
            time.sleep(0)
            ran_meanwhile = inside
        adder.join()
    finally:
        sys.setswitchinterval(interval)
    assert ran_meanwhile


def test_an_array_that_another_thread_writes_is_added_as_it_was_read() -> None:
    seen = tamis.BloomFilter(1_000_000)
    items = numpy.zeros(300_000, numpy.int64)

    def work(number: int) -> int:
        if number % 2:
            return seen.update(items)
        items[:] = number
        return 0

    assert sum(in_threads(work)) <= THREADS // 2
    assert 1 not in seen
