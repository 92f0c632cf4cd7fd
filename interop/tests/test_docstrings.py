"""Docstrings: every public function, method and class of the user's says what it takes and gives, who calls it, and shows an example
that runs."""

import doctest
import inspect
import re
import types

import partita as pt
import pytest

#: Classes that programs make objects of, and modules with functions.
CLASSES = [pt.Array, pt.ufunc, pt.Loop, pt.random.Generator, pt.random.RandomState]
MODULES = [pt, pt.random, pt.operators, pt.fft, pt.linalg, pt.lib.stride_tricks]
#: NumPy's names that only say where else to look.
ABSENT = "_Absent"


def is_function(member):
    return isinstance(member, (types.FunctionType, types.MethodType, pt.ufunc, pt.vectorize))


def public():
    """Names and functions, each once."""
    found = {}
    for home in (*MODULES, *CLASSES):
        names = getattr(home, "__all__", None) or dir(home)
        for name in sorted(name for name in names if not name.startswith("_")):
            member = inspect.getattr_static(home, name) if home in CLASSES else getattr(home, name)
            member = getattr(member, "__func__", member)
            if is_function(member) and getattr(member, "__module__", "partita").startswith("partita"):
                found.setdefault(id(member), (f"{home.__name__}.{name}", member))
    return list(found.values())


def lacking(member):
    """Sections that a docstring should have and has not."""
    doc = inspect.getdoc(member) or ""
    function = getattr(member, "_function", member)
    signature = inspect.signature(function)
    # The first parameter of a method is the array.
    takes = [name for name in signature.parameters if name != "self"][int(hasattr(function, "__wrapped__")) :]
    wanted = {"Examples"} | ({"Parameters"} if takes else set())
    if signature.return_annotation not in ("None", None):
        wanted.add("Returns")
    lacks = {title for title in wanted if f"{title}\n{'-' * len(title)}\n" not in doc}
    if not re.search(r"\b([Ll]ocal|[Cc]ollective)\b", doc):
        lacks.add("whether it is collective")
    described = doc.split("Parameters\n----------\n")[-1].split("\n\n")[0] if "Parameters\n---" in doc else ""
    lacks |= {f"parameter {name}" for name in takes if not re.search(rf"^.*\b{name}\b.* : |^.*\b{name}\b.*$", described, re.M)}
    return lacks


def test_every_public_function_is_described():
    members = public()
    found = {name: lacks for name, member in members if (lacks := lacking(member))}
    assert not found, found
    print(f"\ndescribed: {len(members)} functions")
    assert len(members) > 400


def test_classes_that_programs_use_are_described():
    made = [pt.Team, pt.Distribution, pt.Partition, pt.Block, pt.Cyclic, pt.Unstructured, pt.Loop, pt.DType, pt.default_team, pt.vectorize]
    for kind in (*made, pt.Replicated, pt.Array, pt.Device, pt.Part, pt.Collective, pt.ufunc, pt.finfo, pt.iinfo, pt.random.Generator):
        doc = inspect.getdoc(kind)
        assert "Examples\n--------\n" in doc, kind
        assert kind not in made or "Parameters\n----------\n" in doc, kind


def test_a_function_without_sections_is_found():
    def bare(a, b):
        """Says little."""

    assert lacking(bare) == {"Parameters", "Returns", "Examples", "whether it is collective", "parameter a", "parameter b"}


@pytest.mark.parametrize("parts", [1, 3])
def test_examples_run(parts):
    """All of them, on one and on three parts."""
    runner, texts = doctest.DocTestRunner(verbose=False), {}
    for name, member in (*public(), *((name, kind) for name, kind in vars(pt).items() if isinstance(kind, type))):
        if ">>>" in inspect.getdoc(member):
            texts.setdefault(inspect.getdoc(member), name)
    options = pt.get_printoptions()
    failed = []
    with pt.default_team(pt.Team.local(parts, "host")):
        for doc, name in texts.items():
            said = []
            test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
            assert test.examples, name
            if runner.run(test, out=said.append).failed:
                failed.append("".join(said))
    pt.set_printoptions(**{word: options[word] for word in ("precision", "threshold")})
    assert not failed, "\n".join(failed[:10])
    assert runner.tries > 900
