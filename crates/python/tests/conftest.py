"""What several tests need."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The program `tamis`: `cargo xtask python` builds it, and sets the variable."""
    return os.environ["TAMIS_PROGRAM"]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A server of its own. Without `redis-server` the tests do nothing, unless it is required."""
    server = shutil.which("redis-server")
    if server is None:
        assert not os.environ.get("TAMIS_REQUIRE_REDIS"), "redis-server is missing"
        pytest.skip("redis-server is missing")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["--port", str(port), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]
    process = subprocess.Popen([server, *arguments], stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()
