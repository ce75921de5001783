"""The header that ir_metadata (Breuer et al., SIGIR 2022) puts before a run: YAML, in lines that start with #.

Only that header is passed over: elsewhere a # may be part of an id, as in MS MARCO's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain

from surefoot.errors import DataError, shortened

_START, _END = b"# ir_metadata.start", b"# ir_metadata.end"


def without_metadata(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks of whole lines; a line of the header becomes a blank one, so that all others keep their numbers."""
    rest = iter(blocks)
    first = next(rest, b"")
    if first.partition(b"\n")[0].rstrip() != _START:
        yield from chain([first] if first else [], rest)
        return
    number = 0
    for block in chain([first], rest):
        end = 0
        while end < len(block):
            start, end = end, block.find(b"\n", end) + 1 or len(block)
            line, number = block[start:end].strip(), number + 1
            if line == _END:
                yield b"\n" * number
                if end < len(block):
                    yield block[end:]
                yield from rest
                return
            if line and not line.startswith(b"#"):
                raise DataError.at(
                    path,
                    number,
                    f"found {shortened(line.decode(errors='replace'))} in the ir_metadata header, whose lines start "
                    f"with #; end the header with a line '{_END.decode()}'",
                )
    raise DataError.at(path, 1, f"the ir_metadata header does not end; a line '{_END.decode()}' must follow it")
