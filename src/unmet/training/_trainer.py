"""The host side of training: fill slots from a queue and empty them as networks finish."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from unmet.runs import refuse_fork
from unmet.training._compiling import await_compiled, compile_ahead, give_up
from unmet.training._problem import sizes
from unmet.training._program import CHUNK, Program, empty_states, program
from unmet.training._spec import ProgramSpec

# Calls into the compiled loop return about this often, so that Ctrl-C and progress are prompt.
_SECONDS_PER_CALL = 0.2


_EMPTY: Any = object()  # tag of an empty slot


@dataclass(frozen=True)
class Job:
    """A network to train: the caller's tag, the program, and the data (see `blank`)."""

    tag: Any
    spec: ProgramSpec
    floats: np.ndarray
    integers: np.ndarray


@dataclass(frozen=True)
class Trained:
    """A trained network: its vector of weights and its losses."""

    weights: np.ndarray
    history: np.ndarray  # (epochs, 2): training loss and stopping loss
    loss: float  # best stopping loss, or last training loss without early stopping

    @property
    def epochs(self) -> int:
        return len(self.history)


def train(jobs: Iterable[Job]) -> Iterator[tuple[Any, Trained]]:
    """Train networks and yield (tag, result) as they finish. Take jobs as slots become free.

    Memory holds one set of slots per distinct spec, however many jobs there are.
    """
    refuse_fork()
    benches: dict[ProgramSpec, _Bench] = {}
    try:
        for job in jobs:
            bench = benches.get(job.spec)
            if bench is None:
                bench = benches[job.spec] = _Bench(job)
            bench.put(job)
            if bench.full:
                yield from bench.work(drain=False)
        for bench in benches.values():
            while bench.busy:
                yield from bench.work(drain=True)
    finally:
        give_up(benches)


class _Bench:
    """The slots of one program."""

    def __init__(self, job: Job) -> None:
        self.spec = job.spec
        slots = job.spec.slots
        self.program: Program = program(job.spec)
        length, count = sizes(job.spec)
        self.floats = np.zeros((slots, length), np.float32)
        self.integers = np.zeros((slots, count), np.uint32)
        self.states: Any = empty_states(job.spec)
        self.tags: list[Any] = [_EMPTY] * slots
        self.histories: list[list[np.ndarray]] = [[] for _ in range(slots)]
        self.free = list(range(slots))[::-1]
        self.fresh = np.zeros(slots, bool)
        self.problems: tuple[Any, ...] = ()
        self.limit = 8
        compile_ahead(job.spec)

    @property
    def full(self) -> bool:
        return not self.free

    @property
    def busy(self) -> bool:
        return len(self.free) < self.spec.slots

    def put(self, job: Job) -> None:
        slot = self.free.pop()
        self.floats[slot], self.integers[slot] = job.floats, job.integers
        self.tags[slot], self.histories[slot] = job.tag, []
        self.fresh[slot] = True

    def work(self, drain: bool) -> Iterator[tuple[Any, Trained]]:
        """Train until some slots are free, or with `drain` until all networks have finished."""
        self._start()
        slots = self.spec.slots
        # Waiting for one slot at a time would spend more time on calls than on training.
        enough = 0 if drain else slots - max(1, slots // 8)
        while self.busy and (drain or self.full):
            begun = time.perf_counter()
            states, losses, count = self.program.advance(
                self.states, *self.problems, np.int32(self.limit), np.int32(enough)
            )
            done = int(count)
            self._pace(done, time.perf_counter() - begun)
            finished = self._record(states, np.asarray(losses), done)
            self.states = states
            for slot in finished:
                yield self._take(slot)

    def _start(self) -> None:
        if not self.fresh.any():
            return
        await_compiled(self.spec)
        # Copy: slots are refilled, and the program's arrays must not change.
        self.problems = tuple(jax.device_put(array.copy()) for array in (self.floats, self.integers))
        self.states = self.program.start(self.states, *self.problems, self.fresh)
        self.started_epochs = np.asarray(self.states.epoch)
        self.fresh = np.zeros(self.spec.slots, bool)

    def _pace(self, done: int, seconds: float) -> None:
        if done and seconds > 0:
            wanted = _SECONDS_PER_CALL * done / seconds
            self.limit = int(min(CHUNK, max(1, wanted, self.limit // 2), 2 * self.limit))

    def _record(self, states: Any, losses: np.ndarray, done: int) -> list[int]:
        before, after = self.started_epochs, np.asarray(states.epoch)
        active = np.asarray(states.active)
        finished = []
        for slot, tag in enumerate(self.tags):
            if tag is _EMPTY:
                continue
            ran = int(after[slot] - before[slot])
            self.histories[slot].append(losses[:ran, :, slot].copy())
            if not active[slot]:
                finished.append(slot)
        self.started_epochs = after
        return finished

    def _take(self, slot: int) -> tuple[Any, Trained]:
        tag = self.tags[slot]
        states = self.states
        kept = states.weights if states.best is None else states.best
        weights = np.array(np.asarray(kept)[slot])
        history = np.concatenate(self.histories[slot])
        loss = float(np.asarray(states.best_loss)[slot])
        self.tags[slot], self.histories[slot] = _EMPTY, []
        self.free.append(slot)
        return tag, Trained(weights, history, loss)
