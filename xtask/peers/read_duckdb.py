"""Reads filters with DuckDB, in the place of the filter of a Parquet file.

pyarrow writes a file whose filter has the length of the given one, which is then written over it, with its header if it
has one.
"""

import math
import os
import tempfile

import duckdb
import pyarrow
import pyarrow.parquet
from keys import answer, arguments

TYPES = {
    "utf8": (pyarrow.string(), "VARCHAR"),
    "bytes": (pyarrow.binary(), "BLOB"),
    "i32": (pyarrow.int32(), "INTEGER"),
    "i64": (pyarrow.int64(), "BIGINT"),
}
# The number of keys in a statement.
BATCH = 250
# The number of the first keys, and of the last, that are rows: a query must hide those that are not in the filter.
SAMPLE = 500


def literal(key, type):
    if isinstance(key, bytes):
        return "'" + "".join(f"\\x{byte:02x}" for byte in key) + "'::BLOB"
    if isinstance(key, str):
        return "'" + key.replace("'", "''") + "'"
    # A negative literal is an expression, and -2147483648 has no positive one: a string has both.
    return f"'{key}'::{type}"


def write_file(path, type, rows, filter, bitset):
    """Writes a file with a column `key` and this filter, of which the last `bitset` bytes are the bits."""
    rate = 0.01
    # The number of keys for which pyarrow needs three quarters of these bytes, and rounds them up to a power of two. For
    # fewer rows it makes a smaller filter.
    count = int(0.75 * bitset * math.log(1 / (1 - rate ** (1 / 8))))
    others = pyarrow.array(range(count)).cast(pyarrow.string())
    others = others if type == pyarrow.string() else others.cast(type)
    column = pyarrow.chunked_array([pyarrow.array(rows, type), others])
    filters = {"key": {"ndv": count, "fpp": rate}}
    table = pyarrow.table({"key": column})
    pyarrow.parquet.write_table(table, path, row_group_size=len(column), bloom_filter_options=filters)
    query = "SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata(?)"
    [(offset, length)] = duckdb.execute(query, [path]).fetchall()
    if length - bitset not in range(15, 19) or len(filter) not in (bitset, length):
        raise SystemExit(f"pyarrow made a filter of {length} bytes for one of {len(filter)}")
    with open(path, "r+b") as file:
        file.seek(offset + length - len(filter))
        file.write(filter)


def probe(path, literals):
    """Returns whether the filter may contain each key."""
    queries = (
        f"SELECT {number}, NOT bloom_filter_excludes FROM parquet_bloom_probe('{path}', 'key', {literal})"
        for number, literal in enumerate(literals)
    )
    found = dict(duckdb.execute(" UNION ALL ".join(queries)).fetchall())
    return [found[number] for number in range(len(literals))]


def query(path, literal):
    """Returns whether a query finds a row with this key. If there is one, only the filter can hide it."""
    query = f"SELECT count(*) FROM read_parquet('{path}') WHERE key = {literal}"
    [(count,)] = duckdb.execute(query).fetchall()
    return count > 0


format, key_type, path, keys = arguments()
with open(path, "rb") as file:
    filter = file.read()
# The length of the bits is a power of two, and a header is short.
bitset = len(filter) if format.endswith("bitset") else 1 << len(filter).bit_length() - 1
arrow_type, duckdb_type = TYPES[key_type]
literals = [literal(key, duckdb_type) for key in keys]
rows = [*range(SAMPLE), *range(len(keys) - SAMPLE, len(keys))] if len(keys) > 2 * SAMPLE else []
answers = []
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "keys.parquet")
    write_file(path, arrow_type, [keys[row] for row in rows], filter, bitset)
    for start in range(0, len(keys), BATCH):
        answers.extend(probe(path, literals[start : start + BATCH]))
    for row in rows:
        if query(path, literals[row]) != answers[row]:
            raise SystemExit(f"a query of {keys[row]!r} does not answer {answers[row]}, as the probe does")
answer(answers)
