"""Compression, by the ending of a file's name: what it opens with, starts with, and fails with."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any, Literal

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
