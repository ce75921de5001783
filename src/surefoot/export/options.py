"""What can be exported to, and what an export takes where nothing is said.

It imports nothing, so that the command line can show all of it without loading anything.
"""

MISSING = ("zero", "nan", "never")  # what a feature that is not set means
ROWS = 100
LETOR_NAMES = "letor"  # in place of features' names: their LETOR numbers

_ALWAYS = ("rows.json", "replay.py", "md")
# The files beside the model, by what follows its stem.
BESIDE = {
    "elasticsearch": ("features.json", "upload.json", *_ALWAYS),
    "opensearch": ("features.json", "upload.json", *_ALWAYS),
    "ranklib": ("features.json", "upload.json", *_ALWAYS),
    "elastic": ("features.json", "upload.json", *_ALWAYS),
    "solr": ("features.json", *_ALWAYS),
    "vespa": ("profile", *_ALWAYS),
    "onnx": ("features.json", *_ALWAYS),
}
TARGETS = tuple(BESIDE)
