"""One contender in one fresh process: `python -m benchmarks.engine.contender '<task as JSON>'`.

The task names the contender, what to do and on which cores. The answer is the last line of standard output,
as JSON: seconds, processor seconds, losses, epochs, peak memory, versions.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from typing import Any

# Threads are limited before any numerical library is loaded; one core could not use more anyway.
LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
MODULES = {
    "ours": "benchmarks.engine.contenders.ours",
    "torch": "benchmarks.engine.contenders.torch_loop",
    "numpy": "benchmarks.engine.contenders.numpy_loop",
    "keras": "benchmarks.engine.contenders.keras_loop",
    "statsmodels": "benchmarks.engine.contenders.solvers",
    "sklearn": "benchmarks.engine.contenders.solvers",
}


def perform(task: dict[str, Any]) -> dict[str, Any]:
    """Do what the task says and measure it; processor time covers children that have ended."""
    from benchmarks.engine.config import Rule
    from benchmarks.engine.problems import seasonal, tabular, uncensored

    rule, size, name = Rule.from_json(task["rule"]), task["size"], task["contender"]
    try:
        module = importlib.import_module(MODULES[name])
        found = module.versions()
        fit = getattr(module, f"with_{name}")() if hasattr(module, f"with_{name}") else None
    except ImportError as error:
        return {"missing": f"{name} is not installed here: {error}"}
    work = task["work"]
    if work == "many":
        more = {"n_jobs": task["n_jobs"]} if name == "ours" else {}
        problems = [seasonal(index) for index in range(size)]
        measured = module.many(rule, problems, **more)
    elif work == "streamed":
        measured = module.streamed(rule, size, task["repeats"])
    elif work == "table":
        measured = module.table(rule, tabular(size, task["columns"]))
    else:
        problems = [uncensored(index, task["rows"]) for index in range(size)]
        measured = module.plain(rule, problems, fit) if fit else module.plain(rule, problems)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return measured | {"size": size, "peak_mb": kilobytes / 1024, "versions": found}


def main() -> None:
    task = json.loads(sys.argv[1])
    os.sched_setaffinity(0, task["cores"])
    if len(task["cores"]) == 1:
        os.environ.update(dict.fromkeys(LIMITS, "1"))
    began = time.perf_counter(), time.process_time()
    answer = perform(task)
    wall, busy = time.perf_counter() - began[0], time.process_time() - began[1]
    # Well below one on one core: something else was running and the figures are worth less.
    answer["core_share"] = busy / wall
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
