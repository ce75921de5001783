"""Labelled feature vectors in the shape of MSLR-WEB, of any size, with queries on which the features mislead."""


def synthetic_letor(): ...
