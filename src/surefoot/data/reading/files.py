"""Files in: compression by file ending, blocks of whole lines, strict JSON (no NaN, no name twice), clear errors."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

from surefoot.data.reading.limits import LONGEST_LINE, check_growth, most_bytes, stored_bytes, too_large
from surefoot.errors import DataError, shortened

# The formats that endings stand for; files with any other ending are lines.
FORMAT_OF_ENDING = {
    ".parquet": "parquet", ".parq": "parquet", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "table",
}  # fmt: skip
# What a system's name does not end in.
_ENDINGS_OF_LINES_FILES = (".run", ".trec", ".res", ".results", ".txt", ".tsv", ".eval", ".trec_eval")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # what some editors put before UTF-8 text
_CHANGED_BY_POLARS = (BYTE_ORDER_MARK, b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
_BLOCK = 1 << 20
WHITESPACE = " \t\v\f\r"  # within a line
OLD_MAC = "the lines end in a carriage return only (old Mac line ends); convert them to line feeds"


def system_name(path: str | os.PathLike[str]) -> str:
    """A system's name from its file's: the name without compression and one known ending.

    >>> system_name("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    return as_text(
        _without_ending(_without_ending(Path(path).name, OPENERS), (*_ENDINGS_OF_LINES_FILES, *FORMAT_OF_ENDING))
    )


def inner_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name in small letters, that of compression left out.

    >>> inner_ending("bm25.CSV.gz")
    '.csv'
    """
    return Path(_without_ending(Path(path).name, OPENERS)).suffix.lower()


def _without_ending(name: str, endings: Iterable[str]) -> str:
    """The name without the one of the endings that it has, if something is left."""
    return next(
        (name[: -len(ending)] for ending in endings if name.lower().endswith(ending) and len(name) > len(ending)), name
    )


def as_text(name: str) -> str:
    """A name from the system, whose names are bytes, as text that can be written: what is not UTF-8 becomes �."""
    return re.sub("[\ud800-\udfff]", "�", name)


def is_compressed(path: Path) -> bool:
    """Whether the file's ending says that its bytes are compressed."""
    return path.suffix.lower() in OPENERS


def file_status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What the system says of the file that links lead to; None where there is none or its name cannot be one."""
    try:
        return Path(path).stat()
    except (OSError, ValueError):
        return None


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether it is a folder, or a link to one."""
    status = file_status(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def resolve_links(path: str | os.PathLike[str]) -> Path:
    """The path with its links followed; an OSError where one leads to itself, which Python 3.13 no longer tells."""
    try:
        target = Path(path).resolve()
    except RuntimeError as error:
        raise OSError("it is a symbolic link that points to itself") from error
    if target.is_symlink():
        raise OSError("it is a symbolic link that points to itself")
    return target


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path, if something readable and not empty is there."""
    file = Path(path)
    if not str(path):
        raise DataError("a file name is empty; give the name of a file")
    try:
        status = file.stat()
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be read ({reason(error)}); check the name") from error
    if stat.S_ISDIR(status.st_mode):
        raise DataError.at(path, None, "is a folder; give a file")
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:  # a pipe has no size
        raise DataError.at(path, None, "the file is empty; expected at least one line")
    return file


def reason(error: Exception) -> str:
    """The system's own words for what it could not do."""
    return str(getattr(error, "strerror", None) or error)


def read_blocks(path: Path, size: int, longest: int | None = LONGEST_LINE) -> Iterator[bytes]:
    """The file's decompressed bytes in blocks of about `size` that end at a line's end, no line over `longest`."""
    rest: list[bytes] = []  # the start of a line, in as many pieces as it takes
    ending, first = path.suffix.lower(), True
    given = waiting = 0
    try:
        for block in _decompressed_pieces(path, ending, size):
            if first and ending not in OPENERS:
                _refuse_compressed(path, block)
            first = False
            end = block.rfind(b"\n") + 1
            if longest is not None and waiting + (block.find(b"\n") + 1 if end else len(block)) > longest:
                raise _line_too_long(path, ending, given, longest)
            if end:
                whole = b"".join((*rest, memoryview(block)[:end])) if rest or end < len(block) else block
                yield whole
                given += len(whole)
                rest = [block[end:]] if end < len(block) else []
                waiting = len(block) - end
            else:
                rest.append(block)
                waiting += len(block)
                if longest is None:  # a device may have no end
                    check_growth(path, waiting)
    except CORRUPTION_ERRORS as error:
        if ending not in OPENERS:
            raise DataError.at(path, None, f"cannot be read ({reason(error)})") from error
        raise DataError.at(
            path,
            None,
            f"the {path.suffix} data is truncated or corrupt ({error}); fetch or make the file again",
        ) from error
    if any(rest):
        yield b"".join(rest)


def _line_too_long(path: Path, ending: str, before: int, longest: int) -> DataError:
    """The error of a line that starts after so many bytes; a pipe cannot be read again to count its lines."""
    line = None
    if path.is_file():
        line = 1
        for block in _decompressed_pieces(path, ending, _BLOCK):
            if before <= 0:
                break
            line += block.count(b"\n", 0, before)
            before -= len(block)
    return DataError.at(
        path, line, f"a line is longer than {longest >> 20} MB; is it text, in the format that its name says?"
    )


def _decompressed_pieces(path: Path, ending: str, size: int) -> Iterator[bytes]:
    """What the file becomes, in pieces, if that is not more than such a file may become."""
    stored = stored_bytes(path) if ending in OPENERS else 0
    most, grown = most_bytes(stored), 0
    for piece in _all_pieces(path, ending, size):
        grown += len(piece)
        if ending in OPENERS and grown > most:
            raise too_large(path, stored, grown)
        yield piece


def _all_pieces(path: Path, ending: str, size: int) -> Iterator[bytes]:
    if ending in DECOMPRESSORS:
        with path.open("rb") as file:
            yield from _decompressed_streams(file, DECOMPRESSORS[ending], size)
    else:
        with OPENERS.get(ending, Path.open)(path, "rb") as file:
            yield from iter(lambda: file.read(size), b"")


def _decompressed_streams(file: BinaryIO, decompressor: Callable[[], Any], size: int) -> Iterator[bytes]:
    """Compressed streams end to end; the library's own reader would pass over garbage that follows them."""
    data = file.read(size)
    while data:
        stream = decompressor()
        while not stream.eof:
            if stream.needs_input and not data and not (data := file.read(size)):
                raise EOFError("it ends in mid-stream")
            yield stream.decompress(data, size)
            data = b""
        data = stream.unused_data.lstrip(b"\0") or file.read(size).lstrip(b"\0")  # xz may be padded


def _refuse_compressed(path: Path, start: bytes) -> None:
    for ending, magic in SIGNATURES.items():
        if magic.match(start):
            raise DataError.at(path, None, f"this is compressed data; rename the file to {path.name}{ending}")


def plain_for_polars(data: bytes) -> bytes:
    """The same text for Polars, which would decompress what starts like `x^` or drop a mark, but not behind a mark."""
    return BYTE_ORDER_MARK + data if data.startswith(_CHANGED_BY_POLARS) else data


def text_blocks(path: str | os.PathLike[str], size: int) -> Iterator[bytes]:
    """The file's blocks of whole lines, of about `size`, without a byte order mark."""
    blocks = read_blocks(existing_file(path), size)
    yield from (block.removeprefix(BYTE_ORDER_MARK) for block in islice(blocks, 1))
    yield from blocks


def text_lines(path: str | os.PathLike[str], size: int) -> Generator[bytes]:
    """The file's lines, without a byte order mark and line feeds, read in blocks of about `size`."""
    yield from lines_in(text_blocks(path, size))


def lines_in(blocks: Iterable[bytes]) -> Generator[bytes]:
    """The lines of blocks of whole lines, without line feeds."""
    for block in blocks:
        yield from block.removesuffix(b"\n").split(b"\n")


def utf8_line(path: str | os.PathLike[str], line: int, data: bytes) -> str:
    """A line's text, which must be UTF-8 and may not hold NUL."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        wrong = f"not UTF-8 text (byte 0x{data[error.start]:02x})"
        raise DataError.at(path, line, f"{wrong}; convert the file to UTF-8") from error
    if "\0" in text:
        raise DataError.at(path, line, "found a NUL byte; text has none: convert the file to UTF-8, or make it again")
    return text


def read_text(path: Path, longest: int | None = LONGEST_LINE) -> str:
    """All of the file's text, which must be UTF-8 without NUL, without a byte order mark, no line over `longest`."""
    blocks: list[bytes] = []
    size = 0
    for block in read_blocks(path, 1 << 24, longest):
        blocks.append(block)
        size += len(block)
        check_growth(path, size)  # a pipe may have no end
    data = b"".join(blocks).removeprefix(BYTE_ORDER_MARK)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        for number, line in enumerate(data.split(b"\n"), start=1):
            utf8_line(path, number, line)
    return text


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds, decompressed by its ending."""
    try:
        return parse_json(read_text(existing_file(path), longest=None))  # JSON may be one line, however long
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise DataError.at(path, line, f"is not JSON ({shortened(str(error), 200)})") from error


def json_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, Any]]:
    """The number of each line that is not empty, and what its JSON says."""
    for number, line in enumerate(text_lines(path, _BLOCK), start=1):
        if line.strip():
            try:
                yield number, parse_json(utf8_line(path, number, line))
            except (ValueError, RecursionError) as error:
                raise DataError.at(path, number, f"is not JSON ({shortened(str(error), 200)})") from error


def first_and_last_bytes(path: Path, size: int) -> bytes:
    """The first and last bytes of a file, decompressed by its ending; nothing where it cannot be read."""
    try:
        with OPENERS.get(path.suffix.lower(), Path.open)(path, "rb") as file:
            start: bytes = file.read(size)
            if not is_compressed(path):
                file.seek(max(file.tell(), path.stat().st_size - size))
                start += file.read(size)
            return start
    except CORRUPTION_ERRORS:
        return b""


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)


class RepeatedNameError(ValueError):
    """A name that appears twice in one object, and the line of the second."""

    def __init__(self, name: str, lineno: int | None) -> None:
        super().__init__(f"{shortened(name)} appears twice in one object")
        self.lineno = lineno


def parse_json(text: str) -> Any:
    """What JSON says; a ValueError where it holds NaN or Infinity, or a name twice in one object.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    surefoot.data.reading.files.RepeatedNameError: 'a' appears twice in one object
    """
    try:
        return _JSON.decode(text)
    except RepeatedNameError as error:
        raise _find_repeated_name(text) or error from None


def _find_repeated_name(text: str) -> RepeatedNameError | None:
    """The first name that appears twice in one object, with its line."""
    objects: list[set[str] | None] = []  # the names seen in each object that is open, None for a list
    is_name = False
    for token in _TOKEN.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if is_name and objects and (names := objects[-1]) is not None:
                name = json.loads(token[0])
                if name in names:
                    return RepeatedNameError(name, text.count("\n", 0, token.start()) + 1)
                names.add(name)
            is_name = False
        elif mark in "{[":
            objects.append(set() if mark == "{" else None)
            is_name = mark == "{"
        elif mark in "}]":
            del objects[-1:]
            is_name = False
        else:
            is_name = bool(objects) and objects[-1] is not None
    return None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number in JSON")


def _dict_of_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RepeatedNameError(twice, None)
    return values


# Made once, so that a line is read faster.
_JSON = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_dict_of_unique_names)


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Without a checksum bytes that changed would be read as they are.
_ZSTD_OPTIONS: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
_GZIP_LEVEL = 6


def _open_zstd(file: Any, mode: Literal["rb", "wb"]) -> Any:
    return zstd.open(file, "rb") if mode == "rb" else zstd.open(file, "wb", options=_ZSTD_OPTIONS)


def _open_gzip(file: Any, mode: Literal["rb", "wb"]) -> Any:
    # Written without a name and a time, so that the same data gives the same file.
    return gzip.open(file, "rb") if mode == "rb" else gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)


OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": _open_gzip,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstd,
}
_XZ_MEMORY = 1 << 30  # bytes, as much as a window of 1 GB; `xz -9` takes 65 MB
DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY),
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, _GZIP_LEVEL, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options=_ZSTD_OPTIONS),
}
SIGNATURES = {
    ".gz": re.compile(rb"\x1f\x8b\x08"),
    ".bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd"),
}
CORRUPTION_ERRORS = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError)
