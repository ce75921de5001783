"""Files out, all or nothing, and one program at a time where several would write.

`all_or_nothing.py` writes beside the target and renames, and keeps a second program out; `resumable.py` is a folder for
long work that goes on where it was stopped.
"""
