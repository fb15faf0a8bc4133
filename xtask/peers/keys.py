"""Reads the arguments and keys of a reader, and prints its answers."""

import sys


def arguments():
    """Returns the format, the type of keys, the path of the filter, and the keys."""
    _, format, key_type, filter, keys = sys.argv
    with open(keys, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    parse = {
        "utf8": bytes.decode,
        "bytes": lambda line: bytes.fromhex(line.decode()),
        "i32": int,
        "i64": int,
    }[key_type]
    return format, key_type, filter, [parse(line) for line in lines]


def answer(answers):
    """Prints 1 for each key that may be in the filter, and 0 for each other."""
    sys.stdout.write("".join("1" if answer else "0" for answer in answers))
