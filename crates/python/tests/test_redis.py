"""`RedisBloomFilter` against a server of its own."""

import multiprocessing
import os
import pickle
import subprocess
import threading
import time

import numpy
import pytest

import tamis


def add_all(seen: tamis.RedisBloomFilter, count: int) -> int:
    return seen.update(range(count))


def command(redis_url: str, *words: str) -> str:
    port = redis_url.rsplit(":", 1)[1].strip("/")
    run = ["redis-cli", "-p", port, *words]
    return subprocess.run(run, check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout


def test_a_filter_in_redis(redis_url: str) -> None:
    url = redis_url + "#seen"
    with pytest.raises(tamis.RedisError):
        tamis.RedisBloomFilter(url)
    seen = tamis.RedisBloomFilter(url, 100_000, 1e-6)
    assert seen.add("a") and not seen.add("a") and "a" in seen and "b" not in seen
    assert seen.update(numpy.arange(10_000)) == 10_000
    assert seen.add_many(["b", "a", 7]).tolist() == [True, False, False]
    assert all(seen.contains_many(range(10_000)))
    assert 9900 < seen.approx_len() < 10_100
    assert seen.capacity == 100_000 and seen.rate == 1e-6 and seen.window is None
    assert seen.figures().rate < 1e-6
    other = tamis.RedisBloomFilter(url)
    assert 7 in other and not other.add("a")
    assert 7 in pickle.loads(pickle.dumps(seen))
    with pytest.raises(ValueError):
        tamis.RedisBloomFilter(url, 100_000, 1e-3)
    with pytest.raises(ValueError, match="capacity"):
        tamis.RedisBloomFilter(url, rate=1e-3)
    tamis.RedisBloomFilter.destroy(url)
    with pytest.raises(tamis.RedisError):
        seen.add("a")


def test_processes_share_it_and_forks_connect_anew(redis_url: str) -> None:
    seen = tamis.RedisBloomFilter(redis_url + "#forks", 100_000, 1e-9, key=abs)
    seen.add(-1)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            os._exit(0 if 1 in seen and not seen.add(-1) else 1)
        # Both use their connections at the same time.
        assert all(1 in seen for _ in range(20))
        assert os.waitpid(child, 0)[1] == 0
    # A child that does not use the filter closes nothing of its parent.
    child = os.fork()
    if child == 0:
        del seen
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert 1 in seen
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            start = 0 if method == "spawn" else 5000
            new = pool.starmap(add_all, [(seen, start + 5000)] * 2)
            assert sum(new) == (4999 if method == "spawn" else 5000)


@pytest.mark.parametrize("seed", [None, 5])
def test_a_child_does_not_use_another_filter_of_the_name(redis_url: str, seed: int | None) -> None:
    url = redis_url + f"#other{seed}"
    seen = tamis.RedisBloomFilter(url, 1000, 1e-9, seed=seed)
    tamis.RedisBloomFilter.destroy(url)
    other = tamis.RedisBloomFilter(url, 1000, 1e-9, seed=seed)
    assert other.add("a")
    child = os.fork()
    if child == 0:
        try:
            seen.add_many(["a", "b"])
        except tamis.RedisError as error:
            # No item was sent, but the caller learns the same as of items without a reply.
            os._exit(0 if error.results == [None, None] else 2)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_call_that_waits_for_the_server_holds_up_no_fork(redis_url: str) -> None:
    seen = tamis.RedisBloomFilter(redis_url + "#pause", 10_000, 1e-9)
    command(redis_url, "CLIENT", "PAUSE", "60000", "WRITE")
    try:
        thread = threading.Thread(target=seen.update, args=(numpy.arange(5000),))
        thread.start()
        deadline = time.monotonic() + 60
        while "blocked_clients:0" in command(redis_url, "INFO", "clients"):
            assert thread.is_alive() and time.monotonic() < deadline
            time.sleep(0.01)
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        # A batch of another filter is not held up either, and the call still waits.
        assert tamis.BloomFilter(100, 1e-9).update(numpy.arange(10)) == 10
        assert thread.is_alive()
    finally:
        command(redis_url, "CLIENT", "UNPAUSE")
    thread.join()
    assert all(seen.contains_many(range(5000)))


def test_clients_with_random_seeds_share_a_filter(redis_url: str) -> None:
    first, second = (
        tamis.RedisBloomFilter(redis_url + "#seeds", 1000, 1e-9, seed="random") for _ in range(2)
    )
    assert first.add("a") and "a" in second
    assert tamis.RedisBloomFilter(redis_url + "#number", 1000, 1e-9, seed=5).add("a")
    with pytest.raises(ValueError, match="hash"):
        tamis.RedisBloomFilter(redis_url + "#number", 1000, 1e-9, seed="random")
    with pytest.raises(ValueError, match="hash"):
        tamis.RedisBloomFilter(redis_url + "#seeds", 1000, 1e-9, seed=5)


def test_an_error_has_the_verdicts_of_the_other_items(redis_url: str) -> None:
    seen = tamis.RedisBloomFilter(redis_url + "#part", 10_000, 1e-9, shards=4)
    items = [f"item {number}" for number in range(200)]
    # The bits of one shard become a key of another type.
    script = """
        for _, key in ipairs(redis.call('KEYS', '{part:*')) do
            if redis.call('TYPE', key).ok == 'string' then
                redis.call('DEL', key)
                redis.call('HSET', key, 'a', 'b')
                return key
            end
        end
    """
    command(redis_url, "EVAL", script, "0")
    with pytest.raises(tamis.RedisError) as error:
        seen.add_many(items)
    results = error.value.results
    assert len(results) == len(items) and {True, None} == set(results)
    # The items with a verdict are stored, and nobody gets another True for one of them.
    again = [item for item, result in zip(items, results, strict=True) if result]
    assert seen.add_many(again).tolist() == [False] * len(again)


def test_errors_name_the_argument(redis_url: str) -> None:
    for name in ("deadline", "window"):
        with pytest.raises(ValueError, match=name):
            tamis.RedisBloomFilter(redis_url + "#names", 10, **{name: 0.0})


def test_a_window_forgets(redis_url: str) -> None:
    seen = tamis.RedisBloomFilter(redis_url + "#window", 1000, window=3.0)
    assert seen.add("a") and not seen.add("a") and seen.window == 3.0
    deadline = time.monotonic() + 60
    while "a" in seen:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_no_error_shows_a_password() -> None:
    for url in (
        "redis://user:7351@localhost:1/",
        "redis://user:7351@localhost:1/#",
        "redis://user:73#51@localhost:1/#a",
        "other://user:7351@localhost:1/#a",
        "redis://user:7351@localhost:1/#a",
        "7351",
    ):
        with pytest.raises((ValueError, tamis.RedisError)) as error:
            tamis.RedisBloomFilter(url, deadline=0.1)
        assert "7351" not in str(error.value) and "73#51" not in str(error.value)
