"""Processes: forks while threads add, and filters that processes share."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

import tamis

COUNT = 100_000


# In a process of its own, which has imported little: a fork copies the page tables.
FORKS = """
import array, faulthandler, os, signal, threading
import tamis

# Says where a child is that crashes or waits.
faulthandler.enable()
faulthandler.register(signal.SIGALRM, chain=True)

# Several words per item: an insert locks its line.
seen = tamis.BloomFilter(20_000, 1e-6)
jobs = tamis.CuckooFilter(10_000, 1e-6)
window = tamis.RotatingBloomFilter(10_000, None, 1e-6)
ended = threading.Event()

def add(number):
    items = array.array("q", range(number, number + 20_000))
    while not ended.is_set():
        seen.update(items)
        seen.clear()
        window.update(items)
        jobs.update(items[:100])
        for item in items[:100]:
            seen.add(item)
            jobs.discard(item)

threads = [threading.Thread(target=add, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
items = array.array("q", range(20_000))
try:
    for _ in range(1000):
        child = os.fork()
        if child == 0:
            # It would wait for ever if a lock of any line was held.
            signal.alarm(60)
            seen.update(items)
            window.update(items[:2000])
            jobs.update(items[:100])
            correct = all(seen.contains_many(items)) and all(jobs.contains_many(items[:100]))
            os._exit(0 if correct else 1)
        status = os.waitpid(child, 0)[1]
        assert status == 0, status
finally:
    ended.set()
    for thread in threads:
        thread.join()
print("forked")
"""


def test_1000_forks_while_threads_add_leave_usable_filters() -> None:
    run = subprocess.run([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, check=True)
    assert run.stdout == b"forked\n"


# A thread uses a filter for the first time while the process forks.
FIRST_USE = """
import os, pickle, signal, sys, threading
import tamis

# Threads alternate often.
sys.setswitchinterval(1e-4)
seen = tamis.BloomFilter(1000)
shared = tamis.SharedBloomFilter(sys.argv[1], 1000)
begin = threading.Event()

def use():
    seen.update([1])
    pickle.dumps(shared)

def first_use():
    begin.wait()
    use()

thread = threading.Thread(target=first_use)
thread.start()
begin.set()
ended = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        use()
        os._exit(0)
    ended.append(os.waitpid(child, 0)[1])
thread.join()
assert ended == [0, 0, 0], ended
"""


def test_a_fork_at_the_first_use_of_a_filter_leaves_a_usable_filter(tmp_path: Path) -> None:
    # Before the values were made at import, a child waited in one process of 30 (`update`), and in
    # 9 of 60 (`path`).
    for _ in range(40):
        subprocess.run([sys.executable, "-c", FIRST_USE, tmp_path / "shared"], check=True)


# These handlers are older than that of tamis, so "before" is called after it. They use a filter, and
# wait for a lock that another thread holds while it uses the filter.
HANDLERS = """
import array, os, signal, threading

lock = threading.Lock()
ended = threading.Event()
filters = []

def use():
    for seen in filters:
        seen.update(items)
        seen.clear()
        seen.figures()

def before():
    lock.acquire()
    use()

def after():
    use()
    lock.release()

os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)
import tamis

items = array.array("q", range(20_000))
filters.append(tamis.BloomFilter(20_000, 1e-6))

def work():
    while not ended.is_set():
        with lock:
            use()

signal.alarm(60)
thread = threading.Thread(target=work)
thread.start()
for _ in range(50):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        use()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
ended.set()
thread.join()
print("forked")
"""


def test_handlers_of_forks_that_are_older_than_tamis_use_filters() -> None:
    run = subprocess.run([sys.executable, "-c", HANDLERS], stdout=subprocess.PIPE, check=True)
    assert run.stdout == b"forked\n"


# The handler is called after that of tamis, and forks once more.
FORKS_OF_THREADS = """
import os, threading

local = threading.local()

def fork_again():
    if not getattr(local, "inside", False):
        local.inside = True
        child = os.fork()
        if child == 0:
            os._exit(0)
        ended.append(os.waitpid(child, 0)[1])
        local.inside = False

os.register_at_fork(before=fork_again)
import tamis

seen = tamis.BloomFilter(1000)

def fork():
    for _ in range(50):
        child = os.fork()
        if child == 0:
            os._exit(0 if seen.update(range(100)) >= 0 else 1)
        ended.append(os.waitpid(child, 0)[1])

ended = []
threads = [threading.Thread(target=fork) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert ended == [0] * 400
print("forked")
"""


def test_a_fork_within_a_fork_handler_and_threads_that_fork_do_not_wait_for_ever() -> None:
    script = [sys.executable, "-c", FORKS_OF_THREADS]
    assert subprocess.run(script, stdout=subprocess.PIPE, check=True).stdout == b"forked\n"


def add_all(seen: tamis.SharedBloomFilter, seed: int, results: Path) -> None:
    """Adds all items in an order of its own, and writes which were new."""
    order = numpy.random.default_rng(seed).permutation(COUNT)
    new = numpy.zeros(COUNT, numpy.int8)
    for part in numpy.array_split(order, 100):
        new[part] = numpy.asarray(seen.add_many(part))
    numpy.save(results, new)


def add_for_ever(seen: tamis.SharedBloomFilter) -> None:
    """Adds items of its own until it is killed."""
    start = COUNT
    while True:
        seen.update(numpy.arange(start, start + 1000))
        start += 1000 if start < COUNT + 50_000 else 0


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_one_of_four_processes_wins_each_item_although_one_is_killed(
    method: str, tmp_path: Path
) -> None:
    context = multiprocessing.get_context(method)
    seen = tamis.SharedBloomFilter(tmp_path / "seen", 2 * COUNT, 0.001)
    adders = [
        context.Process(target=add_all, args=(seen, seed, tmp_path / f"{seed}.npy"))
        for seed in range(4)
    ]
    victim = context.Process(target=add_for_ever, args=(seen,), daemon=True)
    for process in [victim, *adders]:
        process.start()
    deadline = time.monotonic() + 60
    while COUNT + 999 not in seen:
        assert victim.is_alive() and time.monotonic() < deadline
        time.sleep(0.01)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    for process in [victim, *adders]:
        process.join()
    assert [process.exitcode for process in adders] == [0] * 4
    winners = sum(numpy.load(tmp_path / f"{seed}.npy") for seed in range(4))
    assert winners.max() == 1
    # A mean of below 100 false positives, and more than ten standard deviations above.
    assert COUNT - winners.sum() < 250
    assert all(seen.contains_many(numpy.arange(COUNT)))


def test_a_shared_filter_is_opened_by_its_path_or_by_the_same_arguments(tmp_path: Path) -> None:
    path = tmp_path / "seen"
    with pytest.raises(FileNotFoundError):
        tamis.SharedBloomFilter(path)
    seen = tamis.SharedBloomFilter(path, 1000, 0.001)
    seen.add("a")
    assert "a" in tamis.SharedBloomFilter(path)
    assert "a" in tamis.SharedBloomFilter(path, 1000, 0.001)
    # A copy in its own place would part the processes that have it open from later ones.
    for copy in (seen, tamis.BloomFilter(1000)):
        with pytest.raises(ValueError, match="live"):
            copy.save(path)
    with pytest.raises(tamis.FormatError, match="`tamis.open`"):
        tamis.BloomFilter.load(path)
    assert seen.add("b") and "b" in tamis.SharedBloomFilter(path)
    assert "a" in pickle.loads(pickle.dumps(seen))
    for arguments in ((path, 2000, 0.001), (path, 1000, 0.01)):
        with pytest.raises(ValueError, match="another size"):
            tamis.SharedBloomFilter(*arguments)
    with pytest.raises(ValueError, match="seed="):
        tamis.SharedBloomFilter(path, 1000, 0.001, seed=1)
    secret = tmp_path / "secret"
    tamis.SharedBloomFilter(secret, 1000, 0.001, seed="random").add("a")
    assert "a" in tamis.SharedBloomFilter(secret, 1000, 0.001, seed="random")
    with pytest.raises(ValueError, match="seed="):
        tamis.SharedBloomFilter(path, 1000, 0.001, seed="random")
    with pytest.raises(ValueError, match="1e-5"):
        tamis.SharedBloomFilter(tmp_path / "low", 1000, 1e-6)
    with pytest.raises(ValueError, match="capacity"):
        tamis.SharedBloomFilter(path, rate=0.1)


def test_a_shared_filter_is_saved_for_others(tmp_path: Path) -> None:
    seen = tamis.SharedBloomFilter(tmp_path / "seen", 1000)
    seen.update(range(1000))
    seen.flush()
    seen.save(tmp_path / "copy")
    copy = tamis.open(tmp_path / "copy")
    assert isinstance(copy, tamis.BloomFilter)
    assert copy.contains_many(range(9999)) == seen.contains_many(range(9999))
    with pytest.raises(tamis.FormatError):
        tamis.SharedBloomFilter(tmp_path / "copy")
    with pytest.raises(tamis.FormatError):
        tamis.BloomFilter.load(tmp_path / "seen")


# The signal is sent when the call has begun: when it has taken the first item. No code of Python
# runs in it, which would receive the signal.
INTERRUPTED = """
import functools, numpy, os, rbloom, signal, sys, threading, time
import tamis
seen = tamis.BloomFilter(1000)
theirs = tamis.foreign.read(rbloom.Bloom(100, 0.01, lambda item: item).save_bytes(), "rbloom")
taken = {{}}
endless = iter(functools.partial(taken.setdefault, 1, 1), 0)

def interrupt():
    while not taken and 1 not in seen:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

try:
    threading.Thread(target=interrupt).start()
    {call}
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "call",
    [
        "seen.update(endless)",
        "seen.contains_many(endless)",
        "seen.update(numpy.broadcast_to(numpy.int64(1), 1 << 40))",
        "theirs.contains_many(endless)",
    ],
)
def test_an_interrupt_ends_a_call_that_has_no_end(call: str) -> None:
    script = INTERRUPTED.format(call=call)
    # A shell may start this process with the signal ignored.
    run = subprocess.run(
        [sys.executable, "-c", script],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        timeout=120,
        check=False,
    )
    assert run.returncode == 7
