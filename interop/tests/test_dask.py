"""``__partitioned__`` with handles of other packages: dask on a local cluster of two processes, and Ray where it is there."""

import os
import re
import runpy
from pathlib import Path

import numpy as np
import partita as pt
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples/python/packages/dask_handover.py"


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="no dask.distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def handover(client):
    """The functions of the example."""
    return runpy.run_path(str(EXAMPLE), run_name="dask_handover")


@pytest.mark.requirement("E13")
@pytest.mark.parametrize("chunks", [(4, 7), (10, 2), (4, 3), (5, (3, 0, 4))])
def test_futures_of_dask_are_taken(client, handover, team, chunks):
    """Chunks of unlike sizes on two workers: equal on every device, over any number of dimensions cut."""
    import dask.array as da

    x = da.arange(70, chunks=70, dtype=np.float32).reshape(10, 7).rechunk(chunks)
    said = handover["partitioned"](client, x)
    assert pt.validate_partitioned(said) == (True, "")
    places = {place for entry in said["partitions"].values() for place in entry["location"]}
    assert os.getpid() not in {pid for _, pid in places} and {address for address, _ in places} == {"127.0.0.1"}
    u = pt.from_partitioned(said, team=pt.Team(x.npartitions, team.devices[0]))
    np.testing.assert_array_equal(u.numpy(), np.arange(70, dtype=np.float32).reshape(10, 7))
    assert u.dist.num_parts == x.npartitions and u.dist.grid == x.numblocks
    np.testing.assert_array_equal((u[1:] - u[:-1]).numpy(), np.full((9, 7), 7, np.float32))


def test_get_fetches_one_future_or_several_and_can_be_pickled(client, handover):
    import dask.array as da
    import distributed

    x = da.arange(6, chunks=2)
    said = handover["partitioned"](client, x)
    handles = [entry["data"] for entry in said["partitions"].values()]
    assert all(isinstance(handle, distributed.Future) for handle in handles)
    assert [said["get"](handle).tolist() for handle in handles] == [part.tolist() for part in said["get"](handles)]
    # A client's own method is a `get`, too.
    for get in (client.gather, lambda handle: handle.result()):
        np.testing.assert_array_equal(pt.from_partitioned({**said, "get": get}, team=pt.Team(3, "host")).numpy(), np.arange(6))
    with pytest.raises(TypeError, match="given Future"):
        pt.from_partitioned({**said, "get": lambda handle: handle}, team=pt.Team(3, "host"))


def test_what_a_future_cannot_give_is_raised_as_dask_raises_it(client, handover):
    import dask.array as da

    said = handover["partitioned"](client, da.ones(4, chunks=2))
    said["partitions"][(1,)]["data"] = client.submit(divmod, 1, 0)
    with pytest.raises(ZeroDivisionError):
        pt.from_partitioned(said, team=pt.Team(2, "host"))


@pytest.mark.parametrize("grid", [(4, 1), (2, 2)])
def test_dask_computes_with_the_parts_of_an_array(client, handover, grid):
    u = pt.asarray(np.arange(70.0).reshape(10, 7), dist=pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=grid, halo=1))
    u[2:-2] = u[:-4] + u[4:]
    x = handover["to_dask"](client, u)
    assert x.numblocks == grid and x.chunks[0][0] == u.parts[0].shape[0]
    np.testing.assert_array_equal(x.compute(), u.numpy())
    np.testing.assert_array_equal((x @ x.T).compute(), u.numpy() @ u.numpy().T)
    # Computed there: the chunks are in both workers, and their tasks run in neither's parent.
    pids = x.map_blocks(lambda block: np.full((1, 1), os.getpid()), chunks=(1, 1), dtype=int).compute()
    assert len(set(pids.ravel().tolist())) == 2 and os.getpid() not in pids
    # And back, without a difference.
    back = pt.from_partitioned(handover["partitioned"](client, x), team=u.team)
    np.testing.assert_array_equal(back.numpy(), u.numpy())


def test_workers_of_dask_become_ranks(client):
    """Each of two worker processes is a rank of one team; the arrays span both."""
    example = runpy.run_path(str(EXAMPLE.parents[1] / "ranks/dask_ranks.py"), run_name="dask_ranks")
    results = example["on_every_worker"](client, example["heat"])
    assert [rank for rank, _ in results] == [0, 1] and {mean for _, mean in results} == {0.5}
    # The parent is no rank.
    assert pt.Team(2, "host").ranks == 1


def test_ray_references_are_taken():
    ray = pytest.importorskip("ray", reason="no Ray")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        host = np.arange(70.0).reshape(10, 7)
        u = pt.asarray(host, team=pt.Team(2, "host"))
        said = u.__partitioned__
        for entry in said["partitions"].values():
            entry["data"] = ray.put(np.asarray(said["get"](entry["data"])))
        said["get"] = ray.get
        np.testing.assert_array_equal(pt.from_partitioned(said, team=u.team).numpy(), host)
    finally:
        ray.shutdown()


def test_the_recipe_for_ray_runs():
    """The program of the document, on two actors of this machine."""
    ray = pytest.importorskip("ray", reason="no Ray")
    block = re.search(r"```python\n(import secrets\n.*?)```", (EXAMPLE.parents[3] / "docs/ranks.md").read_text(), re.S)
    program = {}
    exec(compile(block[1], "ranks.md", "exec"), program)
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PARTITA_DEVICE": "host", "PARTITA_THREADS": "1"}})
    try:
        assert program["main"]() == [1.0, 1.0]
    finally:
        ray.shutdown()
