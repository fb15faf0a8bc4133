"""Crawls a site on loopback with one of the duplicate filters, stops it or kills it, and resumes.

    python tests/crawl.py                  # 5,000 pages, each filter: the tables of the README
    python tests/crawl.py --pages 300

It counts at the server which pages were fetched, and how often. `test_scrapy.py` calls it, too.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILTERS = {
    "tamis": "tamis.scrapy.DupeFilter",
    "tamis, Redis": "tamis.scrapy.DupeFilter",
    "Scrapy's set": "scrapy.dupefilters.RFPDupeFilter",
    "scrapy-redis-bloomfilter": "scrapy_redis_bloomfilter.dupefilter.RFPDupeFilter",
}


def links(page: int, pages: int) -> list[int]:
    """The children of a page in a tree, so that each page is reached, and 20 pages at random."""
    children = [child for child in range(3 * page + 1, 3 * page + 4) if child < pages]
    digest = hashlib.sha512(str(page).encode()).digest()
    return children + [int.from_bytes(digest[i : i + 3], "big") % pages for i in range(20)]


def serve(pages: int, log: str, limit: str) -> None:
    """A server of the site, which writes the number of each page that it is asked for into the log.

    While there is a file `limit` with a number, it sends no page after that many.
    """
    import asyncio

    fetched = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    count = 0

    def is_withheld(number: int) -> bool:
        try:
            return number > int(Path(limit).read_text())
        except FileNotFoundError:
            return False

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                page = int(head.split(b" ", 2)[1].strip(b"/"))
                os.write(fetched, b"%d\n" % page)
                count += 1
                number = count
                while is_withheld(number):
                    await asyncio.sleep(0.01)
                body = "".join(f'<a href="/{link}">{link}</a>\n' for link in links(page, pages))
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(body), body.encode())
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


def crawl(port: int, settings: dict[str, Any]) -> None:
    """Crawl the site, and print the stats."""
    import re

    import scrapy
    from scrapy.crawler import CrawlerProcess

    class Spider(scrapy.Spider):
        name = "site"

        async def start(self):  # type: ignore[no-untyped-def]
            yield scrapy.Request(f"http://127.0.0.1:{port}/0")

        def parse(self, response):  # type: ignore[no-untyped-def]
            for link in re.findall(rb'href="/(\d+)"', response.body):
                yield scrapy.Request(f"http://127.0.0.1:{port}/{int(link)}")

    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "RETRY_ENABLED": False,
            **settings,
        }
    )
    crawler = process.create_crawler(Spider)
    process.crawl(crawler)
    process.start()
    stats = crawler.stats.get_stats()  # type: ignore[union-attr]
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wanted = {name: value for name, value in stats.items() if name.startswith("dupefilter/")}
    print(json.dumps({**wanted, "MiB": kib / 1024, "seconds": stats.get("elapsed_time_seconds")}))


def start(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Run this file with these arguments. SIGINT is not ignored, whatever the caller ignores."""
    return subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


@contextmanager
def redis(port: int = 0) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A server of Redis: its port, and its process. Without a port it gets a free one."""
    # Another program may take a free port before the server does, which then ends.
    for _ in range(1 if port else 10):
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
            chosen = free.getsockname()[1]
        server = subprocess.Popen(
            ["redis-server", "--port", str(chosen), "--save", "", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        try:
            if is_ready(chosen, server):
                yield chosen, server
                return
        finally:
            server.kill()
            server.wait()
    raise RuntimeError("redis-server does not start")


def is_ready(port: int, server: subprocess.Popen[bytes]) -> bool:
    """Wait until this server, and no other, answers at the port. Return False if it has ended."""
    for _ in range(600):
        if server.poll() is not None:
            return False
        try:
            if f"process_id:{server.pid}\r\n" in ask(port, "INFO server"):
                return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def ask(port: int, command: str) -> str:
    """What a server of Redis replies."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(f"{command}\r\nQUIT\r\n".encode())
        parts = iter(lambda: connection.recv(1 << 16), b"")
        return b"".join(parts).decode(errors="replace")


def used_memory(port: int) -> float:
    """The MiB that a server of Redis used at most."""
    return int(ask(port, "INFO memory").split("used_memory_peak:")[1].split()[0]) / 2**20


class Site:
    """The server of a site, and what it has sent."""

    def __init__(self, pages: int, folder: Path) -> None:
        self.pages = pages
        self.folder = folder
        self.log = folder / "fetched"
        self.limit = folder / "limit"
        self.server = start(["serve", str(pages), str(self.log), str(self.limit)])
        assert self.server.stdout
        self.port = int(self.server.stdout.readline())

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.kill()
        self.server.wait()

    def fetched(self) -> collections.Counter[int]:
        text = self.log.read_text() if self.log.exists() else ""
        return collections.Counter(map(int, text.split()))

    def counts(self) -> tuple[int, int]:
        """How many pages were fetched more than once, and how many never."""
        fetched = self.fetched()
        return sum(count > 1 for count in fetched.values()), self.pages - len(fetched)

    @contextmanager
    def withheld(self, fetches: int) -> Iterator[None]:
        """Until the end, the site sends no page after this many: no crawl gets further."""
        self.limit.write_text(str(fetches))
        try:
            yield
        finally:
            self.limit.unlink()

    def start(self, settings: dict[str, Any]) -> subprocess.Popen[bytes]:
        return start(["crawl", str(self.port), json.dumps(settings)])

    def crawl(self, settings: dict[str, Any]) -> dict[str, float]:
        """Crawl to the end, and return the stats."""
        process = self.start(settings)
        out = process.communicate()[0]
        assert process.returncode == 0, process.returncode
        stats: dict[str, float] = json.loads(out.splitlines()[-1])
        return stats

    def stop(self, settings: dict[str, Any], number: signal.Signals, fetches: int) -> None:
        """Crawl until this number of pages is fetched, and send a signal."""
        with self.withheld(fetches):
            process = self.start(settings)
            while self.fetched().total() < fetches:
                assert process.poll() is None, "the crawl has ended too early"
                time.sleep(0.002)
            process.send_signal(number)
        process.wait()


def settings_of(name: str, job: Path | None) -> dict[str, Any]:
    settings: dict[str, Any] = {"DUPEFILTER_CLASS": FILTERS[name]}
    if job:
        settings["JOBDIR"] = str(job)
    return settings


def interrupted(name: str, pages: int, number: signal.Signals, interval: float) -> tuple[int, int]:
    """Interrupt a crawl at 40 % of the pages, and resume it. Return the counts."""
    with tempfile.TemporaryDirectory() as path, Site(pages, Path(path)) as site:
        settings = settings_of(name, Path(path, "job")) | {"TAMIS_SAVE_INTERVAL": interval}
        site.stop(settings, number, pages * 2 // 5)
        site.crawl(settings)
        return site.counts()


def uninterrupted(name: str, pages: int) -> dict[str, float]:
    """Crawl once. Return the seconds, and the MiB of the crawler and of the server of Redis."""
    with tempfile.TemporaryDirectory() as path, Site(pages, Path(path)) as site:
        settings = settings_of(name, None)
        if "edis" not in name:
            stats = site.crawl(settings)
        else:
            with redis() as (port, _):
                url = f"redis://127.0.0.1:{port}/"
                settings["REDIS_URL"] = url
                if name.startswith("tamis"):
                    settings["TAMIS_URL"] = url + "#seen"
                stats = site.crawl(settings)
                stats["Redis MiB"] = used_memory(port)
        assert site.counts() == (0, 0), (name, site.counts())
        return stats


def filter_alone(name: str, requests: int) -> None:
    """Print the microseconds and bytes per request of the filter, without a crawl."""
    from scrapy.settings import Settings
    from scrapy.utils.misc import load_object
    from scrapy.utils.test import get_crawler

    settings = settings_of(name, None)
    crawler = get_crawler(settings_dict=settings)
    filter = load_object(settings["DUPEFILTER_CLASS"]).from_crawler(crawler)
    fingerprints = [hashlib.sha1(b"%d" % number).digest() for number in range(10_000)]

    class Fingerprinter:
        # Stands for Scrapy's, which takes some ten times as long.
        def fingerprint(self, request: int) -> bytes:
            block, number = divmod(request, 10_000)
            return bytes([block % 256, block // 256]) + fingerprints[number][2:]

    filter.fingerprinter = Fingerprinter()
    filter.open()
    with open("/proc/self/statm") as statm:
        before = int(statm.read().split()[1])
    began = time.perf_counter()
    for request in range(requests):
        assert not filter.request_seen(request)
    seconds = time.perf_counter() - began
    with open("/proc/self/statm") as statm:
        after = int(statm.read().split()[1])
    bytes_of_it = (after - before) * os.sysconf("SC_PAGESIZE")
    print(json.dumps({"us": seconds / requests * 1e6, "bytes": bytes_of_it / requests}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--requests", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    pages = options.pages
    print(f"{pages} pages, interrupted at 40 % and resumed: fetched twice, lost")
    for number in (signal.SIGINT, signal.SIGKILL):
        for name, interval in (("tamis", 1.0), ("tamis", 30.0), ("Scrapy's set", 1.0)):
            twice, lost = interrupted(name, pages, number, interval)
            saved = f" saved each {interval:.0f} s" if name == "tamis" else ""
            print(f"  {number.name:8} {name + saved:25} {twice:6} {lost:6}", flush=True)
    print(f"{pages} pages: seconds, MiB of the crawler, MiB of Redis (medians of {options.runs})")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in FILTERS}
    for _ in range(options.runs):
        for name in FILTERS:
            if "edis" not in name or shutil.which("redis-server"):
                try:
                    runs[name].append(uninterrupted(name, pages))
                except AssertionError as error:
                    print(f"  {name} failed: {error}")
    for name, stats in runs.items():
        if stats:
            keys = ("seconds", "MiB", "Redis MiB")
            middle = [sorted(run.get(key, 0) for run in stats)[len(stats) // 2] for key in keys]
            print(f"  {name:25}" + " ".join(f"{value:8.1f}" for value in middle))
    print(f"{options.requests} requests without a crawl: microseconds and bytes per request")
    for name in ("tamis", "Scrapy's set"):
        process = start(["alone", name, str(options.requests)])
        out = json.loads(process.communicate()[0])
        print(f"  {name:25} {out['us']:6.2f} {out['bytes']:6.1f}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", pages, log, limit]:
            serve(int(pages), log, limit)
        case ["crawl", port, settings]:
            crawl(int(port), json.loads(settings))
        case ["alone", name, requests]:
            filter_alone(name, int(requests))
        case _:
            main()
