"""`RedisBloomFilter` against a server of its own."""

import multiprocessing
import os
import pickle
import time

import numpy
import pytest

import tamis


def add_all(seen: tamis.RedisBloomFilter, count: int) -> int:
    return seen.update(range(count))


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


def test_a_window_forgets(redis_url: str) -> None:
    seen = tamis.RedisBloomFilter(redis_url + "#window", 1000, window=1.0)
    assert seen.add("a") and not seen.add("a") and seen.window == 1.0
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
