"""The compiled module: `tamis` exports what it has."""

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, Self, SupportsIndex, TypeAlias, final, type_check_only

__all__ = [
    "BloomFilter",
    "CuckooFilter",
    "FormatError",
    "Full",
    "RedisError",
    "Figures",
    "ForeignFilter",
    "foreign_formats",
    "read_foreign",
    "Plan",
    "plan",
    "RedisBloomFilter",
    "RotatingBloomFilter",
    "SavedFilter",
    "open",
    "ScalableBloomFilter",
    "SharedBloomFilter",
]

_Path: TypeAlias = str | PathLike[str]
# Without a function `key`: str, bytes, or an int (or what has `__index__`, or a bool of numpy).
_Item: TypeAlias = Any
_Key: TypeAlias = Callable[[Any], str | bytes | SupportsIndex]
_Seed: TypeAlias = int | Literal["random"]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

# A buffer of integers or of bytes of one length is iterable, too.
_Items: TypeAlias = Iterable[_Item] | _ArrowArray | _ArrowStream

class Full(Exception):
    """There is no room for this item, and it was not added. Other items may still fit:
    a filter holds a limited number of copies of one item."""

    results: list[bool]
    """Only after `add_many`: the results before the error."""

class FormatError(ValueError):
    """The bytes are not a saved filter, or not one of the kind asked for."""

class RedisError(Exception):
    """The servers did not do what was asked for."""

    results: list[bool | None]
    """Only after `add_many`: the results before the error. `None` is an item without an answer."""

@final
class Figures:
    """How full a filter is, from a scan of all its bits."""

    @property
    def items(self) -> float:
        """The number of distinct items, estimated from the bits. A cuckoo filter counts its copies."""
    @property
    def fill(self) -> float:
        """The share of the bits or slots that are in use."""
    @property
    def saturation(self) -> float:
        """The items divided by the capacity: above 1, the rate may exceed the one asked for."""
    @property
    def rate(self) -> float:
        """The probability that `in` returns True for an item that was not added."""

@final
class Plan:
    """What a filter takes."""

    @property
    def bits_per_item(self) -> float:
        """The bits of the filter for each item of its capacity."""
    @property
    def size_in_bytes(self) -> int:
        """The size of the filter in bytes."""

@type_check_only
class _Filter:
    """What all filters have. This class and the next two exist for type checkers only."""

    def __contains__(self, item: _Item, /) -> bool:
        """Return whether the filter may contain an item. False is certain."""
    def update(self, *iterables: _Items) -> int:
        """Add all items of the iterables. Return how many were new."""
    def contains_many(self, items: _Items, /) -> memoryview[bool]:
        """Query all items of an iterable. Return a buffer of bools, one per item."""
    def figures(self) -> Figures:
        """Scan the filter. Return its number of items, its fill and its rate."""
    def approx_len(self) -> int:
        """Scan the filter. Return an estimate of its number of items; of copies, the number."""
    def __sizeof__(self) -> int: ...
    def __reduce__(self) -> tuple[object, ...]: ...

@type_check_only
class _Set(_Filter):
    """A filter in which an item is new or not."""

    def add(self, item: _Item, /) -> bool:
        """Add an item. Return True if it is new."""
    def add_many(self, items: _Items, /) -> memoryview[bool]:
        """Add all items of an iterable. Return a buffer of bools: which were new."""

@type_check_only
class _Saved:
    """A filter that can be saved."""

    def save(self, path: _Path, /) -> None:
        """Save the filter in a file. A file of that name is replaced when all is written."""
    def to_bytes(self) -> bytes:
        """Return the bytes of a file that holds the filter."""

@final
class BloomFilter(_Set, _Saved):
    """A set of items that takes a few bits per item: 12 at a rate of 1 %, 41 at 1e-6."""

    def __new__(
        cls,
        capacity: int,
        rate: float = 0.01,
        *,
        seed: _Seed = 0,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """The number of distinct items that the filter was built for."""
    @property
    def rate(self) -> float:
        """The false-positive rate once `capacity` items are in the filter."""
    @staticmethod
    def load(path: _Path, /, *, key: _Key | None = None) -> BloomFilter:
        """Load a filter of this class from a file. `tamis.open` loads one of any class."""
    @staticmethod
    def from_bytes(data: bytes, /, key: _Key | None = None) -> BloomFilter:
        """Return the filter of which `to_bytes` returned these bytes."""
    def copy(self) -> BloomFilter:
        """Return a copy."""
    def clear(self) -> None:
        """Remove all items. An item that another thread adds meanwhile is removed or not."""
    def __or__(self, other: BloomFilter, /) -> BloomFilter:
        """Return a filter with the items of both, which must have the same size and seed."""
    def __ror__(self, other: BloomFilter, /) -> BloomFilter: ...
    def __ior__(self, other: BloomFilter, /) -> Self:
        """Add the items of another filter of the same size and seed."""

@final
class ScalableBloomFilter(_Set, _Saved):
    """A set of items that takes a few bits per item, and grows while threads use it."""

    def __new__(
        cls,
        capacity: int = 65536,
        rate: float = 0.01,
        *,
        max_capacity: int | None = None,
        seed: _Seed = 0,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """The number of distinct items that the filter holds before it grows again."""
    @staticmethod
    def load(path: _Path, /, *, key: _Key | None = None) -> ScalableBloomFilter:
        """Load a filter of this class from a file. `tamis.open` loads one of any class."""
    @staticmethod
    def from_bytes(data: bytes, /, key: _Key | None = None) -> ScalableBloomFilter:
        """Return the filter of which `to_bytes` returned these bytes."""

@final
class CuckooFilter(_Filter, _Saved):
    """A multiset of items, from which items can be removed."""

    def __new__(
        cls,
        capacity: int,
        rate: float = 0.01,
        *,
        max_capacity: int | None = None,
        seed: _Seed = 0,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """The number of copies that the filter was built for, growth included."""
    def add(self, item: _Item, /) -> None:
        """Add a copy of an item. Raise `tamis.Full` if there is no room."""
    def discard(self, item: _Item, /) -> bool:
        """Remove a copy of an item. Return whether there was one. Remove only what was added."""
    def remove(self, item: _Item, /) -> None:
        """Remove a copy of an item. Raise KeyError if there is none. Remove only what was added."""
    def count(self, item: _Item, /) -> int:
        """Return the number of copies of an item and of the items that look the same to the filter."""
    def update(self, *iterables: _Items) -> int:
        """Add all items of the iterables. Return how many were new.

        (Of a `CuckooFilter`: how many copies were added. If there is no room for one, raise
        `tamis.Full`, and add none after it.)
        """
    @staticmethod
    def load(path: _Path, /, *, key: _Key | None = None) -> CuckooFilter:
        """Load a filter of this class from a file. `tamis.open` loads one of any class."""
    @staticmethod
    def from_bytes(data: bytes, /, key: _Key | None = None) -> CuckooFilter:
        """Return the filter of which `to_bytes` returned these bytes."""

@final
class RotatingBloomFilter(_Set, _Saved):
    """The items of a window: the last `capacity` distinct items, or those of the last `span` seconds."""

    def __new__(
        cls,
        capacity: int,
        span: float | None = None,
        rate: float = 0.01,
        *,
        seed: _Seed = 0,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """The number of distinct items of a window."""
    def add_or_refresh(self, item: _Item, /) -> bool:
        """Add an item, or make it stay for the whole window from now on. Return True if it is new."""
    def clear(self) -> None:
        """Remove all items."""
    @staticmethod
    def load(path: _Path, /, *, key: _Key | None = None) -> RotatingBloomFilter:
        """Load a filter of this class from a file. `tamis.open` loads one of any class."""
    @staticmethod
    def from_bytes(data: bytes, /, key: _Key | None = None) -> RotatingBloomFilter:
        """Return the filter of which `to_bytes` returned these bytes."""

@final
class SharedBloomFilter(_Set):
    """A set of items in a file that any number of processes use at once."""

    def __new__(
        cls,
        path: _Path,
        capacity: int | None = None,
        rate: float | None = None,
        *,
        seed: _Seed = 0,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def path(self) -> Path:
        """The path of the file."""
    @property
    def capacity(self) -> int:
        """The number of distinct items that the filter was built for."""
    @property
    def rate(self) -> float:
        """The false-positive rate once `capacity` items are in the filter."""
    @property
    def bits(self) -> int:
        """The number of bits of the filter."""
    def save(self, path: _Path, /) -> None:
        """Save the filter in another file, which `BloomFilter.load` reads."""
    def flush(self) -> None:
        """Wait until all changes are on the disk. Only a crash of the system needs it."""
    @staticmethod
    def _open(path: _Path, key: _Key | None) -> SharedBloomFilter: ...

@final
class RedisBloomFilter(_Set):
    """A set of items in Redis or Valkey that any number of machines use at once."""

    def __new__(
        cls,
        url: str,
        capacity: int | None = None,
        rate: float | None = None,
        *,
        window: float | None = None,
        grows: bool = True,
        shards: int | None = None,
        seed: _Seed | None = None,
        deadline: float | None = None,
        key: _Key | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """The number of distinct items that the filter was made for; with a window, of a window."""
    @property
    def rate(self) -> float:
        """The false-positive rate that the filter was made for."""
    @property
    def window(self) -> float | None:
        """The seconds for which an item is remembered at least, or None: for ever."""
    @staticmethod
    def destroy(url: str, /, *, deadline: float | None = None) -> None:
        """Delete the filter of a URL from its servers."""
    @staticmethod
    def _open(url: str, deadline: float | None, key: _Key | None) -> RedisBloomFilter: ...

@final
class SavedFilter(_Set, _Saved):
    """A saved filter of a type that has no class of its own: `kind` says which."""

    @property
    def kind(self) -> str:
        """The type of the filter in Rust."""
    @property
    def capacity(self) -> int:
        """The number of items that the filter was built for."""
    @staticmethod
    def load(path: _Path, /, *, key: _Key | None = None) -> SavedFilter:
        """Load a filter of this class from a file. `tamis.open` loads one of any class."""
    @staticmethod
    def from_bytes(data: bytes, /, key: _Key | None = None) -> SavedFilter:
        """Return the filter of which `to_bytes` returned these bytes."""

@final
class ForeignFilter:
    """A filter that another system wrote."""

    @property
    def format(self) -> str:
        """The name of the format."""
    @property
    def parameters(self) -> dict[str, int]:
        """The numbers that the system stores, each with its name."""
    def __contains__(self, item: _Item, /) -> bool: ...
    def contains_many(self, items: Iterable[_Item], /) -> memoryview[bool]:
        """Query all items of an iterable. Return a buffer of bools, one per item."""
    def rate(self) -> float:
        """Scan the filter. Return its false-positive rate."""
    def to_bytes(self) -> bytes:
        """Return the bytes that the other system reads."""
    def __sizeof__(self) -> int: ...

def open(
    path: _Path, /, *, key: _Key | None = None
) -> (
    BloomFilter
    | ScalableBloomFilter
    | CuckooFilter
    | RotatingBloomFilter
    | SharedBloomFilter
    | SavedFilter
    | ForeignFilter
):
    """Open any saved filter: the class of the result follows from the file."""

def plan(capacity: int, rate: float = 0.01) -> dict[str, Plan | None]:
    """Return what each class of a fixed size takes, or None if it cannot have the rate."""

def read_foreign(
    source: bytes | _Path, format: str, /, *, column: str | None = None, key: _Key | None = None
) -> ForeignFilter:
    """Read a filter that another system wrote, from a file or from bytes."""

def foreign_formats() -> list[str]:
    """The names of the formats that `read_foreign` knows."""
