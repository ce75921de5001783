"""Risk measures: pure functions of score matrices."""
