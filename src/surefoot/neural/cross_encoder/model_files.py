"""The files of a saved cross-encoder, by name; light, so that the command line can look at them first."""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.learn.model_files import DETAILS_FILE_NAME

_NAMES = {
    "README.md", "added_tokens.json", "chat_template.jinja", "config.json", "config_sentence_transformers.json",
    "merges.txt", "model.safetensors", "model.safetensors.index.json", "modules.json", "preprocessor_config.json",
    "sentence_bert_config.json", "sentencepiece.bpe.model", "special_tokens_map.json", "spiece.model",
    "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt",
}  # fmt: skip
# Of large models, and the folders of single modules.
_PARTS = re.compile(r"model-\d+-of-\d+\.safetensors|\d_(Pooling|Dense|Normalize|Dropout|LayerNorm|Transformer)")


def is_cross_encoder_file(name: str) -> bool:
    """Whether a file or folder of this name is a part of a saved cross-encoder."""
    return name in _NAMES or _PARTS.fullmatch(name) is not None


def is_cross_encoder(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a saved cross-encoder, ours or another's."""
    return (Path(folder) / "config.json").is_file() and not (Path(folder) / DETAILS_FILE_NAME).is_file()
