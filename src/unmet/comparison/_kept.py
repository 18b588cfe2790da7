"""Finished fits of a comparison in a folder, taken up again after any interruption."""

import json
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from unmet.comparison._folds import Held
from unmet.comparison._methods import Method

_FOLDER = "fits"


class Kept:
    """The record of finished fits; see `unmet.runs.Steps`."""

    def __init__(self, folder: str | os.PathLike[str], source: Mapping[str, Any], replace: bool) -> None:
        from unmet.runs import Steps

        self.steps = Steps(folder, source=source, replace=replace)

    def __enter__(self) -> Self:
        self.steps.__enter__()
        (self.steps.folder / _FOLDER).mkdir(exist_ok=True)
        return self

    def __exit__(self, *error: Any) -> None:
        self.steps.__exit__(*error)

    def find(self, method: Method, fold: int) -> Held | None:
        """Return a fit that the same code has finished, or None."""
        name = _name(method, fold)
        if not self.steps.done(name, outputs=[name], settings={"code": method.code}):
            return None
        content = json.loads((self.steps.folder / name).read_bytes())
        quantiles = np.array(content.pop("quantiles"), np.float64).reshape(content.pop("shape"))
        return Held(quantiles, **content)

    def keep(self, method: Method, fold: int, held: Held) -> None:
        """Write a finished fit, whole or not at all."""
        from unmet.runs import write_bytes

        name = _name(method, fold)
        content = {**vars(held), "quantiles": held.quantiles.ravel().tolist(), "shape": held.quantiles.shape}
        data = json.dumps(content).encode()
        write = partial(write_bytes, self.steps.folder / name, data, tidy=False)
        self.steps.run(name, write, outputs=[name], settings={"code": method.code})


def _name(method: Method, fold: int) -> str:
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in method.name)
    return f"{_FOLDER}/{plain}-{fold}.json"
