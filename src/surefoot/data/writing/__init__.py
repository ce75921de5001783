"""Files out, all or nothing, and one program at a time where several would write."""
