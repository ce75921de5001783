"""Bytes in and out: compression by file ending, clear errors, and writes that never leave half a file."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from surefoot.errors import DataError, shortened

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Without a checksum bytes that changed would be read as they are.
_CHECKED: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}


def _open_zstd(file: Any, mode: Literal["rb", "wb"]) -> Any:
    return zstd.open(file, "rb") if mode == "rb" else zstd.open(file, "wb", options=_CHECKED)


_OPEN: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstd,
}
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, compresslevel=6, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options=_CHECKED),
}
_DECOMPRESSORS: dict[str, Callable[[], Any]] = {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}
_COMPRESSED = {
    ".gz": re.compile(rb"\x1f\x8b\x08"),
    ".bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd"),
}
MARK = b"\xef\xbb\xbf"  # what some editors put before UTF-8 text
_SNIFFED = (MARK, b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
OLD_MAC = "the lines end in a carriage return only (old Mac line ends); convert them to line feeds"
_CORRUPT = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zstd.ZstdError)
_UNFINISHED: set[Path] = set()  # what is being written beside its target


def stem(path: str | os.PathLike[str]) -> str:
    """A system's name from its file's: the name without compression and one known ending.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = as_text(Path(path).name)
    for ending in _OPEN:
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            break
    for ending in (".run", ".trec", ".res", ".results", ".txt", ".tsv", ".csv", ".parquet", ".json", ".jsonl"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def as_text(name: str) -> str:
    """A name from the system, whose names are bytes, as text that can be written: what is not UTF-8 becomes �."""
    return re.sub("[\ud800-\udfff]", "�", name)


def is_compressed(path: Path) -> bool:
    """Whether the file's ending says that its bytes are compressed."""
    return path.suffix.lower() in _OPEN


def state(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is known of the file, through links; nothing where there is none or its name cannot be one."""
    try:
        return Path(path).stat()
    except (OSError, ValueError):
        return None


def resolved(path: str | os.PathLike[str]) -> Path:
    """The path with its links followed; an OSError where one leads to itself, which Python 3.13 no longer tells."""
    try:
        found = Path(path).resolve()
    except RuntimeError as error:
        raise OSError("it is a link that leads to itself") from error
    if found.is_symlink():
        raise OSError("it is a link that leads to itself")
    return found


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path, if something readable and not empty is there."""
    file = Path(path)
    if not str(path):
        raise DataError("no file is named where one should be; give its name")
    try:
        found = file.stat()
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be read ({reason(error)}); check the name") from error
    if stat.S_ISDIR(found.st_mode):
        raise DataError.at(path, None, "is a folder; give a file")
    if stat.S_ISREG(found.st_mode) and found.st_size == 0:  # a pipe has no size
        raise DataError.at(path, None, "the file is empty; expected at least one line")
    return file


def reason(error: Exception) -> str:
    """The system's own words for what it could not do."""
    return str(getattr(error, "strerror", None) or error)


def read_blocks(path: Path, size: int) -> Iterator[bytes]:
    """The file's decompressed bytes in blocks of about `size` that end at a line's end."""
    rest: list[bytes] = []  # the start of a line, in as many pieces as it takes
    ending, first = path.suffix.lower(), True
    try:
        for block in _pieces(path, ending, size):
            if first and ending not in _OPEN:
                _refuse_compressed(path, block)
            first = False
            end = block.rfind(b"\n") + 1
            if end:
                yield b"".join((*rest, memoryview(block)[:end])) if rest or end < len(block) else block
                rest = [block[end:]] if end < len(block) else []
            else:
                rest.append(block)
    except _CORRUPT as error:
        if ending not in _OPEN:
            raise DataError.at(path, None, f"cannot be read ({reason(error)})") from error
        raise DataError.at(
            path,
            None,
            f"the {path.suffix} data is truncated or corrupt ({error}); fetch or make the file again",
        ) from error
    if any(rest):
        yield b"".join(rest)


def _pieces(path: Path, ending: str, size: int) -> Iterator[bytes]:
    if ending in _DECOMPRESSORS:
        with path.open("rb") as file:
            yield from _streams(file, _DECOMPRESSORS[ending], size)
    else:
        with _OPEN.get(ending, Path.open)(path, "rb") as file:
            yield from iter(lambda: file.read(size), b"")


def _streams(file: BinaryIO, decompressor: Callable[[], Any], size: int) -> Iterator[bytes]:
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
    for ending, magic in _COMPRESSED.items():
        if magic.match(start):
            raise DataError.at(path, None, f"this is compressed data; name the file {path.name}{ending}")


def uncompressed(data: bytes) -> bytes:
    """The same text for Polars, which would decompress what starts like `x^` or drop a mark, but not behind a mark."""
    return MARK + data if data.startswith(_SNIFFED) else data


def text_lines(path: str | os.PathLike[str], size: int) -> Generator[bytes]:
    """The file's lines, without a byte order mark and line feeds, read in blocks of about `size`."""
    for number, block in enumerate(read_blocks(existing_file(path), size)):
        text = block.removeprefix(MARK) if number == 0 else block
        yield from text.removesuffix(b"\n").split(b"\n")


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


def read_text(path: Path) -> str:
    """All of the file's text, which must be UTF-8 without NUL, without a byte order mark."""
    data = read_bytes(path).removeprefix(MARK)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        for number, line in enumerate(data.split(b"\n"), start=1):
            utf8_line(path, number, line)
    return text


def read_bytes(path: Path) -> bytes:
    """All of the file's bytes, decompressed by its ending."""
    return b"".join(read_blocks(path, size=1 << 24))


def destination(path: str | os.PathLike[str]) -> Path:
    """Where a file written to `path` will stand, links followed, if it can be written there."""
    try:
        found = state(path)
        if found is None or stat.S_ISREG(found.st_mode):
            target = resolved(path)
            _check_folder(target.parent)
        elif stat.S_ISDIR(found.st_mode):
            raise OSError("it is a folder; name a file")
        else:
            target = Path(path)  # a pipe or device stays what it is and where it is
        if found is not None and not os.access(target, os.W_OK):
            raise OSError("its mode forbids it")
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be written ({reason(error)})") from error
    return target


def destination_folder(path: str | os.PathLike[str]) -> Path:
    """The folder that will be at `path`, if it is there or can be made, and can be written to."""
    try:
        target = resolved(path)
        _check_folder(next(folder for folder in (target, *target.parents) if state(folder) is not None))
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be made ({reason(error)})") from error
    return target


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise OSError(f"{folder} is not a folder" if state(folder) else f"there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(f"the folder {folder} cannot be written to")


@contextmanager
def made_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder at `path`, made where there is none, and taken away again if what should go into it fails."""
    folder = Path(path)
    made: list[Path] = []
    try:
        for parent in (*reversed(folder.parents), folder):
            if not parent.is_dir():
                parent.mkdir(exist_ok=True)
                made.append(parent)
    except (OSError, ValueError) as error:
        _remove_empty(made)
        raise DataError.at(path, None, f"cannot be made ({reason(error)})") from error
    try:
        yield folder
    except BaseException:
        _remove_empty(made)
        raise


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):
        for folder in reversed(folders):
            folder.rmdir()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that takes the place of `path` once all was written, and vanishes otherwise.

    It stands beside the file that links lead to, whose mode it takes on. A pipe or device is given itself.
    """
    target = destination(path)
    found = state(target)
    try:
        if found is not None and not stat.S_ISREG(found.st_mode):
            yield target
            return
        with unfinished(target) as temporary:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield temporary
            temporary.chmod(stat.S_IMODE(found.st_mode) if found else 0o666 & ~_umask())
            temporary.replace(target)
    except OSError as error:
        raise DataError.at(path, None, f"cannot be written ({reason(error)})") from error


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A free name beside `target` for a file or folder in the making; whatever bears it at the end is removed."""
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.part")
    # Known before it is made: an interrupt at any moment finds it, or finds nothing to remove.
    _UNFINISHED.add(temporary)
    try:
        yield temporary
    finally:
        _remove(temporary)
        _UNFINISHED.discard(temporary)


def remove_unfinished() -> None:
    """Remove all that is in the making: for a program that has to end at once."""
    for temporary in tuple(_UNFINISHED):
        _remove(temporary)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


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


def write_bytes(path: str | os.PathLike[str], data: bytes, *, durable: bool = False) -> None:
    """Write the bytes, compressed by the file's ending, all or nothing; if `durable`, even if the power fails."""
    compress = _COMPRESS.get(Path(path).suffix.lower())
    with replacing(path) as temporary:
        temporary.write_bytes(compress(data) if compress else data)
        if durable:
            _flush_to_disk(temporary)
    if durable:
        with suppress(OSError):  # not every system can flush a folder's list of files
            _flush_to_disk(destination(path).parent)


def write_text(path: str | os.PathLike[str], text: str, *, durable: bool = False) -> None:
    """Write text as UTF-8, all or nothing."""
    write_bytes(path, text.encode(), durable=durable)


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_json(path: str | os.PathLike[str]) -> Any:
    """A JSON file's content; numbers that JSON does not know (NaN, Infinity) are an error."""

    def refuse(text: str) -> None:
        raise ValueError(f"{text} is not a number in JSON")

    try:
        return json.loads(existing_file(path).read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise DataError.at(path, None, f"cannot be read ({reason(error)})") from error
    except (ValueError, RecursionError) as error:
        raise DataError.at(path, None, f"is not JSON ({shortened(str(error), 200)})") from error


def ends(path: Path, size: int) -> bytes:
    """The first and last bytes of a file, decompressed by its ending; nothing where it cannot be read."""
    try:
        with _OPEN.get(path.suffix.lower(), Path.open)(path, "rb") as file:
            start: bytes = file.read(size)
            if not is_compressed(path):
                file.seek(max(file.tell(), path.stat().st_size - size))
                start += file.read(size)
            return start
    except _CORRUPT:
        return b""


def _umask() -> int:
    # The only way to read the umask is to set it; a file in the making is private.
    mask = os.umask(0)
    os.umask(mask)
    return mask
