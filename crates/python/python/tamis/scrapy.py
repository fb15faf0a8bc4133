"""A duplicate filter for Scrapy that takes at most 80 bits per request, and grows.

In the settings of a project::

    DUPEFILTER_CLASS = "tamis.scrapy.DupeFilter"

It needs Scrapy 2.11 or later: ``pip install "tamis[scrapy]"``. See `DupeFilter` for its settings.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.job import job_dir

from tamis import CuckooFilter, Full, RedisBloomFilter, RedisError

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

__all__ = ["DupeFilter"]

logger = logging.getLogger(__name__)

# Each table has this share of the rate. A table is a third of all before it, so that not even
# 10^12 requests need more tables.
_SHARES = 64

# The least capacity of the first table.
_SMALLEST = 1 << 16

# A file in the folder of the tables, if the last run was closed.
_CLOSED = "closed"

# The seconds for which the reactor waits for a server, and those for which a server that has not
# answered is not asked again.
_DEADLINE = 5.0
_PAUSE = 30.0


class _Tables:
    """A set of fingerprints that grows: tables of fixed sizes, of which only the last changes.

    A new table holds a third of the requests so far. At a rate of 1e-9 an item takes 46 bits, so
    all tables take at most 62 bits per request, and 77 while a copy of the last one is saved.
    """

    def __init__(self, capacity: int, rate: float) -> None:
        self._rate = rate
        # Of two threads that add a fingerprint, one gets True. The thread that saves takes no lock.
        self._lock = threading.Lock()
        self._tables: list[CuckooFilter] = []
        # The number of fingerprints in each table.
        self._counts: list[int] = []
        # The number of tables that are saved and do not change any more, and that of the saved
        # fingerprints.
        self._files = 0
        self._saved = 0
        self._capacity = max(capacity, _SMALLEST)

    def load(self, folder: Path) -> None:
        """Load the tables of a folder, if there are any. Raise if one of them is missing."""
        paths = sorted(folder.glob("*.tamis"))
        expected = [_path(folder, number) for number in range(len(paths))]
        if paths != expected:
            raise ValueError(f"{folder} lacks one of its files, or has a foreign one: {paths}")
        for path in paths:
            table = CuckooFilter.load(path)
            self._append(table, table.approx_len())
        self._files = max(len(paths) - 1, 0)
        self._saved = len(self)

    def _append(self, table: CuckooFilter, count: int) -> None:
        self._counts.append(count)
        self._tables.append(table)

    def __len__(self) -> int:
        return sum(self._counts)

    def size(self) -> int:
        """Return the bytes of the tables."""
        return sum(table.__sizeof__() for table in self._tables)

    def add(self, fingerprint: bytes) -> bool:
        """Add a fingerprint. Return True if it is new."""
        with self._lock:
            # The last table first: most links lead to pages that were found lately.
            for table in reversed(self._tables):
                if fingerprint in table:
                    return False
            if not self._tables or self._counts[-1] >= self._tables[-1].capacity:
                self._grow()
            try:
                self._tables[-1].add(fingerprint)
            except Full:
                self._grow()
                self._tables[-1].add(fingerprint)
            self._counts[-1] += 1
            return True

    def _grow(self) -> None:
        capacity = len(self) // 3 if self._tables else self._capacity
        self._append(CuckooFilter(capacity, self._rate / _SHARES), 0)

    def save(self, folder: Path) -> bool:
        """Save what has changed. Return whether anything has. One thread at a time may call it."""
        length = len(self)
        if length == self._saved:
            return False
        folder.mkdir(exist_ok=True)
        # In this order: after a crash there is no gap, and only the last requests are forgotten.
        tables = self._tables[:]
        for number in range(self._files, len(tables)):
            tables[number].save(_path(folder, number))
        self._files = len(tables) - 1
        self._saved = length
        return True

    def expected_losses(self) -> float:
        """Return how many new fingerprints are expected to have been taken for old ones."""
        losses, earlier = 0.0, 0.0
        for table in self._tables:
            figures = table.figures()
            # While the table was filled, its rate rose from 0 in proportion to its requests.
            losses += figures.items * (earlier + figures.rate / 2)
            earlier += figures.rate
        return losses


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:03}.tamis"


class DupeFilter(RFPDupeFilter):
    """Filters the requests that a crawl has seen, by their fingerprints.

    Settings:

    * `TAMIS_CAPACITY` (65536): about how many requests there will be. It grows if there are more.
    * `TAMIS_RATE` (1e-9): the probability that a new request is taken for one seen before, and
      lost. Without `TAMIS_URL` it must be at least 1e-10.
    * `TAMIS_URL`: `redis://host:6379/#name` of a filter in Redis or Valkey, which many machines
      share. Each request then costs a round trip, for which the reactor waits. If the server does
      not answer for 5 seconds, the crawl goes on unfiltered: an error is logged, the server is
      asked again after 30 seconds, and `dupefilter/errors` counts the requests that were let
      through. Pages are then fetched again and again, so a crawl ends only if the server comes
      back, or by a setting such as `CLOSESPIDER_PAGECOUNT`. A server that has come back
      without the filter gets a new one. At the start of a crawl the server must answer, or `open`
      raises. A server that has lost a part of the filter (by eviction) counts as away until the
      filter is deleted: set `maxmemory-policy noeviction`.
    * `TAMIS_SAVE_INTERVAL` (30): seconds from one save to the next, if there is a `JOBDIR`.
    * `DUPEFILTER_DEBUG`: log each duplicate, as in Scrapy's own filter.

    With a `JOBDIR`, it loads what an earlier run of the job has saved. A thread saves it every
    `TAMIS_SAVE_INTERVAL` seconds, and `close` saves the rest. So a crawl that is killed forgets the
    requests since the last save. But Scrapy writes its queue at its end only: of a crawl that was
    killed, the requests that waited are gone, and every filter that remembers them keeps them from being
    fetched. `open` warns of it; delete the folder `requests.tamis` to fetch all pages again.

    A save that fails is logged as an error and counted as `dupefilter/save_errors`; the next one
    tries again. With `TAMIS_URL` nothing is saved, since the server remembers.

    Stats, besides `dupefilter/filtered`, when the spider closes: `dupefilter/requests`,
    `dupefilter/bytes`, and `dupefilter/expected_losses`, the number of pages that are expected to
    be lost to false positives. With `TAMIS_URL` the last is an upper bound, by the server's rate.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        super().__init__(
            None,
            settings.getbool("DUPEFILTER_DEBUG"),
            fingerprinter=crawler.request_fingerprinter,
        )
        self._stats = crawler.stats
        self._capacity = settings.getint("TAMIS_CAPACITY", 65536)
        self._rate = settings.getfloat("TAMIS_RATE", 1e-9)
        self._url = settings.get("TAMIS_URL")
        self._interval = settings.getfloat("TAMIS_SAVE_INTERVAL", 30.0)
        if self._capacity < 0 or not 0 < self._interval <= threading.TIMEOUT_MAX:
            raise ValueError("TAMIS_CAPACITY or TAMIS_SAVE_INTERVAL is out of range")
        if not self._url and not 1e-10 <= self._rate < 1:
            raise ValueError(f"TAMIS_RATE must be from 1e-10 to below 1, and is {self._rate}")
        folder = job_dir(settings)
        self._folder = Path(folder, "requests.tamis") if folder and not self._url else None
        self._tables = _Tables(self._capacity, self._rate)
        self._remote: RedisBloomFilter | None = None
        self._closing = threading.Event()
        self._saver: threading.Thread | None = None
        self._let_through = 0
        # When the server may be asked again.
        self._ask_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open(self) -> None:
        """Load what an earlier run has saved, or connect to the server."""
        if self._url:
            self._remote = self._connected()
        elif self._folder:
            self._tables.load(self._folder)
            self._warn_of_kill()
            # A daemon: a process that does not close its spiders still ends.
            self._saver = threading.Thread(target=self._save_often, name="tamis", daemon=True)
            self._saver.start()

    def request_seen(self, request: Request) -> bool:
        """Return whether the request is a duplicate. Of two threads, one gets False."""
        fingerprint = self.fingerprinter.fingerprint(request)
        if not self._url:
            return not self._tables.add(fingerprint)
        if time.monotonic() >= self._ask_at:
            try:
                # Connect anew after an error: the server may have come back without the filter.
                remote = self._remote or self._connected()
                new = remote.add(fingerprint)
                self._remote = remote
                return not new
            except (RedisError, ValueError) as error:
                # Each question would stop the reactor for seconds. A ValueError: another process
                # has made the filter anew, of another size.
                self._remote, self._ask_at = None, time.monotonic() + _PAUSE
                logger.error("Requests go on unfiltered for %.0f seconds: %s", _PAUSE, error)
        # A page fetched twice is better than a page lost.
        self._let_through += 1
        self._set("dupefilter/errors", self._let_through)
        return False

    def _connected(self) -> RedisBloomFilter:
        """Open the filter of the server, or create it."""
        return RedisBloomFilter(self._url, self._capacity, self._rate, deadline=_DEADLINE)

    def close(self, reason: str) -> None:
        """Save, and set the stats. The reactor waits for it, as it does at `open`."""
        self._closing.set()
        if self._saver:
            self._saver.join()
            self._saver = None
            self._save(closed=True)
        if not self._url:
            self._set("dupefilter/requests", len(self._tables))
            self._set("dupefilter/bytes", self._tables.size())
            self._set("dupefilter/expected_losses", self._tables.expected_losses())
            return
        try:
            remote = self._remote or self._connected()
            items = remote.approx_len()
            self._set("dupefilter/requests", items)
            self._set("dupefilter/expected_losses", items * remote.rate)
        except (RedisError, ValueError) as error:
            logger.error("The server does not tell the number of requests: %s", error)

    def _warn_of_kill(self) -> None:
        """Warn if the earlier run was not closed, and forget that it was."""
        assert self._folder is not None
        closed = self._folder / _CLOSED
        if len(self._tables) and not closed.exists():
            logger.warning(
                "The crawl of %s was not closed. Scrapy has lost the requests that waited, and "
                "they count as duplicates now. To fetch all pages again, delete the folder.",
                self._folder,
            )
        closed.unlink(missing_ok=True)

    def _save_often(self) -> None:
        """What the thread runs."""
        while not self._closing.wait(self._interval):
            self._save()

    def _save(self, closed: bool = False) -> None:
        assert self._folder is not None
        try:
            self._tables.save(self._folder)
            if closed and len(self._tables):
                (self._folder / _CLOSED).touch()
        except Exception:
            logger.exception("%s was not saved", self._folder)
            if self._stats is not None:
                self._stats.inc_value("dupefilter/save_errors")

    def _set(self, name: str, value: float) -> None:
        if self._stats is not None:
            self._stats.set_value(name, value)
