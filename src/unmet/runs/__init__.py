"""Files and processes of long work: atomic files, saved models, shards, resumable runs, progress.

Nothing here imports JAX, rich or loky before it is used.
"""

from unmet.runs._atomic import atomic_write, remove_leftovers, write_bytes
from unmet.runs._model_folder import ModelFileError, load_model, save_model
from unmet.runs._shards import ShardError, ShardValueError, run_shards, stop_workers
from unmet.runs._workers import available_cores
from unmet.runs._xla_threads import limit_xla_threads

__all__ = [
    "ModelFileError",
    "ShardError",
    "ShardValueError",
    "atomic_write",
    "available_cores",
    "limit_xla_threads",
    "load_model",
    "remove_leftovers",
    "run_shards",
    "save_model",
    "stop_workers",
    "write_bytes",
]
