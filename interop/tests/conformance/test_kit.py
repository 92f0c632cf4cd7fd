"""Each requirement's own tests catch its planted error, and docs/conformance.md says what there is."""

import importlib
import inspect

import partita as pt
import pytest

from conformance import kit, ranks
from conformance.mutants import CAUGHT, MUTANTS, apply

TESTS = kit.marked()
#: Tests that passed without an error, and whether the way into other processes changed nothing by itself.
RIGHT = set()


def own_tests(number):
    """The functions that show a requirement, ready to be called on the host."""
    for name in TESTS[number]:
        file, function = name.split("::")
        if file.startswith("conformance/"):
            test = getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), function)
            arguments = [lambda parts: pt.Team(parts, "host")] if "on" in inspect.signature(test).parameters else []
            yield name, lambda test=test, arguments=arguments: test(*arguments)


@pytest.mark.parametrize("number", MUTANTS)
def test_the_planted_error_is_caught(number):
    if number == "D12" and len(pt.devices()) < 2:
        pytest.skip("one device")
    tests = list(own_tests(number))
    assert tests, f"{number} has no test in this folder"
    caught = []
    for name, test in tests:
        try:
            with pytest.MonkeyPatch.context() as patch:
                apply(MUTANTS[number], patch)
                test()
        except (*CAUGHT, *MUTANTS[number].raises):
            caught.append(name)
        if name in caught:
            # The same test without it, once; one is enough for the way into other processes.
            way = bool(MUTANTS[number].there)
            if (was := "the way" if way else name) not in RIGHT:
                with pytest.MonkeyPatch.context() as patch:
                    if way:
                        patch.setenv(ranks.PLANTED, "pass")
                    test()
                RIGHT.add(was)
            break
    assert caught, f"nobody caught it: {MUTANTS[number].error}"


def test_every_number_is_in_the_table():
    for row in kit.ROWS.values():
        assert set(row) <= {"id", "section", "sentence", "outside", "except", "missing", "hardware"}, row
        assert len(row["sentence"]) > 20 and len(row.get("outside", "")) < 240 and len(row.get("except", "")) < 240
    assert len(kit.ROWS) == 177 and set(MUTANTS) <= set(kit.ROWS)


def test_the_document_is_up_to_date():
    above, written = kit.DOCUMENT.read_text().split(kit.MARK)
    assert written == kit.text(), "python interop/tests/conformance/kit.py writes it anew"
