"""Deciding on a release: the gate, what to judge next, and a controller that ships with a bound that holds."""
