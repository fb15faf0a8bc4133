"""Reads filters with pybloom_live."""

from keys import answer, arguments
from pybloom_live import BloomFilter, ScalableBloomFilter

format, _, path, keys = arguments()
with open(path, "rb") as file:
    filter = (ScalableBloomFilter if format.endswith("scalable") else BloomFilter).fromfile(file)
answer(key in filter for key in keys)
