"""Effectiveness per query."""
