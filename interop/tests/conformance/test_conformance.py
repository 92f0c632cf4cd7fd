"""``partita.conformance``: right implementations pass, and every planted error is found; what Partita and dask offer."""

import os
import subprocess
import sys

import numpy as np
import partita as pt
import pytest

from conformance import kit
from conformance.toys import arrays, itself, teams
from partita.conformance import DOCUMENTS, goldens, run


def failures(module, *documents):
    """The goldens that failed, and how many passed."""
    outcomes = run(module, documents or DOCUMENTS)
    return [f"{golden['requirement']}: {golden['name']}: {why}" for golden, state, why in outcomes if state == "failed"], sum(state == "passed" for _, state, _ in outcomes)


def test_goldens_are_of_requirements_and_no_two_are_alike():
    counts = {document: len(goldens(document)) for document in DOCUMENTS}
    assert counts == {"distarray": 77, "chapel": 18, "distdl": 22, "dist": 44, "partitioned": 26}
    every = [golden for document in DOCUMENTS for golden in goldens(document)]
    assert all(golden["requirement"] in kit.ROWS for golden in every)
    assert len({(golden["requirement"], golden["name"]) for golden in every}) == len(every)


def test_right_implementations_pass():
    assert failures(arrays) == ([], 77 + 26)
    assert failures(teams) == ([], 18 + 22 + 44)


def test_partita_passes():
    found, passed = failures(itself)
    assert found == [] and passed == 184
    # The package itself, by the names that it has.
    assert failures(pt) == ([], 77)


#: In which module, the function, and what is called instead: the right one first, then its arguments.
PLANTED = {
    "all padding is owned": (arrays, "widths", lambda was, dim: (0, 0)),
    "boundary is not owned": (arrays, "widths", lambda was, dim: dim.get("padding", (0, 0))),
    "blocks are dealt backwards": (arrays, "stored", lambda was, dim: was({**dim, "proc_grid_rank": dim["proc_grid_size"] - 1 - dim["proc_grid_rank"]}) if dim["dist_type"] == "c" else was(dim)),
    "block_size is not read": (arrays, "stored", lambda was, dim: was({key: value for key, value in dim.items() if key != "block_size"})),
    "lists are sorted": (arrays, "stored", lambda was, dim: sorted(was(dim))),
    "places leave out the padding": (arrays, "to_local", lambda was, dims, index: (was(dims, index)[0], was(dims, index)[1] - arrays.kept(dims[was(dims, index)[0]]).start)),
    "any version is read": (arrays, "check_version", lambda was, version: None),
    "keys may be more": (arrays, "check_keys", lambda was, said: None),
    "extents are not compared with the buffer": (arrays, "check_extent", lambda was, dim, extent: None),
    "stop may be beyond size, padding negative": (arrays, "check_block", lambda was, dim: None),
    "indices may be twice in a list": (arrays, "check_list", lambda was, dim: None),
    "seams are not compared": (arrays, "check_neighbours", lambda was, left, right: None),
    "padding may be wider than the neighbour": (arrays, "check_widths", lambda was, dims: None),
    "padding must be narrower than the neighbour": (arrays, "check_widths", lambda was, dims: was([{**dim, "padding": tuple(w + (w > 0) for w in dim.get("padding", (0, 0)))} for dim in dims])),
    "one_to_one is not checked": (arrays, "check_one_to_one", lambda was, dims: None),
    "places are in any order": (arrays, "check_places", lambda was, every: None),
    "one grid rank may say two things": (arrays, "check_alike", lambda was, every: None),
    "{} is refused": (arrays, "check_dim", lambda was, dim, extent: was(dim or {"size": extent}, extent)),
    "positions may be missing": (arrays, "check_positions", lambda was, partitions, tiling: None),
    "partitions may overlap": (arrays, "check_tiles", lambda was, partitions, shape: None),
    "data may be missing": (arrays, "check_data", lambda was, partitions, local: arrays.check_types(partitions)),
    "data may be of several types": (arrays, "check_types", lambda was, partitions: None),
    "partitions are read in the order of the entries": (arrays, "from_partitioned", lambda was, said: was({**said, "partitions": {at: {**entry, "data": one["data"]} for (at, entry), one in zip(sorted(said["partitions"].items()), said["partitions"].values(), strict=True)}})),
    "starts count partitions": (arrays, "partitioned", lambda was, array, tiling: (said := was(array, tiling)) | {"partitions": {at: {**entry, "start": at} for at, entry in said["partitions"].items()}}),
    "a union is sorted": (teams, "union", lambda was, a, b: sorted(was(a, b))),
    "the lowest member is the root": (teams, "broadcast_groups", lambda was, *given: [sorted(group) for group in was(*given)]),
    "shapes are padded on the right": (teams, "padded_shape", lambda was, shape, ndim: list(shape) + [1] * (ndim - len(shape))),
    "extents that do not fit are cut": (teams, "check_extents", lambda was, shape, target: None),
    "roots are not added": (teams, "sum_reduce_groups", lambda was, *given: [[group[0], *group[1:-1]] for group in was(*given)]),
    "the named dimensions stay": (teams, "kept", lambda was, place, axes: tuple(place[d] for d in axes)),
    "ranks are in Fortran order": (teams, "cartesian_index", lambda was, shape, rank: np.unravel_index(rank, shape, "F")),
    "neighbours wrap": (teams, "neighbor_ranks", lambda was, shape, rank: [tuple(rank if one is None else one for one in pair) for pair in was(shape, rank)]),
    "the first members have one more": (teams, "cuts", lambda was, members, extent: was(members, extent)[::-1]),
    "the offset is that of the owned part": (teams, "first_offset", lambda was, offset, below: offset),
    "slices have steps of 1": (teams, "cells", lambda was, offset, size, stride: range(offset, offset + size)),
    "a target is in global coordinates": (teams, "required", lambda was, offset, size, stride, at, extent: was(0, size, stride, at, extent)),
    "empty boxes widen the hull": (teams, "hull", lambda was, box, earlier: (min(box[0], earlier[0]), max(box[1], earlier[1]))),
    "an inner box is a hull": (teams, "common", lambda was, box, earlier: teams.hull(box, earlier)),
    "positions count elements without their stride": (teams, "index_order", lambda was, whole, index: index - whole[0]),
    "descriptions forget the stride": (teams, "densify", lambda was, sub, whole: [*was(sub, whole)[:2], 1]),
    "numbers stay numbers": (teams, "rank_change", lambda was, left, right: [left, right]),
}  # fmt: skip


@pytest.mark.parametrize("error", PLANTED)
def test_planted_errors_are_found(error, monkeypatch):
    module, name, wrong = PLANTED[error]
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: wrong(right, *given))
    found, passed = failures(module)
    assert found and passed > 30, error


def test_the_program(tmp_path, capsys):
    from partita.conformance.__main__ import main

    def said(*words):
        return main(list(words)), capsys.readouterr().out

    code, out = said("conformance.toys.teams", "dist", "distdl")
    assert code == 0 and out.splitlines()[-1] == "66 passed, 0 failed, 0 not offered" and "passed      D23 local_bounding_box: 1,7 | 4,4" in out, out
    assert said("-q", "math") == (0, "0 passed, 0 failed, 187 not offered\n")
    for words in ([], ["--help"], ["math", "chess"]):
        code, out = said(*words)
        assert code == 2 and out.startswith("usage: python -m partita.conformance")
    (tmp_path / "wrong.py").write_text("def union(a, b):\n    return sorted({*a, *b})\n")
    done = subprocess.run([sys.executable, "-m", "partita.conformance", "-q", "wrong"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1 and "failed      C5 union: own members first\n            expected [4, 1, 0, 5], given [0, 1, 4, 5]" in done.stdout, done.stdout


def test_blocks_of_dask_arrays():
    """dask has no ``__partitioned__`` of its own; its blocks, described by a function, pass what the goldens ask of exports."""
    da = pytest.importorskip("dask.array", reason="no dask")

    class Blocks:
        @staticmethod
        def partitioned(array, tiling):
            x = da.from_array(array, chunks=tuple(extent // parts for extent, parts in zip(array.shape, tiling, strict=True)))
            ends = [np.cumsum([0, *sizes]) for sizes in x.chunks]
            return {"shape": x.shape, "partition_tiling": x.numblocks, "get": lambda block: block.compute(), "partitions": {
                at: {"start": tuple(int(end[i]) for end, i in zip(ends, at, strict=True)), "shape": x.blocks[at].shape, "data": x.blocks[at], "location": [("127.0.0.1", os.getpid())]}
                for at in np.ndindex(x.numblocks)}}  # fmt: skip

    found, passed = failures(Blocks)
    assert found == [] and passed == 3
    array = np.arange(24.0).reshape(4, 6)
    said = Blocks.partitioned(array, (2, 2))
    assert pt.validate_partitioned(said) == (True, "")
    assert pt.from_partitioned(said, team=pt.Team(4, "host")).tolist() == array.tolist()
