"""Run shards on a Dask cluster, with the interface of processes on this machine."""

import secrets
from collections.abc import Iterable, Iterator
from typing import Any

from unmet.runs._extras import naming_extras
from unmet.runs._shards import shard_error, unwrap
from unmet.runs._workers import call, pack


def run_on_cluster(
    function: Any, shards: Iterable[Any], cluster: Any, initializer: Any
) -> Iterator[tuple[int, Any]]:
    """Send shards to a Dask scheduler, at most two per thread ahead of what was yielded.

    Dask reruns the shards of a lost worker elsewhere. The workers need the same version of unmet.
    """
    with naming_extras():
        import distributed
    if isinstance(cluster, str):
        client, own = distributed.Client(cluster), True
    elif isinstance(cluster, distributed.Client):
        client, own = cluster, False
    else:
        raise ValueError(
            f"cluster must be the address of a Dask scheduler or a Client, not {type(cluster).__name__}"
        )
    return _run(client, own, function, shards, initializer)


def _run(
    client: Any, own: bool, function: Any, shards: Iterable[Any], initializer: Any
) -> Iterator[tuple[int, Any]]:
    import distributed

    name = f"unmet-{secrets.token_hex(8)}"
    packed = pack(function)
    packed_initializer = None if initializer is None else pack(initializer)
    source = enumerate(shards)
    pending: dict[Any, int] = {}
    try:
        while True:
            ahead = 2 * max(1, sum(client.nthreads().values()))
            while len(pending) < ahead:
                item = next(source, None)
                if item is None:
                    break
                future = client.submit(
                    call, packed, packed_initializer, item[1], key=f"{name}-{item[0]}", pure=False
                )
                pending[future] = item[0]
            if not pending:
                break
            finished = distributed.wait(list(pending), return_when="FIRST_COMPLETED").done
            for future in sorted(finished, key=lambda future: pending[future]):
                index = pending.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    raise shard_error(index, error) from error
                yield index, unwrap(index, result)
    finally:
        if pending:
            client.cancel(list(pending))
        if own:
            client.close()
