"""A terminal for a child process, and what a person in front of it sees."""

import os
import pty
import threading
from contextlib import contextmanager


@contextmanager
def terminal():
    """(slave, seen): a file number for a child's stderr, and the list that fills with its output.

    The output is whole once the block has ended.
    """
    master, slave = pty.openpty()
    seen = []

    def read():
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                return
            if not data:
                return
            seen.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield slave, seen
    finally:
        os.close(slave)
        reader.join(timeout=30)
        os.close(master)
