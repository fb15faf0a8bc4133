"""`tamis.scrapy`: the filter alone, and crawls of a site on loopback that are interrupted."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import crawl
import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

import tamis
from tamis import scrapy as module
from tamis.scrapy import DupeFilter


def fingerprints(start: int, stop: int) -> list[bytes]:
    return [hashlib.sha1(b"%d" % number).digest() for number in range(start, stop)]


def opened(**settings: Any) -> DupeFilter:
    filter = DupeFilter.from_crawler(get_crawler(settings_dict=settings))
    filter.open()
    return filter


def seen(filter: DupeFilter, page: int) -> bool:
    return filter.request_seen(Request(f"http://example.org/{page}"))


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALLEST", 1000)


def test_it_grows_within_80_bits_per_request_and_forgets_none(tmp_path: Path) -> None:
    tables = module._Tables(0, 1e-9)
    numbers = fingerprints(0, 400_000)
    for count, number in enumerate(numbers, 1):
        # Fixed fingerprints and a fixed hash function: if none is lost here, none is ever.
        assert tables.add(number)
        if count >= module._SMALLEST and count % 1000 == 0:
            # With the copy of the last table that a save makes.
            assert 8 * (tables.size() + tables._tables[-1].__sizeof__()) / count <= 80
    assert len(tables._tables) > 5 and len(tables) == 400_000
    assert not any(map(tables.add, numbers))
    # Each table has its share of the rate, which is about 1/64 of 1e-9.
    assert 0 < tables.expected_losses() < 400_000 * 1e-9
    tables.save(tmp_path)
    loaded = module._Tables(0, 1e-9)
    loaded.load(tmp_path)
    assert loaded._counts == tables._counts
    assert loaded.expected_losses() == tables.expected_losses()
    assert not any(map(loaded.add, numbers))


def test_a_save_writes_only_the_tables_that_have_changed(
    small_tables: None, tmp_path: Path
) -> None:
    tables = module._Tables(1000, 1e-9)
    for number in fingerprints(0, 1500):
        assert tables.add(number)
    assert tables.save(tmp_path) and not tables.save(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["000.tamis", "001.tamis", "002.tamis"]
    for name in os.listdir(tmp_path):
        (tmp_path / name).unlink()
    # The third changes until it is full, and is written for the last time.
    for number in fingerprints(1500, 2000):
        assert tables.add(number)
    assert tables.save(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["002.tamis", "003.tamis"]
    (tmp_path / "002.tamis").unlink()
    assert tables.add(b"another") and tables.save(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["003.tamis"]


def test_of_racing_threads_one_is_told_that_a_request_is_new(small_tables: None) -> None:
    tables = module._Tables(0, 1e-9)
    numbers = fingerprints(0, 20_000)
    new: list[int] = []

    def add(thread: int) -> None:
        new.extend(filter(lambda n: tables.add(numbers[n]), range(20_000)[:: 1 - thread % 2 * 2]))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == list(range(20_000))


def test_a_job_that_was_killed_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = str(tmp_path)
    first = opened(JOBDIR=job)
    seen(first, 1)
    first.close("finished")
    killed = opened(JOBDIR=job)
    assert "was not closed" not in caplog.text
    seen(killed, 2)
    assert seen(opened(JOBDIR=job), 1)
    assert "was not closed" in caplog.text


def test_a_resumed_job_remembers_and_the_stats_tell(tmp_path: Path) -> None:
    job = str(tmp_path / "job")
    first = opened(JOBDIR=job)
    assert [seen(first, page) for page in (1, 2, 1)] == [False, False, True]
    # The fingerprint is Scrapy's: of the URL in its canonical form.
    assert first.request_seen(Request("http://example.org/1#part"))
    first.close("finished")
    again = opened(JOBDIR=job)
    assert [seen(again, page) for page in (1, 2, 3)] == [True, True, False]
    again.close("finished")
    stats = again._stats.get_stats()
    assert stats["dupefilter/requests"] == 3
    assert stats["dupefilter/bytes"] < 400_000
    assert 0 < stats["dupefilter/expected_losses"] < 1e-9


def test_the_log_counts_what_was_filtered() -> None:
    crawler = get_crawler()
    crawler.spider = crawler._create_spider("site")
    filter = DupeFilter.from_crawler(crawler)
    filter.log(Request("http://example.org/"), crawler.spider)
    assert crawler.stats.get_value("dupefilter/filtered") == 1


def test_a_save_that_fails_is_told_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = tmp_path / "job"
    filter = opened(JOBDIR=str(job), TAMIS_SAVE_INTERVAL=0.01)
    # A file is where the folder should be.
    (job / "requests.tamis").write_bytes(b"")
    assert not seen(filter, 1)
    while not filter._stats.get_value("dupefilter/save_errors"):
        time.sleep(0.01)
    assert any(record.levelno == logging.ERROR for record in caplog.records)
    (job / "requests.tamis").unlink()
    filter.close("finished")
    assert seen(opened(JOBDIR=str(job)), 1)


def test_files_that_are_missing_or_damaged_are_not_ignored(
    small_tables: None, tmp_path: Path
) -> None:
    tables = module._Tables(0, 1e-9)
    for number in fingerprints(0, 3000):
        assert tables.add(number)
    folder = tmp_path / "requests.tamis"
    tables.save(folder)
    damaged = (folder / "001.tamis").read_bytes()
    (folder / "001.tamis").write_bytes(damaged[:-1])
    with pytest.raises(tamis.FormatError):
        opened(JOBDIR=str(tmp_path))
    (folder / "001.tamis").unlink()
    with pytest.raises(ValueError, match="lacks"):
        opened(JOBDIR=str(tmp_path))


@pytest.mark.parametrize(
    "settings",
    [
        {"TAMIS_RATE": 1e-12},
        {"TAMIS_RATE": 1},
        {"TAMIS_RATE": "nan"},
        {"TAMIS_CAPACITY": -1},
        {"TAMIS_SAVE_INTERVAL": 0},
        {"TAMIS_SAVE_INTERVAL": "inf"},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        opened(**settings)


@pytest.mark.parametrize("rate", [1e-10, 1e-9, 1e-3, 0.5])
def test_the_rates_that_the_settings_allow_can_be_had(rate: float) -> None:
    for capacity in (0, 1 << 24):
        assert not seen(opened(TAMIS_RATE=rate, TAMIS_CAPACITY=capacity), 1)


def test_machines_share_a_filter_in_redis(redis_url: str) -> None:
    one, two = (opened(TAMIS_URL=redis_url + "#crawl") for _ in range(2))
    assert [seen(one, 1), seen(two, 1), seen(two, 2), seen(one, 2)] == [False, True, False, True]
    one.close("finished")
    assert one._stats.get_value("dupefilter/requests") == 2
    assert one._stats.get_value("dupefilter/expected_losses") == pytest.approx(2e-9)


def test_without_the_server_requests_go_on(caplog: pytest.LogCaptureFixture) -> None:
    class Gone:
        def add(self, item: bytes) -> bool:
            raise tamis.RedisError("the connection is closed")

    filter = DupeFilter.from_crawler(get_crawler(settings_dict={"TAMIS_URL": "redis://h/#n"}))
    filter._remote = Gone()  # type: ignore[assignment]
    assert [seen(filter, 1), seen(filter, 1)] == [False, False]
    assert filter._stats.get_value("dupefilter/errors") == 2
    assert "unfiltered" in caplog.text


def test_a_server_that_comes_back_without_the_filter_gets_a_new_one(
    monkeypatch: pytest.MonkeyPatch, redis_url: str
) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    monkeypatch.setattr(module, "_DEADLINE", 60.0)
    with crawl.redis() as (port, server):
        filter = opened(TAMIS_URL=f"redis://127.0.0.1:{port}/#crawl")
        assert [seen(filter, 1), seen(filter, 1)] == [False, True]
        server.kill()
        server.wait()
        # The connection that is closed would be tried again for a minute.
        filter._remote = None
        monkeypatch.setattr(module, "_DEADLINE", 0.1)
        assert [seen(filter, 1), seen(filter, 1)] == [False, False]
    monkeypatch.setattr(module, "_DEADLINE", 60.0)
    with crawl.redis(port):
        assert [seen(filter, 1), seen(filter, 1), seen(filter, 1)] == [False, True, True]
        assert filter._stats.get_value("dupefilter/errors") == 2
        filter.close("finished")
        assert filter._stats.get_value("dupefilter/requests") == 1


def test_a_filter_that_was_made_anew_of_another_size_loses_no_request(redis_url: str) -> None:
    with crawl.redis() as (port, _):
        filter = opened(TAMIS_URL=f"redis://127.0.0.1:{port}/#crawl")
        assert not seen(filter, 1)
        # As if the server had lost the filter, and another process had made this one.
        filter._remote, filter._rate = None, filter._rate / 10
        assert [seen(filter, 1), seen(filter, 1)] == [False, False]
        assert filter._stats.get_value("dupefilter/errors") == 2
        filter.close("finished")


def test_a_crawl_goes_on_when_its_server_is_killed(tmp_path: Path, redis_url: str) -> None:
    with crawl.Site(300, tmp_path) as site, crawl.redis() as (port, server):
        settings = crawl.settings_of("tamis, Redis", None)
        settings["TAMIS_URL"] = f"redis://127.0.0.1:{port}/#crawl"
        # Without a filter, a crawl of a site with circles does not end by itself.
        settings["CLOSESPIDER_PAGECOUNT"] = 600
        with site.withheld(100):
            process = site.start(settings)
            while site.fetched().total() < 100:
                assert process.poll() is None
                time.sleep(0.002)
            server.kill()
        stats = json.loads(process.communicate(timeout=300)[0].splitlines()[-1])
        assert process.returncode == 0
        assert site.fetched().total() >= 600 and site.counts()[0] > 0
        assert stats["dupefilter/errors"] > 0 and "dupefilter/requests" not in stats


def test_a_crawl_that_is_stopped_and_resumed_fetches_each_page_once() -> None:
    assert crawl.interrupted("tamis", 300, signal.SIGINT, 30) == (0, 0)


def test_a_crawl_that_is_killed_before_a_save_loses_no_page() -> None:
    twice, lost = crawl.interrupted("tamis", 300, signal.SIGKILL, 1000)
    assert twice >= 1 and lost == 0


def test_a_crawl_that_is_killed_while_it_saves_leaves_a_filter() -> None:
    with tempfile.TemporaryDirectory() as path, crawl.Site(300, Path(path)) as site:
        job = Path(path, "job")
        settings = crawl.settings_of("tamis", job) | {"TAMIS_SAVE_INTERVAL": 0.001}
        with site.withheld(150):
            process = site.start(settings)
            while not (job / "requests.tamis" / "000.tamis").exists():
                assert process.poll() is None
                time.sleep(0.001)
            process.kill()
        process.wait()
        tables = module._Tables(0, 1e-9)
        tables.load(job / "requests.tamis")
        assert len(tables) > 0
        site.crawl(settings)
