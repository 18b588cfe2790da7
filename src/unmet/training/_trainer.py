"""The host side of training: fill slots from a queue and empty them as networks finish."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from unmet.runs import refuse_fork
from unmet.training._compiling import await_compiled, compile_ahead, give_up
from unmet.training._problem import sizes
from unmet.training._program import CHUNK, Program, empty_states, program
from unmet.training._shapes import refilled
from unmet.training._spec import ProgramSpec

# Calls into the compiled loop return about this often, so that Ctrl-C and progress are prompt.
_SECONDS_PER_CALL = 0.2
# Calls whose losses are kept for all slots together.
_LONGEST_STREAM = 32

_EMPTY: Any = object()  # tag of an empty slot


@dataclass(frozen=True)
class Job:
    """A network to train: the caller's tag, the program, and the data (see `blank`)."""

    tag: Any
    spec: ProgramSpec
    floats: np.ndarray
    integers: np.ndarray
    weights: np.ndarray | None = None  # to go on from, instead of fresh ones

    @property
    def epochs(self) -> int:
        """Most epochs that it trains."""
        return int(self.integers[2])


@dataclass(frozen=True)
class Trained:
    """A trained network: its vector of weights and its losses."""

    weights: np.ndarray
    history: np.ndarray  # (epochs, 2): training loss and stopping loss
    loss: float  # best stopping loss, or last training loss without early stopping

    @property
    def epochs(self) -> int:
        return len(self.history)


def train(jobs: Iterable[Job], watch: Callable[[int], None] | None = None) -> Iterator[tuple[Any, Trained]]:
    """Train networks and yield (tag, result) as they finish. Take jobs as slots become free.

    `watch` is called a few times a second with the number of epochs that networks have trained since.

    The next jobs are made while a program runs. Memory holds one set of slots per distinct spec, and a few
    jobs, however many there are.
    """
    refuse_fork()
    benches: dict[ProgramSpec, _Bench] = {}
    source, ahead = iter(jobs), deque[Job]()

    def fetch(wanted: int) -> None:
        ahead.extend(islice(source, max(0, wanted - len(ahead))))

    try:
        while True:
            fetch(1)
            if not ahead:
                break
            job = ahead.popleft()
            bench = benches.get(job.spec)
            if bench is None:
                bench = benches[job.spec] = _Bench(job.spec, watch)
            bench.put(job)
            if bench.full:
                yield from bench.work(fetch)
        for bench in benches.values():
            while bench.busy:
                yield from bench.work()
    finally:
        give_up(benches)


class _Bench:
    """The slots of one program."""

    def __init__(self, spec: ProgramSpec, watch: Callable[[int], None] | None = None) -> None:
        self.spec, self.watch = spec, watch
        slots = spec.slots
        self.program: Program = program(spec)
        length, count = sizes(spec)
        alone = slots == 1  # a large problem: one copy of it is enough
        self.problems: tuple[Any, ...] = (
            np.zeros((1 if alone else slots, 0 if alone else length), np.float32),
            np.zeros((slots, count), np.uint32),
        )
        self.states: Any = empty_states(spec)
        self.tags: list[Any] = [_EMPTY] * slots
        self.free = list(range(slots))[::-1]
        self.fresh: list[tuple[int, Job]] = []
        # Losses of the last calls, all slots together; where in them a network began; its losses before.
        self.stream: list[np.ndarray] = []
        self.begun = [0] * slots
        self.told = np.zeros(slots, int)  # epochs that `watch` has heard of
        self.earlier: list[list[np.ndarray]] = [[] for _ in range(slots)]
        self.limit = 8
        compile_ahead(spec)

    @property
    def full(self) -> bool:
        return not self.free

    @property
    def busy(self) -> bool:
        return len(self.free) < self.spec.slots

    def put(self, job: Job) -> None:
        slot = self.free.pop()
        self.tags[slot], self.earlier[slot] = job.tag, []
        self.begun[slot], self.told[slot] = len(self.stream), 0
        self.fresh.append((slot, job))

    def work(self, fetch: Callable[[int], None] | None = None) -> Iterator[tuple[Any, Trained]]:
        """Train until some slots are free, or without `fetch` until all networks have finished."""
        self._start()
        slots = self.spec.slots
        # Waiting for one slot at a time would spend more time on calls than on training.
        enough = 0 if fetch is None else slots - refilled(slots)
        while self.busy and (fetch is None or self.full):
            begun = time.perf_counter()
            self.states, losses, count = self.program.advance(
                self.states, *self.problems, np.int32(self.limit), np.int32(enough)
            )
            if fetch is not None:
                fetch(refilled(slots))
            done = int(count)
            self._pace(done, time.perf_counter() - begun)
            self._record(np.asarray(losses)[:done].copy())
            if self.watch is not None:
                self._tell()
            yield from self._take()

    def _start(self) -> None:
        """Put fresh networks into their slots, a fixed number at a time."""
        if not self.fresh:
            return
        await_compiled(self.spec)
        size = refilled(self.spec.slots)
        for begin in range(0, len(self.fresh), size):
            some = self.fresh[begin : begin + size]
            some += some[-1:] * (size - len(some))  # the last one again and again
            index = np.array([slot for slot, _ in some], np.int32)
            floats = some[0][1].floats[None] if size == 1 else np.stack([job.floats for _, job in some])
            integers = np.stack([job.integers for _, job in some])
            self.states, *problems = self.program.start(self.states, *self.problems, index, floats, integers)
            self.problems = tuple(problems)
        self._go_on()
        self.fresh = []

    def _go_on(self) -> None:
        """Give networks that go on from an earlier fit its weights."""
        given = [(slot, job.weights) for slot, job in self.fresh if job.weights is not None]
        if not given:
            return
        index = np.array([slot for slot, _ in given])
        weights = np.array(self.states.weights)
        weights[index] = np.stack([values for _, values in given])
        best = None if self.states.best is None else weights.copy()
        if best is not None:
            others = np.setdiff1d(np.arange(self.spec.slots), index)
            best[others] = np.asarray(self.states.best)[others]
        self.states = self.states._replace(weights=weights, best=best)

    def _tell(self) -> None:
        """Report the epochs that networks have trained since the last report."""
        assert self.watch is not None
        held = np.array([tag is not _EMPTY for tag in self.tags])
        reached = np.where(held, np.asarray(self.states.epoch), self.told)
        self.watch(int((reached - self.told).sum()))
        self.told = reached

    def _pace(self, done: int, seconds: float) -> None:
        if done and seconds > 0:
            wanted = _SECONDS_PER_CALL * done / seconds
            self.limit = int(min(CHUNK, max(1, wanted, self.limit // 2), 2 * self.limit))

    def _record(self, losses: np.ndarray) -> None:
        """Keep the losses of a call. A network that ends in it has fewer, which `_take` counts."""
        self.stream.append(losses)
        if len(self.stream) >= _LONGEST_STREAM:  # one network that never ends must not keep all others'
            for slot, tag in enumerate(self.tags):
                if tag is not _EMPTY:
                    self.earlier[slot] += [part.copy() for part in self._losses(slot)]
                    self.begun[slot] = 0
            self.stream = []

    def _losses(self, slot: int) -> list[np.ndarray]:
        return [part[:, :, slot] for part in self.stream[self.begun[slot] :]]

    def _take(self) -> Iterator[tuple[Any, Trained]]:
        """Yield the networks that have finished, and free their slots."""
        states = self.states
        active, epochs, loss = (np.asarray(part) for part in (states.active, states.epoch, states.best_loss))
        kept = np.asarray(states.weights if states.best is None else states.best)
        for slot in np.flatnonzero(~active).tolist():
            tag = self.tags[slot]
            if tag is _EMPTY:
                continue
            history = np.concatenate([*self.earlier[slot], *self._losses(slot)])[: epochs[slot]]
            self.tags[slot], self.earlier[slot] = _EMPTY, []
            self.free.append(slot)
            yield tag, Trained(kept[slot].copy(), history, float(loss[slot]))
        if not self.busy:
            self.stream = []
