"""Keep compiled programs on disk, so that JAX compiles each of them once per machine."""

import contextlib
import hashlib
import os
import platform
import stat
import sys
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

_OFF = {"off", "0", "no", "false"}
# JAX does not cache what is small or quick to compile: name of the setting, its default, ours (no limit).
_LIMITS = (
    ("jax_persistent_cache_min_compile_time_secs", 1.0, 0.0),
    ("jax_persistent_cache_min_entry_size_bytes", 0, -1),
)
_MAX_BYTES = 2**30
_CHECKED = ".checked"
# A younger file may still be growing under another process.
_SETTLED_SECONDS = 10.0


def enable_compile_cache() -> Path | None:
    """Point JAX's persistent compilation cache to a folder of this user, and return that folder.

    Change nothing and return None if the user chose a folder (`JAX_COMPILATION_CACHE_DIR` or JAX's
    configuration), turned the cache off there or with `UNMET_COMPILE_CACHE=off`, or if the folder cannot be
    used. The cache only saves time: a damaged entry is compiled again.
    """
    if os.environ.get("UNMET_COMPILE_CACHE", "").strip().lower() in _OFF:
        return None
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return None
    import jax

    config: Any = jax.config
    folder = _cache_root() / _folder_name()
    current = config.jax_compilation_cache_dir
    if current not in (None, str(folder)) or not config.jax_enable_compilation_cache:
        return None
    if current is None:
        if not _is_ours(folder):
            return None
        _prune(folder.parent)
        _remove_damaged(folder)
        config.update("jax_compilation_cache_dir", str(folder))
        for name, default, ours in _LIMITS:
            if getattr(config, name) == default and name.upper() not in os.environ:
                config.update(name, ours)
    # Repeated at every call: whoever catches warnings, as pytest does, drops the filter afterwards.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
    return folder


def _cache_root() -> Path:
    """Return the user's cache folder for unmet."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        return Path(chosen) / "unmet"
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":  # pragma: no cover
        return home / "Library" / "Caches" / "unmet"
    if sys.platform == "win32":  # pragma: no cover
        return Path(os.environ.get("LOCALAPPDATA", home)) / "unmet"
    return home / ".cache" / "unmet"


def _folder_name() -> str:
    """Return a name for programs that run only on this processor and this version of XLA."""
    import jaxlib

    return f"xla-{jaxlib.__version__}-{hashlib.sha256(_processor().encode()).hexdigest()[:16]}"


def _processor() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        # One block per core; the first says all. On ARM the line is called Features.
        lines = file.read(100_000).partition("\n\n")[0].splitlines()
        wanted = [line for line in lines if line.startswith(("flags", "Features", "model name", "CPU part"))]
        if wanted:
            return "\n".join(wanted)
    return f"{platform.machine()} {platform.processor()}"


def _is_ours(folder: Path) -> bool:
    """Make the folder if needed. Programs in it are executed, so nobody else may be able to write there."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
    except OSError:
        return False
    if hasattr(os, "getuid") and (
        status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _prune(root: Path) -> None:
    """Remove the oldest programs, of all versions, once they take too much room; JAX itself never does."""
    with contextlib.suppress(OSError):
        found = [(entry.stat(), entry) for entry in root.glob("xla-*/*-cache")]
        size = sum(status.st_size for status, _ in found)
        if size <= _MAX_BYTES:
            return
        for status, entry in sorted(found, key=lambda item: item[0].st_mtime):
            entry.unlink(missing_ok=True)
            size -= status.st_size
            if size <= _MAX_BYTES // 2:
                return


def _remove_damaged(folder: Path) -> None:
    """Remove entries that a killed process left half-written: JAX would stumble over them in every run.

    Each entry is checked once: those older than the mark of the last check were checked then.
    """
    mark = folder / _CHECKED
    with contextlib.suppress(OSError):
        last = mark.stat().st_mtime if mark.exists() else 0.0
        settled = time.time() - _SETTLED_SECONDS
        for entry in folder.glob("*-cache"):
            with contextlib.suppress(OSError):
                if last <= entry.stat().st_mtime < settled and _is_damaged(entry.read_bytes()):
                    entry.unlink()
        mark.touch()
        os.utime(mark, (settled, settled))


def _is_damaged(data: bytes) -> bool:
    if data[:1] not in (b"", b"\x78"):  # not zlib: JAX compresses otherwise where it can
        return False
    try:
        zlib.decompress(data)
    except zlib.error:
        return True
    return False
