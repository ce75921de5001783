"""Choosing what to ship: how stable rankings and measures are, and which function is best."""
