"""`python -m benchmarks.shapes [--final] [--only DESIGN …] [--set NAME=VALUE …]`: errors and CPU seconds."""

from __future__ import annotations

import argparse
import ast
import time
from typing import Any

import numpy as np

from benchmarks.shapes.designs import DESIGNS, DEVELOPMENT, FINAL, LEVELS, Design, Draw, Floats, draw
from benchmarks.shapes.rivals import portnoy, tobit_t, xgboost_aft


def error(found: Floats, data: Draw) -> float:
    return float(np.abs(found - data.truth).mean())


def ours(design: Design, data: Draw, settings: dict[str, Any]) -> Floats:
    from unmet import CensoredQuantileRegressor

    model = CensoredQuantileRegressor(
        quantiles=LEVELS, **{"network": design.network, "random_state": 0, "progress": False, **settings}
    )
    return model.fit(data.X, data.y, threshold=data.cap).predict_quantiles(data.test)


def with_patience(data: Draw) -> Floats:
    return ours(DESIGNS["mlp, sine"], data, {"patience": 100})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--final", action="store_true", help="the seeds that development did not see")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(DESIGNS), default=list(DESIGNS))
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings")
    parser.add_argument("--alone", action="store_true", help="without rivals")
    given = parser.parse_args()
    settings = {name: ast.literal_eval(text) for name, text in (item.split("=", 1) for item in given.set)}
    for name in given.only:
        design = DESIGNS[name]
        draws = [draw(design, seed) for seed in (FINAL if given.final else DEVELOPMENT)[: given.draws]]
        begun = time.process_time()
        ours(design, draws[0], settings)
        first = time.process_time() - begun
        begun = time.process_time()
        mine = np.mean([error(ours(design, data, settings), data) for data in draws])
        each = (time.process_time() - begun) / len(draws)
        line = f"{name:22} ours {mine:.3f}  first fit {first:.2f} s, others {each:.2f} s of CPU"
        if not given.alone:
            rivals = {"Tobit-t": tobit_t, "Portnoy": portnoy}
            if design.network == "mlp":
                rivals = {"XGBoost AFT": xgboost_aft, "with patience": with_patience}
            for rival, fit in rivals.items():
                try:
                    found = np.mean([error(fit(data), data) for data in draws])
                except ImportError:
                    line += f"  {rival} not installed"
                    continue
                line += f"  {rival} {found:.3f} ({mine / found:.2f})"
        print(line, flush=True)


if __name__ == "__main__":
    main()
