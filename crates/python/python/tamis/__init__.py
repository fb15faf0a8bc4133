"""Bloom and cuckoo filters that threads, processes and machines share."""

from tamis._tamis import BloomFilter, Figures, FormatError, Full

__all__ = ["BloomFilter", "Figures", "FormatError", "Full"]
