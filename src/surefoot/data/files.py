"""Bytes in and out: compression by file ending, clear errors, and writes that never leave half a file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from surefoot.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_OPEN: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": zstd.open,
}
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, compresslevel=6, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}
_CORRUPT = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError)


def stem(path: str | os.PathLike[str]) -> str:
    """A system's name from its file's: the name without compression and one known ending.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = Path(path).name
    for ending in _OPEN:
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            break
    for ending in (".run", ".trec", ".res", ".results", ".txt", ".tsv", ".csv", ".parquet"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def is_compressed(path: Path) -> bool:
    """Whether the file's ending says that its bytes are compressed."""
    return path.suffix.lower() in _OPEN


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path, if something readable and not empty is there."""
    file = Path(path)
    if file.is_dir():
        raise DataError.at(path, None, "is a folder; give a file")
    try:
        empty = file.stat().st_size == 0 and file.is_file()  # a pipe has no size
    except OSError as error:
        raise DataError.at(path, None, f"cannot be read ({error.strerror or error}); check the name") from error
    if empty:
        raise DataError.at(path, None, "the file is empty; expected at least one line")
    return file


def read_blocks(path: Path, size: int) -> Iterator[bytes]:
    """The file's decompressed bytes in blocks of about `size` that end at a line's end."""
    rest = b""
    try:
        with _OPEN.get(path.suffix.lower(), Path.open)(path, "rb") as file:
            while block := file.read(size):
                end = block.rfind(b"\n") + 1
                if end:
                    yield rest + block[:end] if rest else block[:end]
                    rest = block[end:]
                else:
                    rest += block
    except _CORRUPT as error:
        if path.suffix.lower() not in _OPEN:
            raise DataError.at(path, None, f"cannot be read ({error})") from error
        raise DataError.at(
            path,
            None,
            f"the {path.suffix} data is truncated or corrupt ({error}); fetch or make the file again",
        ) from error
    if rest:
        yield rest


def read_bytes(path: Path) -> bytes:
    """All of the file's bytes, decompressed by its ending."""
    return b"".join(read_blocks(path, size=1 << 24))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place once all was written, and vanishes otherwise."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise DataError.at(path, None, f"cannot be written ({error.strerror or error})") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise DataError.at(path, None, f"cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to in pieces, compressed by the ending of `path`, whose place it takes at the end."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        match Path(path).suffix.lower():
            case ".gz":  # no name and no time, so that the same data gives the same file
                with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as compressed:
                    yield cast(BinaryIO, compressed)
            case ending if ending in _OPEN:
                with _OPEN[ending](file, "wb") as compressed:
                    yield compressed
            case _:
                yield file


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write the bytes, compressed by the file's ending, all or nothing."""
    compress = _COMPRESS.get(Path(path).suffix.lower())
    with replacing(path) as temporary:
        temporary.write_bytes(compress(data) if compress else data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, all or nothing."""
    write_bytes(path, text.encode())


def _umask() -> int:
    # The only way to read the umask is to set it; mkstemp ignores it and makes files private.
    mask = os.umask(0)
    os.umask(mask)
    return mask
