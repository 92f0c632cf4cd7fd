"""Arrays handed over between dask, on two worker processes, and Partita, by ``__partitioned__``.

dask's chunks come in as futures, which ``get`` fetches; Partita's parts go out to the workers, one chunk each. Without
dask.distributed it says so and does nothing.
"""

import os
import sys

import numpy as np
import partita as pt

try:
    import dask.array as da
    from distributed import Client, LocalCluster, futures_of, get_client, wait
except ImportError as error:
    print(f"skipped: dask_handover (no dask.distributed: {error})")
    print("ok: nothing to do")
    sys.exit()


def gather(handles):
    """The arrays of one future or several. A function of a module, so that it can be pickled."""
    return get_client().gather(handles)


def partitioned(client, x):
    """What ``__partitioned__`` says of a dask array: futures, where they are, and how to fetch them."""
    x = client.persist(x)
    wait(x)
    futures = {future.key: future for future in futures_of(x)}
    where, pids = client.who_has(futures_of(x)), client.run(os.getpid)
    ends = [np.cumsum(sizes) for sizes in x.chunks]
    partitions = {}
    for position in np.ndindex(x.numblocks):
        shape = tuple(sizes[at] for sizes, at in zip(x.chunks, position, strict=True))
        stop = (int(end[at]) for end, at in zip(ends, position, strict=True))
        key = (x.name, *position)
        partitions[position] = {
            "start": tuple(last - extent for last, extent in zip(stop, shape, strict=True)),
            "shape": shape,
            "data": futures[key],
            "location": [(worker.split("//")[1].rsplit(":", 1)[0], pids[worker]) for worker in where[key]],
        }
    return {"shape": x.shape, "partition_tiling": x.numblocks, "partitions": partitions, "get": gather}


def to_dask(client, u):
    """A dask array of the partitions of anything with ``__partitioned__``: each becomes a chunk on some worker."""
    said, workers = u.__partitioned__, list(client.nthreads())
    chunks = np.empty(said["partition_tiling"], object)
    for number, (position, entry) in enumerate(sorted(said["partitions"].items())):
        block = np.asarray(said["get"](entry["data"]))
        future = client.scatter(block, workers=[workers[number % len(workers)]], hash=False)
        chunks[position] = da.from_delayed(future, block.shape, block.dtype)
    return da.block(chunks.tolist())


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        x = (da.arange(600 * 400, chunks=60_000).reshape(600, 400) % 1000 - 500.0).rechunk((200, 400))
        u = pt.from_partitioned(partitioned(client, x), team=pt.Team(3, "host"))
        assert np.array_equal(u.numpy(), x.compute())
        u[1:-1] = 0.25 * (u[:-2] + u[2:]) + 0.5 * u[1:-1]
        back = to_dask(client, u)
        total = (back * 2).sum(axis=0).compute()
        assert np.array_equal(back.compute(), u.numpy()) and np.allclose(total, (u * 2).sum(axis=0).numpy())
        print(f"ok: {x.npartitions} futures of 2 processes became {u.dist.num_parts} parts, and chunks again")


if __name__ == "__main__":
    main()
