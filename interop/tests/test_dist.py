"""Distributions: who owns what, pictures, and what is refused."""

import re

import numpy as np
import partita as pt
import pytest


@pytest.fixture
def team():
    return pt.Team(4, "host")


def test_blocks(team):
    dist = pt.Distribution((8, 9), team=team, grid=(2, 2), halo=1, periodic=(False, True))
    assert (dist.shape, dist.grid, dist.num_parts, dist.ndim) == ((8, 9), (2, 2), 4, 2)
    assert dist.halo == ((1, 1), (1, 1)) and dist.periodic == (False, True) and dist.kinds == ("block", "block")
    assert [dist.owned(p) for p in range(4)] == [((0, 4), (0, 4)), ((0, 4), (4, 9)), ((4, 8), (0, 4)), ((4, 8), (4, 9))]
    assert dist.owner((5, 3)) == 2
    assert dist.to_local((5, 3)) == (2, (2, 4))
    assert dist.to_global(2, (2, 4)) == (5, 3)
    # The halo wraps along dimension 1.
    assert dist.to_global(2, (0, 0)) == (3, 8)
    assert dist.neighbors(0) == ((None, 2), (1, 1))


def test_every_cell_has_one_owner(team):
    dists = [
        pt.Distribution((11, 7), team=team),
        pt.Distribution((11, 7), team=team, grid=(2, 2), dims=[pt.Block([0, 3, 11]), pt.Cyclic(2)]),
        pt.Distribution((11, 7), team=team, grid=(4, 1), dims=[pt.Unstructured([[0, 10], [5, 4], [1, 2, 3], [6, 7, 8, 9]]), None]),
    ]
    for dist in dists:
        count = np.zeros(dist.shape, int)
        for part in range(4):
            sets = [np.arange(*o) if isinstance(o, tuple) else o for o in dist.owned(part)]
            count[np.ix_(*sets)] += 1
            for i in sets[0]:
                for j in sets[1]:
                    assert dist.owner((i, j)) == part
                    owner, local = dist.to_local((int(i), int(j)))
                    assert (owner, dist.to_global(owner, local)) == (part, (i, j))
        assert (count == 1).all()


def test_widths_in_every_form(team):
    widths = {1: ((1, 1), (1, 1)), (1, 2): ((1, 1), (2, 2)), ((0, 1), (2, 0)): ((0, 1), (2, 0)), (1, (0, 2)): ((1, 1), (0, 2))}
    for given, expected in widths.items():
        assert pt.Distribution((16, 16), team=team, grid=(2, 2), halo=given).halo == expected
    assert pt.Distribution((16, 16), team=team, boundary=((1, 0), (0, 2))).boundary == ((1, 0), (0, 2))


def test_text_and_picture(team):
    dist = pt.Distribution((8, 8), team=team, grid=(2, 2), halo=1)
    assert repr(dist) == "<partita.Distribution (8, 8), 4 parts in grid (2, 2), block x block>"
    assert "shape (8, 8), 4 parts" in str(dist)
    assert dist._repr_html_().startswith("<svg") and dist.svg() == dist._repr_html_()
    four = pt.Distribution((2, 2, 2, 2), team=team)
    assert four._repr_html_().startswith("<pre>")


def host(shape, size, **words):
    return pt.Distribution(shape, team=pt.Team(size, "host"), **words)


def cells(svg, fill):
    """The area of all boxes of a fill, in cells, which are 36 pixels wide."""
    boxes = [line for line in svg.splitlines() if line.startswith("<rect x=") and fill in line]
    sides = [re.search(' width="(.*?)" height="(.*?)"', line).groups() for line in boxes]
    return round(sum(float(width) * float(height) for width, height in sides) / 36**2)


def test_svg_areas_are_the_counts_of_the_parts():
    dist = host((13, 12), 6, grid=(2, 3), dims=[pt.Cyclic(3), pt.Cyclic(2)])
    counts = [np.prod([len(o) if not isinstance(o, tuple) else o[1] - o[0] for o in dist.owned(part)]) for part in range(6)]
    colours = ["#8fbcd9", "#f4b183", "#a9d18e", "#f4a6a6", "#c5b0d5", "#d9c48f"]
    assert [cells(dist.svg(), colour) for colour in colours] == counts
    halo = host((9, 9), 9, grid=(3, 3), halo=1, boundary=((1, 0), (0, 2))).svg()
    assert (cells(halo, "url(#hatch"), cells(halo, "fill-opacity")) == (25 - 9, 9 + 8 * 2)


def test_svg_refuses_drawings_of_too_many_boxes_or_dimensions():
    for dist in (host((), 1), host((2, 2, 2, 2), 4), host(1 << 20, 4, dims=[pt.Cyclic(1)])):
        with pytest.raises(NotImplementedError, match="Distribution.svg: expected .*; draw a slice"):
            dist.svg()
        assert dist._repr_html_() == f"<pre>{dist}</pre>"
    for dist in (host(1 << 40, 4), host((0, 3), 4), host((0, 3, 3), 4), host(0, 2), host((2, 3, 1), 6, grid=(1, 3, 2))):
        assert dist.svg().startswith("<svg") and dist.svg() == dist._repr_html_()


def test_equality(team):
    a, b = (pt.Distribution((8, 8), team=team, grid=(2, 2)) for _ in range(2))
    assert a == b and hash(a) == hash(b) and a != pt.Distribution((8, 8), team=team)
    assert a != pt.Distribution((8, 8), team=pt.Team(4, "host"), grid=(4, 1))
    assert team == pt.Team(4, "host") and len(team) == team.size == 4 and team != pt.Team(3, "host")


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda t: pt.Distribution((8, 8), team=t, grid=(3, 1)), ValueError, "grid"),
        (lambda t: pt.Distribution((8, 8), team=t, grid=(2, 2, 1)), ValueError, "one per dimension"),
        (lambda t: pt.Distribution((-1, 8), team=t), ValueError, "size|extent|stop"),
        (lambda t: pt.Distribution((8, 8), team=t, halo=-1), ValueError, "at least 0"),
        (lambda t: pt.Distribution((8, 8), team=t, halo=(1,)), ValueError, "one per dimension"),
        (lambda t: pt.Distribution((8, 8), team=t, halo="wide"), TypeError, "halo"),
        (lambda t: pt.Distribution((8, 8), team=t, dims=[pt.Block()]), ValueError, "one per dimension"),
        (lambda t: pt.Distribution((8, 8), team=t, dims=["b", None]), TypeError, "Block, Cyclic"),
        (lambda t: pt.Distribution((8, 8), team=t, dims=[pt.Block([0, 3, 9, 9, 8]), None]), ValueError, "bounds|ascend"),
        (lambda t: pt.Distribution((8, 8), team=t, dims=[pt.Cyclic(0), None]), ValueError, "block"),
        (lambda t: pt.Distribution("shape", team=t), TypeError, "shape"),
        (lambda t: pt.Distribution((8, 8), team=t).owned(4), IndexError, "part"),
        (lambda t: pt.Distribution((8, 8), team=t).owned(-1), IndexError, "part"),
        (lambda t: pt.Distribution((8, 8), team=t).owner((8, 0)), IndexError, "inside"),
        (lambda t: pt.Distribution((8, 8), team=t).owner((1,)), ValueError, "one per dimension"),
        (lambda t: pt.Team(0, "host"), ValueError, "at least 1"),
        (lambda t: pt.Team(1, "abacus"), pt.NoDeviceError, "abacus"),
        (lambda t: pt.Team(1, 7), TypeError, "devices="),
        (lambda t: pt.Team(1, []), ValueError, "at least 1 device"),
    ],
)
def test_refusals(team, make, error, text):
    with pytest.raises(error, match=text):
        make(team)
