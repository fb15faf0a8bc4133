"""Bloom and cuckoo filters that threads, processes and machines share."""

from tamis import foreign
from tamis._tamis import (
    BloomFilter,
    CuckooFilter,
    Figures,
    ForeignFilter,
    FormatError,
    Full,
    Plan,
    RedisBloomFilter,
    RedisError,
    RotatingBloomFilter,
    SavedFilter,
    ScalableBloomFilter,
    SharedBloomFilter,
    open,
    plan,
)

__all__ = [
    "BloomFilter",
    "CuckooFilter",
    "Figures",
    "ForeignFilter",
    "FormatError",
    "Full",
    "Plan",
    "RedisBloomFilter",
    "RedisError",
    "RotatingBloomFilter",
    "SavedFilter",
    "ScalableBloomFilter",
    "SharedBloomFilter",
    "foreign",
    "open",
    "plan",
]
