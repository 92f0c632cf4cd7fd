"""`partita.einsum` against NumPy's: every form of subscripts, type and layout."""

import random
import string

import numpy as np
import partita as pt
import pytest

TYPES = ["bool", "int32", "int64", "float32", "float64", "complex64", "complex128"]


def numbers(shape, dtype, seed=5):
    generator = np.random.default_rng(seed)
    values = generator.integers(-3, 4, shape) + 1j * generator.integers(-3, 4, shape)
    return (values if "complex" in dtype else values.real).astype(dtype)


def layouts(a, parts):
    """An array on one team in several distributions: whole numbers, so that every order of sums gives the same."""
    team = pt.Team(parts, "host")
    if not a.ndim:
        return [pt.asarray(a, team=team)]
    columns = pt.Distribution(a.shape, team=team, grid=(1,) * (a.ndim - 1) + (parts,))
    cyclic = pt.Distribution(a.shape, team=team, dims=[pt.Cyclic(2)] + [pt.Block()] * (a.ndim - 1))
    return [pt.asarray(a, team=team), pt.asarray(a, dist=columns), pt.asarray(a, dist=cyclic)]


CASES = {
    "ij,jk": [(4, 3), (3, 5)], "ij,jk->ki": [(4, 3), (3, 5)], "ii": [(4, 4)], "ii->i": [(4, 4)], "iij->j": [(3, 3, 2)], "ij": [(4, 3)],
    "ji": [(4, 3)], "ij->": [(4, 3)], "ij->j": [(4, 3)], "i,i": [(6,), (6,)], "i,j": [(3,), (4,)], "ij,ij->ij": [(3, 4), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)], "b i j, b j k": [(2, 3, 4), (2, 4, 5)], "ijkl,klm->mij": [(2, 3, 4, 2), (4, 2, 3)],
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)], "...,...": [(3, 1), (4,)], "i...->...": [(3, 4, 2)], "...i,i": [(2, 3), (3,)],
    "ij,jk,kl": [(2, 3), (3, 4), (4, 2)], "ab,bc,cd,de->ea": [(2, 3), (3, 4), (4, 2), (2, 3)], "i,ij,j": [(3,), (3, 4), (4,)],
    "ij,kj->ik": [(4, 3), (5, 3)], "ij,ji->": [(3, 4), (4, 3)], "aab,b->a": [(3, 3, 2), (2,)], ",i": [(), (3,)], "ij,j": [(3, 1), (4,)],
    "ik,jk->ijk": [(2, 3), (4, 3)], "ij,i,i->j": [(3, 4), (3,), (3,)], "i,i,i->i": [(4,), (4,), (4,)], "Ab,bA": [(2, 3), (3, 2)],
    "ij,jk->": [(0, 3), (3, 2)], "ij,jk": [(4, 3), (3, 5)], "ij,jk->ik": [(2, 0), (0, 3)],
}  # fmt: skip


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_subscripts_are_numpys(parts):
    count = 0
    for subscripts, shapes in CASES.items():
        for dtype in TYPES:
            arrays = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
            expected = np.einsum(subscripts, *arrays)
            for given in zip(*(layouts(a, parts) * (1 if a.ndim else 3) for a in arrays), strict=True):
                found = pt.einsum(subscripts, *given)
                assert (found.shape, str(found.dtype)) == (expected.shape, str(expected.dtype)), (subscripts, dtype)
                assert (found.numpy() == expected).all(), (subscripts, dtype)
                count += 1
    assert count == 3 * len(CASES) * len(TYPES)


def test_devices_compute_it(team):
    a, b = numbers((4, 3), "float32"), numbers((3, 5), "float32")
    u, v = pt.asarray(a, team=team), pt.asarray(b, team=team)
    assert (pt.einsum("ij,jk->ki", u, v).numpy() == np.einsum("ij,jk->ki", a, b)).all()
    assert pt.einsum("ij,jk->ki", u, v).team == team
    assert (np.einsum("ij,ij->i", u, u).numpy() == np.einsum("ij,ij->i", a, a)).all()


def test_random_subscripts_are_numpys():
    choose = random.Random(11)
    for _ in range(150):
        letters = choose.sample(string.ascii_letters, 5)
        extents = {label: choose.randint(1, 4) for label in letters}
        terms = ["".join(choose.choices(letters, k=choose.randint(0, 3))) for _ in range(choose.randint(1, 4))]
        used = sorted(set("".join(terms)))
        text = ",".join(terms)
        if choose.random() < 0.7:
            text += "->" + "".join(choose.sample(used, choose.randint(0, len(used))))
        arrays = [numbers([extents[label] for label in term], "float64", choose.randint(0, 99)) for term in terms]
        expected = np.einsum(text, *arrays)
        team = pt.Team(choose.choice([1, 2, 3, 4]), "host")
        for optimize in (False, "optimal"):
            found = pt.einsum(text, *(pt.asarray(a, team=team) for a in arrays), optimize=optimize).numpy()
            assert found.shape == expected.shape and (found == expected).all(), text


def test_lists_of_labels_are_numpys():
    a, b = numbers((2, 3, 4), "int64"), numbers((4, 3), "int64")
    u, v = pt.asarray(a), pt.asarray(b)
    forms = [([0, 1, 2], [2, 1], [0]), ([0, 1, 2], [2, 1]), ([..., 2], [2, 5], [..., 5]), ([30, 1, 2], [2, 1])]
    for left, right, *result in forms:
        assert (pt.einsum(u, left, v, right, *result).numpy() == np.einsum(a, left, b, right, *result)).all()


def test_out_dtype_and_casting():
    a = numbers((3, 3), "int32")
    u = pt.asarray(a)
    assert pt.einsum("ij,jk", u, u, dtype="float64").dtype == pt.float64
    out = pt.zeros((3, 3), dtype=pt.int32)
    assert pt.einsum("ij,jk", u, u, out=out) is out and (out.numpy() == a @ a).all()
    with pytest.raises(TypeError, match="cast to float32 by the rule 'safe', given float64"):
        pt.einsum("i", pt.ones(3), dtype="float32")
    assert pt.einsum("i", pt.ones(3), dtype="float32", casting="same_kind").dtype == pt.float32


def test_paths_are_numpys():
    a = [np.ones(shape) for shape in [(2, 9), (9, 9), (9, 2)]]
    u = [pt.asarray(x) for x in a]
    assert pt.einsum_path("ij,jk,kl", *u) == np.einsum_path("ij,jk,kl", *a)
    path = pt.einsum_path("ij,jk,kl", *u, optimize="optimal")[0]
    for optimize in (True, "greedy", "optimal", path, ["einsum_path", (0, 1, 2)], ["einsum_path", (1, 2), (0, 1)]):
        assert (pt.einsum("ij,jk,kl", *u, optimize=optimize).numpy() == np.einsum("ij,jk,kl", *a)).all()


@pytest.mark.parametrize(
    ("operands", "text"),
    [
        (("ij", np.ones(3)), "as many labels as dimensions, given 2 for 1"),
        (("i", np.ones((3, 3))), "add '...'"),
        (("i,i", np.ones(3)), "given 2 for 1"),
        (("i,i", np.ones(3), np.ones(4)), "one extent for label 'i', given 3 and 4"),
        (("i->j", np.ones(3)), "labels of operands in the result, each once, given 'j'"),
        (("i->ii", np.ones(3)), "each once, given 'i'"),
        (("i.", np.ones(3)), "expected letters"),
        (("i->i->i", np.ones(3)), "expected letters"),
        (("...i->i", np.ones((3, 3))), "expected '...' in the result"),
        ((np.ones(3), [99]), "labels from 0 to 51"),
    ],
)
def test_what_is_no_summation(operands, text):
    with pytest.raises(ValueError, match=text):
        pt.einsum(*operands)
