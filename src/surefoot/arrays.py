"""Names of the arrays that all of surefoot passes on, and how large a score may be. NumPy alone is needed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.integer]  # rows or positions held for long, in as few bytes as will do

LARGEST = 1e100  # of scores: beyond it sums of squares, which every test takes, would overflow
