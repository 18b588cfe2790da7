"""Contenders take turns: A B A B, each turn a fresh pinned process, so that noise of the machine hits all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.engine.config import Rule

ROOT = Path(__file__).resolve().parents[2]
# A contender that hangs is a result too, and must not hold up the others for ever.
SECONDS_ALLOWED = 900


@dataclass(frozen=True)
class Entry:
    """A contender's task in a line; `rounds` how often it gets a turn."""

    contender: str
    work: str
    rule: Rule
    size: int
    rounds: int
    cores: int = 1
    options: tuple[tuple[str, int], ...] = ()
    apart: bool = False  # one process per core at the same time, each with all of the work

    def tasks(self) -> list[str]:
        """As the contender's processes read it. One core means the last: the first serves interrupts."""
        cores = sorted(os.sched_getaffinity(0))[-self.cores :]
        groups = [[core] for core in cores] if self.apart else [cores]
        described = asdict(self) | dict(self.options)
        return [json.dumps(described | {"cores": group, "n_jobs": len(group)}) for group in groups]


@dataclass(frozen=True)
class Outcome:
    """What a contender's turns gave: the answers, or why there is none."""

    answers: tuple[dict[str, Any], ...]
    problem: str | None = None

    def middle(self, name: str = "seconds") -> float:
        """Median over the turns."""
        return median(answer[name] for answer in self.answers)

    @property
    def seconds_each(self) -> float:
        """Median seconds per network."""
        return self.middle() / self.answers[0]["size"]

    @property
    def losses(self) -> list[float]:
        return self.answers[0]["losses"]

    def to_json(self) -> dict[str, Any]:
        kept = [{k: v for k, v in a.items() if k not in ("losses", "epochs")} for a in self.answers]
        summary: dict[str, Any] = {"turns": kept, "problem": self.problem}
        for name in ("losses", "epochs"):
            values = self.answers[0].get(name) if self.answers else None
            if values:
                summary[f"mean_{name}"] = sum(values) / len(values)
        return summary


def take_turn(entry: Entry) -> dict[str, Any]:
    """One turn of one contender; what went wrong, if anything did, is under "missing" or "failed"."""
    with ThreadPoolExecutor() as threads:
        answers = list(threads.map(_answer, entry.tasks()))
    # Of several at the same time: one that failed, or else the slowest.
    return max(answers, key=lambda one: one.get("seconds", float("inf")))


def _answer(task: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.engine.contender", task]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS_ALLOWED)
    except subprocess.TimeoutExpired:
        return {"failed": f"gave no answer within {SECONDS_ALLOWED} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failed": lines[-1] if lines else f"ended with code {done.returncode}", "log": done.stderr}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def race(entries: dict[str, Entry], say: Callable[[str], None] = lambda _: None) -> dict[str, Outcome]:
    """Run all entries in turns. A contender that is missing or fails drops out; the others go on."""
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in entries}
    problems: dict[str, str] = {}
    for turn in range(max(entry.rounds for entry in entries.values())):
        for name, entry in entries.items():
            if turn >= entry.rounds or name in problems:
                continue
            say(f"{name}, turn {turn + 1} of {entry.rounds}")
            answer = take_turn(entry)
            if "missing" in answer or "failed" in answer:
                problems[name] = answer.get("missing") or f"{name} failed: {answer['failed']}"
                say(answer.get("log", ""))
            else:
                answers[name].append(answer)
    return {name: Outcome(tuple(answers[name]), problems.get(name)) for name in entries}
