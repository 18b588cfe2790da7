"""Files and processes of long work: atomic files, saved models, shards, resumable runs, progress.

Nothing here imports JAX, rich or loky before it is used.
"""

from unmet.runs._atomic import atomic_write, remove_leftovers, write_bytes
from unmet.runs._model_folder import ModelFileError, load_model, save_model

__all__ = [
    "ModelFileError",
    "atomic_write",
    "load_model",
    "remove_leftovers",
    "save_model",
    "write_bytes",
]
