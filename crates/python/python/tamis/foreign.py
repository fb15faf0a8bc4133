"""Filters that other systems wrote: rbloom, pybloom_live, Guava, Spark, Parquet and others."""

from tamis._tamis import ForeignFilter, foreign_formats
from tamis._tamis import read_foreign as read

__all__ = ["ForeignFilter", "formats", "read"]

#: The names of the formats that `read` knows.
formats: tuple[str, ...] = tuple(foreign_formats())
