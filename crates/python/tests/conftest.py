"""What several tests need."""

import os
import shutil
from collections.abc import Iterator

import crawl
import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The program `tamis`: `cargo xtask python` builds it, and sets the variable."""
    return os.environ["TAMIS_PROGRAM"]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A server of its own. Without `redis-server` the tests do nothing, unless it is required."""
    if shutil.which("redis-server") is None:
        assert not os.environ.get("TAMIS_REQUIRE_REDIS"), "redis-server is missing"
        pytest.skip("redis-server is missing")
    with crawl.redis() as (port, _):
        yield f"redis://127.0.0.1:{port}/"
