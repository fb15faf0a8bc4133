"""Files of Python in the program `tamis` and in Rust, and back: the same answers, also the wrong."""

import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tamis

LINES = [f"https://example.org/é/{number}" for number in range(20_000)]
ADDED = LINES[:1000]
GOLDEN = Path(__file__).parents[2] / "vectors" / "data" / "python"


def run(program: str, *arguments: object, lines: list[str]) -> list[str]:
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        [program, *map(str, arguments)], input=text.encode(), capture_output=True, check=True
    )
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("once", "BloomFilter"),
        ("cuckoo", "CuckooFilter"),
        ("scalable-cuckoo", "CuckooFilter"),
        ("rotating", "RotatingBloomFilter"),
        ("bloom", "SavedFilter"),
        ("blocked", "SavedFilter"),
        ("counting", "SavedFilter"),
        ("scalable", "ScalableBloomFilter"),
    ],
)
def test_open_answers_as_the_program(program: str, tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "seen"
    size = ["--window", "2000"] if kind == "rotating" else ["--capacity", "1000"]
    run(program, "build", "-o", path, "--kind", kind, "--rate", "0.01", *size, lines=ADDED)
    seen = tamis.open(path)
    assert type(seen).__name__ == name
    answers = run(program, "query", path, lines=LINES)
    assert [line for line in LINES if line in seen] == answers and len(answers) >= 1000
    again = pickle.loads(pickle.dumps(seen))
    assert repr(again) == repr(seen)
    again.add("new")
    assert "new" in again and again.contains_many(ADDED).nbytes == 1000


@pytest.mark.parametrize(
    "make",
    [
        lambda: tamis.BloomFilter(1000, 0.01),
        lambda: tamis.BloomFilter(1000, 0.01, seed="random"),
        lambda: tamis.BloomFilter(1000, 0.001, seed=7),
        lambda: tamis.ScalableBloomFilter(100, 0.01),
        lambda: tamis.CuckooFilter(1000, 0.01),
        lambda: tamis.RotatingBloomFilter(1000, None, 0.01),
    ],
)
def test_the_program_answers_as_python(
    program: str, tmp_path: Path, make: Callable[[], tamis.BloomFilter]
) -> None:
    seen = make()
    seen.update(ADDED)
    seen.save(tmp_path / "seen")
    answers = [line for line in LINES if line in seen]
    assert len(answers) > 1000
    assert run(program, "query", tmp_path / "seen", lines=LINES) == answers


@pytest.mark.parametrize("name", ["str", "bytes", "int"])
def test_the_bytes_are_those_that_rust_makes(name: str) -> None:
    """`crates/vectors/tests` builds the same filters in Rust, and compares them with these files."""
    seen = tamis.BloomFilter(1000, 0.01)
    for number in range(250):
        if name == "str":
            seen.add(f"é {number}")
        elif name == "bytes":
            seen.add(bytes([number, 255]))
        else:
            sign = -1 if number % 2 else 1
            seen.add(sign * (1 << number // 2))
    assert seen.to_bytes() == (GOLDEN / f"{name}.tamis").read_bytes()
