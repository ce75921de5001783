"""The compiled parser of LETOR lines, which takes what is regular and says where something is not.

It is imported when the first file is read, since it needs Numba (the extra `learn`). It holds no lock while it runs, so
several threads parse at once, each a block of its own; Numba's own threads are not used, as they cannot be
entered from two places at once.

Numbers are those of `np.float32(float(text))`, to the last bit. Where a value's digits fit a float64 and its power of
ten is exact, one division is correctly rounded. Otherwise a product with an error of a few units in the last place
is enough, unless it lies so near to the middle of two float32 that the error decides: such a value is left to
Python, as are labels that are not short.
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, types, uint8

from surefoot.data.letor.letor_lines import MOST_FEATURES
from surefoot.runtime import compiled

# What a call reports, by its place in `report`.
ROWS_READ, STRETCHES, FEATURES_SEEN, ID_BYTES, IDS_READ, HARD_NUMBERS, NOT_ASCII, IRREGULAR = range(8)
LABEL = -1  # the column of a hard number that is a label
MOST_HARD_NUMBERS = 4096

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _PLUS, _MINUS, _DOT, _COLON, _EQUALS = b"\t\n\r #+-.:="
_D, _E, _Q, _I, _C, _O, _N, _A = b"deqicona"
_ONE, _TWO, _THREE, _FOUR = map(np.uint64, (1, 2, 3, 4))
_CASE = 32  # the bit that tells a small letter from a capital

# Whole numbers up to here are exact in float64, and so are powers of ten up to 10^22.
_LARGEST_EXACT = np.uint64(1 << 53)
_LOWEST, _HIGHEST = -66, 39  # 20 digits times a lower power are 0 in float32; a higher power is more than it holds
_POWERS = np.array([float(f"1e{power}") for power in range(_LOWEST, _HIGHEST + 1)])
_MARGIN = 2.0**-50  # well above the error of a rounded product of rounded factors


def _parse(data, width, X, y, stretches, ids, hard, report):  # noqa: PLR0915 - one loop, for speed
    """Parse lines, the last of which must end; `report` says how far it got and what it met.

    Features beyond `width` are counted, not kept. `stretches` gets (row, from, to) of each query id that differs from
    the line's before, `ids` document ids with a line's end after each, `hard` (row, column, from, to) of
    numbers that Python must read. At the first line that is not regular, `report[IRREGULAR]` is set.

    Places in `data` are unsigned, which spares a test for negative ones at each byte: half as fast again.
    """
    size = np.uint64(len(data))
    i = np.uint64(0)
    row = count = features = id_bytes = n_ids = n_hard = 0
    q_from = q_to = np.uint64(0)
    high = np.uint8(0)
    report[IRREGULAR] = 1
    while i < size:
        while data[i] == _SPACE or data[i] == _TAB or data[i] == _RETURN:
            i += _ONE
        if data[i] == _NEWLINE:
            i += _ONE
            continue
        if data[i] == _HASH:  # nothing but a comment
            while data[i] != _NEWLINE:
                high |= data[i]
                if data[i] < _SPACE and data[i] != _TAB and data[i] != _RETURN:
                    return
                i += _ONE
            i += _ONE
            continue

        # The label.
        start = i
        digits = np.uint64(0)
        while np.uint8(data[i] - 48) < 10:
            digits = digits * np.uint64(10) + np.uint64(data[i] - 48)
            i += _ONE
        n_digits = np.int64(i - start)
        power = 0
        if data[i] == _DOT:
            i += _ONE
            while np.uint8(data[i] - 48) < 10:
                digits = digits * np.uint64(10) + np.uint64(data[i] - 48)
                i += _ONE
                power += 1
            n_digits += power
        if data[i] <= _SPACE and 0 < n_digits < 20 and digits <= _LARGEST_EXACT:
            y[row] = np.float64(np.int64(digits)) / _POWERS[power - _LOWEST]
        else:
            while data[i] > _SPACE and data[i] != _HASH:
                i += _ONE
            if i == start or n_hard == MOST_HARD_NUMBERS:
                return
            hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = row, LABEL, start, i
            n_hard += 1
        while data[i] == _SPACE or data[i] == _TAB:
            i += _ONE

        # The query.
        if data[i] != _Q or data[i + _ONE] != _I or data[i + _TWO] != _D or data[i + _THREE] != _COLON:
            return
        i += _FOUR
        start = i
        same = count > 0
        while data[i] > _SPACE and data[i] != _HASH:
            high |= data[i]
            same = same and q_from + (i - start) < q_to and data[q_from + (i - start)] == data[i]
            i += _ONE
        if i == start:
            return
        if not same or i - start != q_to - q_from:
            q_from, q_to = start, i
            stretches[count, 0], stretches[count, 1], stretches[count, 2] = row, start, i
            count += 1

        # The features.
        last = 0
        while True:
            while data[i] == _SPACE or data[i] == _TAB or data[i] == _RETURN:
                i += _ONE
            if np.uint8(data[i] - 48) > 9:
                break
            feature = np.int64(data[i] - 48)
            i += _ONE
            while np.uint8(data[i] - 48) < 10:
                feature = feature * 10 + np.int64(data[i] - 48)
                if feature > MOST_FEATURES:
                    return
                i += _ONE
            if data[i] != _COLON or feature <= last:
                return
            i += _ONE
            start = i
            negative = data[i] == _MINUS
            if negative or data[i] == _PLUS:
                i += _ONE
            first = i
            digits = np.uint64(0)
            while np.uint8(data[i] - 48) < 10:
                digits = digits * np.uint64(10) + np.uint64(data[i] - 48)
                i += _ONE
            n_digits = np.int64(i - first)
            power = 0
            if data[i] == _DOT:
                i += _ONE
                first = i
                while np.uint8(data[i] - 48) < 10:
                    digits = digits * np.uint64(10) + np.uint64(data[i] - 48)
                    i += _ONE
                power = np.int64(i - first)
                n_digits += power
            regular = data[i] <= _SPACE or data[i] == _HASH
            if regular and 0 < n_digits < 20 and digits <= _LARGEST_EXACT:
                value = np.float32(np.float64(np.int64(digits)) / _POWERS[power - _LOWEST])
                if negative:
                    value = -value
            else:
                while data[i] > _SPACE and data[i] != _HASH:
                    i += _ONE
                value, sure = _number(data, np.int64(start), np.int64(i))
                if not sure:
                    if n_hard == MOST_HARD_NUMBERS:
                        return
                    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = row, feature - 1, start, i
                    n_hard += 1
            if feature <= width:
                for column in range(last, feature - 1):
                    X[row, column] = 0
                X[row, feature - 1] = value
            last = feature
        for column in range(last, width):
            X[row, column] = 0
        features = max(features, last)

        # The comment, and the document's id in it.
        if data[i] == _HASH:
            i += _ONE
            start = i
            while data[i] != _NEWLINE:
                high |= data[i]
                if data[i] < _SPACE and data[i] != _TAB and data[i] != _RETURN:
                    return
                i += _ONE
            id_from, id_to = _document(data, np.int64(start), np.int64(i))
            if id_to > id_from:
                for at in range(id_from, id_to):
                    ids[id_bytes] = data[at]
                    id_bytes += 1
                ids[id_bytes] = _NEWLINE
                id_bytes += 1
                n_ids += 1
        elif data[i] != _NEWLINE:
            return
        i += _ONE
        row += 1
    report[ROWS_READ], report[STRETCHES], report[FEATURES_SEEN] = row, count, features
    report[ID_BYTES], report[IDS_READ], report[HARD_NUMBERS] = id_bytes, n_ids, n_hard
    report[NOT_ASCII], report[IRREGULAR] = high > 127, 0


def _number(data, start, end):
    """The float32 of a number of any length and power, and whether that is sure."""
    i = start
    negative = data[i] == _MINUS
    if negative or data[i] == _PLUS:
        i += 1
    if end - i == 3 and data[i] | _CASE == _N and data[i + 1] | _CASE == _A and data[i + 2] | _CASE == _N:
        return np.float32(np.nan), True
    digits = np.uint64(0)
    power = significant = seen = 0
    dot = False
    while i < end:
        digit = np.uint8(data[i] - 48)
        if digit < 10:
            seen += 1
            if significant < 19:
                digits = digits * np.uint64(10) + np.uint64(digit)
                significant += digits > 0  # zeros before the first other digit do not count
                power -= dot
            else:
                power += not dot
        elif data[i] == _DOT and not dot:
            dot = True
        else:
            break
        i += 1
    if seen == 0:
        return np.float32(0), False
    if i < end:
        if data[i] | _CASE != _E:
            return np.float32(0), False
        i += 1
        down = data[i] == _MINUS
        if down or data[i] == _PLUS:
            i += 1
        if i == end:
            return np.float32(0), False
        exponent = 0
        while i < end:
            digit = np.uint8(data[i] - 48)
            if digit > 9:
                return np.float32(0), False
            exponent = min(exponent * 10 + np.int64(digit), 1 << 40)
            i += 1
        power += -exponent if down else exponent
    if digits == 0 or power < _LOWEST:
        value = 0.0
    elif power >= _HIGHEST:
        return np.float32(0), False
    else:
        value = np.float64(digits) * _POWERS[power - _LOWEST]
        if np.float32(value * (1 - _MARGIN)) != np.float32(value * (1 + _MARGIN)):
            return np.float32(0), False
        if np.isinf(np.float32(value)):
            return np.float32(0), False
    return np.float32(-value if negative else value), True


def _document(data, start, end):
    """Where a comment's document id is: after `docid =`, or the whole of a comment of one word."""
    i = start
    while i < end and data[i] <= _SPACE:
        i += 1
    word = i
    while i < end and data[i] > _SPACE and data[i] != _EQUALS:
        i += 1
    named = i - word == 5 and (
        data[word] == _D
        and data[word + 1] == _O
        and data[word + 2] == _C
        and data[word + 3] == _I
        and data[word + 4] == _D
    )
    after = i
    while after < end and data[after] <= _SPACE:
        after += 1
    if named and after < end and data[after] == _EQUALS:
        after += 1
        while after < end and data[after] <= _SPACE:
            after += 1
        i = after
        while i < end and data[i] > _SPACE:
            i += 1
        return after, i
    while i < end and data[i] > _SPACE:  # an equals sign is part of a lone word
        i += 1
    last = i
    while i < end and data[i] <= _SPACE:
        i += 1
    return (word, last) if i == end else (0, 0)


_number, _document = compiled(_number), compiled(_document)
_bytes = types.Array(types.uint8, 1, "C", readonly=True)
# With its types given it is compiled here, once, and not by the first threads that call it.
parse = compiled(
    _parse,
    types.void(_bytes, int64, float32[:, ::1], float64[::1], int64[:, ::1], uint8[::1], int64[:, ::1], int64[::1]),
)
