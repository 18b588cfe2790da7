"""What long work needs: atomic files, saved models, a record of finished steps, processes, progress.

JAX, DuckDB, rich and loky are imported on first use.
"""

from unmet.runs._addresses import refuse_address
from unmet.runs._atomic import atomic_write, remove_leftovers, write_bytes
from unmet.runs._checksum import checksum, code_version, open_regular, read_regular
from unmet.runs._cluster import LOCAL, Cluster, connected
from unmet.runs._cluster_work import ClusterLostError, Task
from unmet.runs._compile_cache import enable_compile_cache
from unmet.runs._extras import MissingExtraError, naming_extras
from unmet.runs._forked import refuse_fork
from unmet.runs._garbage import collect_seldom
from unmet.runs._kept_tasks import Keep, KeptTasks, keep_nothing, keep_within
from unmet.runs._lock import FolderInUseError, FolderLock
from unmet.runs._model_folder import ModelFileError, load_model, save_model
from unmet.runs._packing import pack_arrays, unpack_arrays
from unmet.runs._parcels import Mailed, Parcel, Parcels
from unmet.runs._progress import Progress, is_watched, no_progress, progress
from unmet.runs._record import RunError
from unmet.runs._shape import check_shape
from unmet.runs._shards import (
    MOST_JOBS,
    ShardError,
    ShardValueError,
    WorkerDiedError,
    run_shards,
    stop_workers,
)
from unmet.runs._stages import Stages, cpu_seconds
from unmet.runs._steps import Steps, read_record, stale_steps
from unmet.runs._temporary import TemporaryFolder, remove_abandoned
from unmet.runs._threads import in_threads, one_at_a_time, one_blas_thread
from unmet.runs._workers import available_cores, in_worker
from unmet.runs._xla_threads import limit_xla_threads

__all__ = [
    "LOCAL",
    "MOST_JOBS",
    "Cluster",
    "ClusterLostError",
    "FolderInUseError",
    "FolderLock",
    "Keep",
    "KeptTasks",
    "Mailed",
    "MissingExtraError",
    "ModelFileError",
    "Parcel",
    "Parcels",
    "Progress",
    "RunError",
    "ShardError",
    "ShardValueError",
    "Stages",
    "Steps",
    "Task",
    "TemporaryFolder",
    "WorkerDiedError",
    "atomic_write",
    "available_cores",
    "check_shape",
    "checksum",
    "code_version",
    "collect_seldom",
    "connected",
    "cpu_seconds",
    "enable_compile_cache",
    "in_threads",
    "in_worker",
    "is_watched",
    "keep_nothing",
    "keep_within",
    "limit_xla_threads",
    "load_model",
    "naming_extras",
    "no_progress",
    "one_at_a_time",
    "one_blas_thread",
    "open_regular",
    "pack_arrays",
    "progress",
    "read_record",
    "read_regular",
    "refuse_address",
    "refuse_fork",
    "remove_abandoned",
    "remove_leftovers",
    "run_shards",
    "save_model",
    "stale_steps",
    "stop_workers",
    "unpack_arrays",
    "write_bytes",
]
