"""Tasks whose results are files in the folder of a cluster: what was finished is not done again."""

import hashlib
import mmap
import os
import pickle
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from unmet.runs._atomic import atomic_write, remove_leftovers
from unmet.runs._checksum import code_version
from unmet.runs._cluster import Cluster
from unmet.runs._cluster_work import Task
from unmet.runs._packing import pack_arrays, unpack_arrays
from unmet.runs._shards import ShardError

Keep = Callable[[str, Callable[[], Any]], Any]
_ALIGNED = 64
_HEAD = 48  # a digest of 32 bytes, and the lengths of the pickle and of the arrays
_DAMAGED = 2  # times that a result may be found damaged
_COMMON: dict[str, Any] = {}  # of this worker


def keep_nothing(name: str, make: Callable[[], Any]) -> Any:
    """Return ``make()``: the `Keep` of work whose parts are not kept."""
    return make()


def keep_within(keep: Keep, name: str) -> Keep:
    """Return a `Keep` for the parts of a part, whose names may be those of parts elsewhere."""
    if keep is keep_nothing:
        return keep
    return lambda inner, make: keep(f"{name}/{inner}", make)


class KeptTasks:
    """Tasks of one kind over the same data, on a cluster with a folder.

    The result of a task is a file, written under another name and renamed, with its checksum inside. Its name
    follows from the code, the function, the data and the task, so the next run finds it.

    Parameters
    ----------
    function : called with the common data, the argument of a task and a `Keep`, which returns a part that was
        made before its worker died, or makes and keeps it.
    common : what all tasks share; written to the folder once. Only objects that plain pickle can handle.
    kind : of the tasks, in the costs that the cluster counts.
    """

    def __init__(
        self,
        cluster: Cluster,
        function: Callable[[Any, Any, Keep], Any],
        common: Any,
        tasks: Iterable[Task],
        kind: str = "tasks",
    ) -> None:
        if cluster.folder is None:
            raise ValueError("this cluster has no folder: give Cluster(address, folder=...) one to share")
        self._cluster, self._function, self._tasks = cluster, function, list(tasks)
        self._kind = kind
        name = f"{function.__module__}.{function.__qualname__}"
        packed = pack_arrays(common)
        digest = hashlib.sha256(f"{code_version()} {name} ".encode())
        for part in packed:
            digest.update(part)
        self._folder = cluster.folder / digest.hexdigest()[:32]
        self._folder.mkdir(exist_ok=True)
        remove_leftovers(self._folder)
        self._common = self._folder / "common"
        if not self._common.exists():
            _write(self._common, packed)
        self._keys = [_key(task) for task in self._tasks]

    def results(self) -> Iterator[Any]:
        """Yield the results in the order of the tasks; only those that are not there yet are made."""
        ready = [self._path(index).exists() for index in range(len(self._tasks))]
        damaged = 0
        at = 0
        while at < len(self._tasks):
            todo = [index for index in range(at, len(self._tasks)) if not ready[index]]
            work = (Task(self._tasks[i].name, self._order(i)) for i in todo)
            found = self._cluster.run(_work, work, progress=lambda n: self._parts(todo[n]))  # noqa: B023
            while at < len(self._tasks):
                while not ready[at]:
                    number, seconds = next(found)
                    self._cluster.count(self._kind, seconds)
                    ready[todo[number]] = True
                try:
                    result = read_packed(self._path(at))
                except (OSError, ValueError) as error:
                    damaged += 1
                    if damaged > _DAMAGED:
                        name = self._tasks[at].name
                        raise ShardError(
                            f"{name}: its result is damaged again and again: {error}", at
                        ) from error
                    self._path(at).unlink(missing_ok=True)
                    ready[at] = False
                    break
                yield result
                del result
                at += 1
            found.close()  # type: ignore[attr-defined]

    def forget(self) -> None:
        """Remove all results: whoever asked for them has them."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _order(self, index: int) -> tuple[Any, ...]:
        return self._function, str(self._common), str(self._path(index)), self._tasks[index].argument

    def _path(self, index: int) -> Path:
        return self._folder / f"{self._keys[index]}.done"

    def _parts(self, index: int) -> int:
        return sum(1 for _ in self._folder.glob(f"{self._keys[index]}-*"))


def _key(task: Task) -> str:
    return hashlib.sha256(pickle.dumps((task.name, task.argument), protocol=5)).hexdigest()[:24]


def _work(order: tuple[Any, ...]) -> float:
    """Do one task in a worker, write its result, and return the CPU seconds that it took."""
    began = time.process_time()
    function, common, path, argument = order
    if common not in _COMMON:
        _COMMON.clear()
        _COMMON[common] = read_packed(common, copy=False)
    stem = path.removesuffix(".done")

    def keep(name: str, make: Callable[[], Any]) -> Any:
        part = Path(f"{stem}-{hashlib.sha256(name.encode()).hexdigest()[:12]}")
        try:
            return read_packed(part)
        except (OSError, ValueError):
            made = make()
            write_packed(part, made)
            return made

    write_packed(path, function(_COMMON[common], argument, keep))
    return time.process_time() - began


def write_packed(path: str | os.PathLike[str], value: Any) -> None:
    """Write a value whole or not at all, its arrays as they are in memory, with a checksum."""
    _write(path, pack_arrays(value))


def _write(path: str | os.PathLike[str], packed: tuple[bytes, bytearray]) -> None:
    head, arrays = packed
    sizes = len(head).to_bytes(8, "little") + len(arrays).to_bytes(8, "little")
    digest = hashlib.sha256(sizes)
    digest.update(head)
    digest.update(arrays)
    with atomic_write(path, tidy=False) as file:
        file.write(digest.digest() + sizes + head + bytes(-(_HEAD + len(head)) % _ALIGNED))
        file.write(arrays)


def read_packed(path: str | os.PathLike[str], *, copy: bool = True) -> Any:
    """Return what `write_packed` wrote; without a copy, arrays are views of the file.

    A file that is cut short or changed raises ValueError. Only files of one's own folder may be read: a
    pickle can run code.
    """
    with open(path, "rb") as file:
        begin = file.read(_HEAD)
        if len(begin) < _HEAD:
            raise ValueError(f"{path} is cut short")
        length, size = (int.from_bytes(begin[at : at + 8], "little") for at in (32, 40))
        head = file.read(length)
        start = -(-(_HEAD + length) // _ALIGNED) * _ALIGNED
        if os.fstat(file.fileno()).st_size != start + size:
            raise ValueError(f"{path} is cut short")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    digest = hashlib.sha256(begin[32:])
    digest.update(head)
    with memoryview(mapped) as all_bytes, all_bytes[start:] as arrays:
        digest.update(arrays)
    if digest.digest() != begin[:32]:
        raise ValueError(f"{path} is damaged")
    return unpack_arrays((head, mapped), copy=copy, start=start)
