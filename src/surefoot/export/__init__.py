"""Models for search engines: trees as their learner means them, written so that each target decides alike.

`readers/` has one reader for each learner, which makes an `Ensemble` of its model text: flat arrays in which a split
is always x ≤ t, with the learner's own rules (what counts as 0, where NaN goes, a base score) already in it.
`targets/` has one writer for each format. `ensemble.py` also has the threshold for each rule of comparison,
`exported_model.py` what writers share, also what a target makes of a feature that is not set. `package.py` gathers the
files, with rows on thresholds that the learner itself scored; `replay.py` is copied beside the model and needs Python
alone. The tests hold each format to an interpreter written from the target's rules.
"""
