"""Stages of one long step, kept until the step is done, so that a kill loses only the stage under way."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

try:
    import resource
except ImportError:  # pragma: no cover
    resource = None  # type: ignore[assignment]

from unmet.runs._model_folder import ModelFileError, load_model, save_model

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


class Stages:
    """Results of the stages of a step, each in a folder of its own: JSON values and arrays.

    Parameters
    ----------
    folder : where to keep them; None keeps nothing.
    made_from : what decides the results. Stages that were made from something else are done again.
    log : told the cost of each stage, and what `note` is given.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        made_from: str = "",
        log: Callable[..., None] | None = None,
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        self._made_from = made_from
        self._log = log

    def run(
        self, name: str, make: Callable[[], Any], pack: Callable[[Any], Parts], unpack: Callable[..., Any]
    ) -> Any:
        """Return the result of a stage, from its folder if it was finished before.

        `pack` turns a result into JSON values and arrays, and `unpack` makes it of them again.
        """
        kept = self._load(name)
        if kept is not None:
            return unpack(*kept)
        began, busy = time.monotonic(), cpu_seconds()
        result = make()
        if self._folder is not None:
            config, arrays = pack(result)
            # What cannot be saved, such as an infinite number, is made again after a kill.
            with contextlib.suppress(ModelFileError):
                save_model(self._folder / name, {"made_from": self._made_from, "of": config}, arrays)
        self.log(name, began, busy)  # the log names no stage that a kill could still lose
        return result

    def has(self, name: str) -> bool:
        """Return whether a stage was finished before."""
        return self._load(name) is not None

    def log(self, name: str, began: float, busy: float) -> None:
        """Log the cost of a stage that began at these moments of the clock and of the CPU."""
        if self._log is not None:
            self._log(stage=name, **cost_since(began, busy))

    def note(self, **fields: Any) -> None:
        """Log what is known before the first stage begins."""
        if self._log is not None:
            self._log(**fields)

    def clear(self) -> None:
        """Forget all stages: the step is done."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _load(self, name: str) -> Parts | None:
        if self._folder is None:
            return None
        try:
            config, arrays = load_model(self._folder / name)
        except (ModelFileError, OSError):
            return None
        return (config["of"], arrays) if config.get("made_from") == self._made_from else None


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def cost_since(began: float, busy: float) -> dict[str, float]:
    """Return seconds, CPU seconds, and the most memory in GB that the process has ever held."""
    found = {"seconds": round(time.monotonic() - began, 3), "cpu": round(cpu_seconds() - busy, 3)}
    if resource is not None:
        found["peak"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3)
    return found
