"""The classes but `BloomFilter`: what they add to it; and files and pickles of all."""

import copy
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

import tamis

GOLDEN = Path(__file__).parents[2] / "formats" / "tests" / "golden"

MAKE: list[Callable[[], tamis.BloomFilter]] = [
    lambda: tamis.BloomFilter(2000, 1e-4),
    # With a random seed, tests must not meet a false positive by chance.
    lambda: tamis.BloomFilter(2000, 1e-10, seed="random"),
    lambda: tamis.ScalableBloomFilter(100, 1e-4),
    lambda: tamis.CuckooFilter(2000, 1e-4),
    lambda: tamis.CuckooFilter(100, 1e-4, max_capacity=3000),
    lambda: tamis.RotatingBloomFilter(2000, None, 1e-4),
    lambda: tamis.RotatingBloomFilter(50_000, 3600.0, 1e-4),
]


@pytest.mark.parametrize("make", MAKE)
def test_files_bytes_pickles_and_copies_have_the_same_answers(
    make: Callable[[], tamis.BloomFilter], tmp_path: Path
) -> None:
    seen = make()
    seen.update(range(2000))
    seen.save(tmp_path / "seen")
    answers = seen.contains_many(range(100_000))
    assert all(answers[:2000])
    for again in (
        type(seen).load(tmp_path / "seen"),
        type(seen).load(str(tmp_path / "seen")),
        type(seen).from_bytes(seen.to_bytes()),
        tamis.open(tmp_path / "seen"),
        pickle.loads(pickle.dumps(seen)),
        copy.copy(seen),
        copy.deepcopy(seen),
    ):
        assert type(again) is type(seen)
        assert again.contains_many(range(100_000)) == answers
        # It is another filter.
        again.update(["new"])
        assert "new" not in seen
    with pytest.raises(tamis.FormatError):
        other = tamis.CuckooFilter if isinstance(seen, tamis.BloomFilter) else tamis.BloomFilter
        other.from_bytes(seen.to_bytes())


@pytest.mark.parametrize("make", MAKE)
def test_what_all_classes_have(make: Callable[[], tamis.BloomFilter]) -> None:
    seen = make()
    assert seen.update(range(1000), ["a"]) >= 1000
    assert 900 < seen.approx_len() < 1100
    figures = seen.figures()
    assert 0 < figures.fill < 1 and 0 < figures.saturation and 0 < figures.rate < 0.02
    assert abs(figures.items - seen.approx_len()) <= 0.5
    assert sys.getsizeof(seen) > 1000
    assert repr(seen).startswith(type(seen).__name__ + "(") and "figures" not in repr(seen)
    with pytest.raises(TypeError):
        len(seen)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        type(seen)()  # type: ignore[call-arg]
        tamis.BloomFilter()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        seen.other = 1  # type: ignore[attr-defined]


def test_a_key_function_is_pickled_by_its_name_and_given_to_load(tmp_path: Path) -> None:
    seen = tamis.BloomFilter(100, 1e-9, key=abs)
    seen.add(-7)
    assert -7 in pickle.loads(pickle.dumps(seen))
    seen.save(tmp_path / "seen")
    assert -7 in tamis.BloomFilter.load(tmp_path / "seen", key=abs)
    assert -7 in tamis.open(tmp_path / "seen", key=abs)
    assert -7 not in tamis.open(tmp_path / "seen")
    assert 7 in tamis.BloomFilter.from_bytes(seen.to_bytes())


def test_cuckoo_filters_remove_count_and_are_full() -> None:
    jobs = tamis.CuckooFilter(100, 1e-6)
    for _ in range(3):
        jobs.add("a")
    assert jobs.count("a") == 3 and jobs.count("b") == 0
    assert jobs.discard("a") and jobs.count("a") == 2
    jobs.remove("a")
    jobs.remove("a")
    with pytest.raises(KeyError):
        jobs.remove("a")
    assert not jobs.discard("a")
    with pytest.raises(tamis.Full):
        jobs.update(range(1000))
    with pytest.raises(tamis.Full):
        for item in range(1000):
            jobs.add(item)
    held = jobs.approx_len()
    assert held == sum(jobs.count(item) for item in range(1000)) >= 100
    # One item a thousand times has two buckets.
    again = tamis.CuckooFilter(10_000, 1e-6)
    with pytest.raises(tamis.Full):
        for _ in range(1000):
            again.add("a")


@pytest.mark.parametrize("kind", [list, iter, numpy.array])
@pytest.mark.parametrize("most", [None, 50_000])
def test_no_item_after_one_without_room_is_added(kind: Callable, most: int | None) -> None:
    jobs = tamis.CuckooFilter(20_000, 1e-9, max_capacity=most)
    # Of an item, two buckets hold at most 22 copies.
    before, after = range(5000), range(10_000, 20_000)
    with pytest.raises(tamis.Full):
        jobs.update(kind([*before, *[7] * 30, *after]), ["another iterable"])
    assert all(jobs.contains_many(before)) and not any(jobs.contains_many(after))
    assert "another iterable" not in jobs
    # So the caller can leave out the item, and go on.
    assert jobs.approx_len() == 5000 + jobs.count(7) - 1
    assert jobs.update(kind(after)) == 10_000


@pytest.mark.parametrize("kind", [list, iter, numpy.array])
def test_an_error_has_the_results_before_it(kind: Callable) -> None:
    seen = tamis.open(GOLDEN / "growing-once-cuckoo.tamis")
    before = round(seen.figures().items)
    with pytest.raises(tamis.Full) as full:
        seen.add_many(kind(range(10_000, 20_000)))
    results = full.value.results
    assert set(results) <= {True, False} and 0 < sum(results) <= len(results) < 10_000
    assert round(seen.figures().items) == before + sum(results)
    assert all(seen.contains_many(range(10_000, 10_000 + len(results))))


def test_cuckoo_filters_grow() -> None:
    jobs = tamis.CuckooFilter(100, 1e-4, max_capacity=50_000)
    small = sys.getsizeof(jobs)
    assert jobs.update(range(50_000)) == 50_000
    assert all(jobs.contains_many(range(50_000)))
    assert sys.getsizeof(jobs) > 5 * small
    with pytest.raises(tamis.Full):
        jobs.update(range(10_000_000))


def test_rotating_filters_forget() -> None:
    recent = tamis.RotatingBloomFilter(1000, None, 1e-9)
    recent.add("first")
    recent.add("kept")
    recent.update(range(500))
    assert "first" in recent
    recent.add_or_refresh("kept")
    recent.update(range(500, 1200))
    assert "first" not in recent and "kept" in recent
    recent.clear()
    assert "kept" not in recent
    for span in (0.0, -1.0, float("nan"), 1e300):
        with pytest.raises(ValueError, match="span"):
            tamis.RotatingBloomFilter(100, span)


def wait(holds: Callable[[], bool]) -> None:
    """Call it until it returns True."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_span_passes_without_calls(tmp_path: Path) -> None:
    def make() -> tamis.RotatingBloomFilter:
        recent = tamis.RotatingBloomFilter(1000, 0.2, 1e-9)
        assert recent.add("a")
        return recent

    asked, added, updated, many, refreshed, idle = (make() for _ in range(6))
    kept = tamis.RotatingBloomFilter(1000, 3600.0, 1e-9)
    kept.add("a")
    saved = pickle.loads(pickle.dumps(kept))
    # Each method forgets by itself. Nothing is forgotten before the span, and time alone is enough.
    wait(lambda: "a" not in asked)
    wait(lambda: added.add("a"))
    wait(lambda: updated.update(["a"]) == 1)
    wait(lambda: many.add_many(["a"])[0])
    wait(lambda: not refreshed.contains_many(["a"])[0])
    assert refreshed.add_or_refresh("a")
    wait(lambda: idle.approx_len() == 0)
    assert "a" in kept and "a" in saved


def test_a_span_passes_for_filters_of_short_lives() -> None:
    recent = tamis.RotatingBloomFilter(1000, 0.6, 1e-9)
    recent.add("a")
    deadline = time.monotonic() + 60
    # Each life is shorter than a sixth of the span.
    while "a" in recent:
        assert time.monotonic() < deadline
        time.sleep(0.01)
        recent = pickle.loads(pickle.dumps(recent))


def test_a_full_filter_has_no_estimate() -> None:
    seen = tamis.BloomFilter(1000)
    seen.update(range(1_000_000))
    assert seen.figures().items == float("inf")
    with pytest.raises(OverflowError, match="too full"):
        seen.approx_len()


def test_scalable_filters_grow_and_end_at_their_capacity() -> None:
    seen = tamis.ScalableBloomFilter(100, 1e-4)
    assert seen.update(range(100_000)) > 99_900
    assert seen.figures().rate < 1e-4
    # At most 80 bits per item at 1e-9, as `tamis.scrapy` promises.
    seen = tamis.ScalableBloomFilter(100_000, 1e-9, max_capacity=100_000)
    assert sys.getsizeof(seen) * 8 < 110 * 100_000


def test_plan_has_a_size_or_none_for_each_class() -> None:
    plans = tamis.plan(10_000, 1e-4)
    for name, plan in plans.items():
        assert plan is not None and plan.size_in_bytes * 8 / 10_000 == plan.bits_per_item
        if name not in ("SharedBloomFilter",):
            size = sys.getsizeof(getattr(tamis, name)(10_000, rate=1e-4))
            assert abs(size - plan.size_in_bytes) < 2000 + plan.size_in_bytes / 50, name
    # The locks of a window are counted. The object itself has a size, too.
    more = set()
    for capacity in (1, 10_000, 1_000_000):
        plan = tamis.plan(capacity)["RotatingBloomFilter"]
        assert plan is not None
        more.add(sys.getsizeof(tamis.RotatingBloomFilter(capacity)) - plan.size_in_bytes)
    assert len(more) == 1 and more.pop() < 500
    assert tamis.plan(10_000, 1e-9)["SharedBloomFilter"] is None
    with pytest.raises(ValueError):
        tamis.plan(10_000, 2.0)
