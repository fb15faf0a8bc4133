"""`python -m tamis.bench`: it runs, with some of the other libraries."""

import subprocess
import sys
import xml.dom.minidom
from pathlib import Path


def test_the_benchmark_measures_what_is_installed(tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    arguments = ["--items", "2000", "--runs", "1", "--chart", str(chart)]
    command = [sys.executable, "-m", "tamis.bench", *arguments]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line for line in out.splitlines() if line.startswith("| ")]
    # Each row has all columns; rbloom and abloom are installed for other tests.
    assert {row.count("|") for row in rows} == {9}
    names = [row.split()[1] for row in rows]
    assert {"tamis", "rbloom", "abloom", "`set`"} <= set(names)
    assert "Not installed: " in out or "pyprobables" in names
    assert xml.dom.minidom.parse(str(chart)).getElementsByTagName("rect").length > 8
