"""The drawings of distributions in the documentation."""

import os
from pathlib import Path

import partita as pt
import pytest


def host(shape, size, **words):
    return pt.Distribution(shape, team=pt.Team(size, "host"), **words)


LISTS = [[0, 1, 2, 9, 10], [3, 4, 8, 11, 12], [13, 5, 6, 7], [15, 14]]
COPIES = [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7, 8], [7, 8, 9, 10, 11]]
BLOCKS = [pt.Block([0, 4, 11, 15]), pt.Block([0, 6, 11, 18])]


@pytest.mark.parametrize(
    "name, dist",
    [
        (
            "line-halo-boundary",
            lambda: host(24, 4, dims=[pt.Block([0, 8, 12, 17, 24])], boundary=((2, 1),), halo=[[(0, 1), (1, 2), (2, 3), (3, 0)]]),
        ),
        ("line-periodic", lambda: host(16, 4, halo=((2, 1),), periodic=True)),
        ("line-block-cyclic", lambda: host(23, 3, dims=[pt.Cyclic(3)])),
        ("line-unstructured", lambda: host(16, 4, dims=[pt.Unstructured(LISTS)])),
        ("line-copies", lambda: host(12, 3, dims=[pt.Unstructured(COPIES, one_to_one=False)])),
        ("line-replicated", lambda: host(12, 3, dims=[pt.Replicated()])),
        ("plane-halo-boundary", lambda: host((15, 18), 9, grid=(3, 3), dims=BLOCKS, halo=((1, 1), (2, 2)), boundary=1)),
        ("plane-cyclic", lambda: host((13, 17), 6, grid=(2, 3), dims=[pt.Cyclic(3), pt.Cyclic(2)])),
        ("cube-slices", lambda: host((4, 8, 9), 8, grid=(2, 2, 2), dims=[None, None, pt.Cyclic(2)])),
    ],
)
def test_svg_files_of_the_documentation_are_what_the_code_draws(name, dist):
    file, svg = Path(__file__).parents[2] / f"docs/distributions/{name}.svg", dist().svg()
    if "UPDATE_GOLDEN" in os.environ:
        file.write_text(svg)
    assert file.read_text() == svg, f"{file} differs: UPDATE_GOLDEN=1 writes it anew"
