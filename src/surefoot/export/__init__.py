"""Models for search engines: trees as their learner means them, written so that each engine decides alike."""
