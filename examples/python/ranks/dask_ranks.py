"""Dask starts the ranks: each worker process becomes one, and arrays span all of them. One task per worker computes; the
scheduler must not move it or repeat it, because all ranks have to run together."""

import tempfile
import time

import distributed


def heat(rank, size, address):
    """The task of one rank: 100 steps on a rod, and its mean, which all ranks get."""
    import partita as pt  # noqa: PLC0415 - on the worker

    team = pt.Team.connect(parts=2, rank=rank, size=size, address=address)
    u = pt.zeros(4000, team=team)
    u[1000:3000] = 1

    def step(u):
        u[1:-1] += 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])

    pt.Loop(step).run(u, steps=100)
    return team.rank, float(u.mean())


def on_every_worker(client, task):
    """The results of `task(rank, size, address)` of every worker, which run at the same time."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    address = tempfile.mkdtemp() + "/job"  # On several machines HOST:PORT of rank 0, and secret= for connect.
    submit = {"pure": False, "retries": 0, "allow_other_workers": False}
    futures = [client.submit(task, rank, len(workers), address, workers=[worker], **submit) for rank, worker in enumerate(workers)]
    return client.gather(futures)


if __name__ == "__main__":
    begin = time.perf_counter()
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        results = on_every_worker(client, heat)
    assert results == [(0, 0.5), (1, 0.5)], results
    print(f"ok: ranks and means {results}, {time.perf_counter() - begin:.1f} s")
