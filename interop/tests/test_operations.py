"""The table of functions of elements against everything that names them: the engine, the extension, the operators, the stub, the namespaces
and docs/numpy.md. Every operation is in each of them, or is listed here with a reason."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import numpy_table
import partita as pt
import pytest
from partita._numpy.ufuncs import table

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine/src/array/record/ops.rs"
EXTENSION = ROOT / "interop/src/python/arrays/operations.rs"
SLOTS = ROOT / "interop/src/foreign/array_base.rs"
STUB = ROOT / "interop/python/partita/_native.pyi"

#: Every name of the table, its aliases too, and the rows, by their own names.
NAMES = {name: value for name, value in vars(table).items() if isinstance(value, pt.ufunc)}
ROWS = {row.__name__: row for row in NAMES.values()}
#: Methods of operators: prefix, and infix with the operand on the right.
PREFIX = {"-": "__neg__", "+": "__pos__", "~": "__invert__", "abs": "__abs__"}
INFIX = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "and", "|": "or", "^": "xor",
    "<<": "lshift", ">>": "rshift", "divmod": "divmod",
}  # fmt: skip
COMPARISONS = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}

#: Operations of the engine that are no row's own, and why.
NO_ROW = {"fmod": "`floats.fmod` mends integers by 0", "round": "`rint` converts to floats first, `round` takes decimals"}
#: What the extension calls for an operation beside the engine's methods of elements, and why.
MADE = {"is_nan": "a comparison with itself"}
#: Operators that the extension's class has no slot for, and why.
NO_SLOT = {"power": "rules of NumPy's for its operator alone", "positive": "no operation: a copy", "divmod": "two operations"}
#: Rows that are not in NumPy, and why.
NOT_NUMPYS = {"erf": "scipy.special has it"}
KINDS = {"b": "bool", "i": "int32", "u": "uint32", "f": "float32", "c": "complex64"}


def test_the_namespace_has_every_row_by_all_its_names():
    assert {name: value for name, value in vars(pt).items() if isinstance(value, pt.ufunc)} == NAMES
    standard = {name: value for name, value in vars(pt.array_api).items() if isinstance(value, pt.ufunc)}
    assert set(standard) <= set(pt.array_api.__all__) and standard.items() <= NAMES.items()


def test_other_names_are_numpys():
    for name, row in NAMES.items():
        if row.__name__ in NOT_NUMPYS:
            assert not hasattr(np, name), NOT_NUMPYS[row.__name__]
            continue
        theirs = getattr(np, row.__name__)
        assert getattr(np, name) is theirs and (theirs.nin, theirs.nout) == (row.nin, row.nout), name
    known = [getattr(np, name, None) for name in ROWS]
    theirs = {name for name, value in vars(np).items() if isinstance(value, np.ufunc) and value in known}
    assert theirs == set(NAMES) - set(NOT_NUMPYS), theirs ^ set(NAMES)


def test_the_engine_has_the_operations_and_the_extension_names_them():
    text = EXTENSION.read_text()
    one, two = (re.search(rf"fn {name}\(.*?match name \{{(.*?)_ => return None", text, re.S)[1] for name in ("op1", "op2"))
    arms = {1: dict(re.findall(r'"(\w+)" => (.*?),\n', one)), 2: dict(re.findall(r'"(\w+)" => (.*?),\n', two))}
    recorded = {row.__name__: row._function.operation for row in ROWS.values() if hasattr(row._function, "operation")}
    for nin, named in arms.items():
        rows = {recorded[name] for name, row in ROWS.items() if name in recorded and row.nin == nin}
        assert not rows - set(named) and set(named) - rows <= set(NO_ROW), set(named) ^ rows
    assert set(NO_ROW) <= {*arms[1], *arms[2]} - set(recorded.values())
    methods = set(re.findall(r"\.(\w+)\(", one + two))
    blocks = re.findall(r"^(?:unary|binary|compare)_methods! \{.*?^\}", ENGINE.read_text(), re.S | re.M)
    engine = {name for block in blocks for name in re.findall(r"^    (\w+) \w+ ", block, re.M)}
    assert len(engine) > 30 and methods - set(MADE) == engine, methods ^ engine


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row._sign])
def test_operators_are_the_rows_operations(name, host_team):
    row = ROWS[name]
    kind = "int32" if "i" in row._kinds else "float32"
    u, v = pt.asarray([5, -7], dtype=kind, team=host_team), pt.asarray([2, 3], dtype=kind, team=host_team)
    stub, slots = STUB.read_text(), SLOTS.read_text()
    sign = row._sign
    call = f"{sign}(u)" if row.nin == 1 else "divmod(u, v)" if sign == "divmod" else f"u {sign} v"
    ours, expected = eval(call, {"u": u, "v": v}), row(*[u, v][: row.nin])
    assert str(ours) == str(expected), call
    if row.nin == 1:
        methods = [PREFIX[sign]]
    elif sign in COMPARISONS:
        methods = [COMPARISONS[sign]]
    else:
        methods = [f"__{INFIX[sign]}__", f"__r{INFIX[sign]}__"] + ([f"__i{INFIX[sign]}__"] if sign != "divmod" else [])
    assert all(hasattr(pt.Array, method) for method in methods), methods
    operation = getattr(row._function, "operation", None)
    in_slots = sign in COMPARISONS or re.search(rf'Py_nb_\w+: "{operation}"', slots) is not None
    assert in_slots == (name not in NO_SLOT), NO_SLOT.get(name)
    for method in methods if in_slots else []:
        assert method.startswith("__i") and method != "__invert__" or f"def {method}(self" in stub, method


def test_every_operator_is_a_rows():
    signs = {(row.nin, row._sign) for row in ROWS.values() if row._sign}
    assert signs == {*((1, sign) for sign in PREFIX), *((2, sign) for sign in (*INFIX, *COMPARISONS))}
    slots = set(re.findall(r'Py_nb_\w+: "(\w+)"', SLOTS.read_text()))
    rows = [row for name, row in ROWS.items() if row._sign and row._sign not in COMPARISONS and name not in NO_SLOT]
    assert slots == {row._function.operation for row in rows}


@pytest.mark.parametrize("name", ROWS)
def test_rows_take_the_kinds_that_they_say(name, host_team):
    row, taken = ROWS[name], ""
    for kind, dtype in KINDS.items():
        x = pt.ones(2, dtype=dtype, team=host_team)
        # Exponents are integers.
        operands = [x, x.astype("int32") if name == "ldexp" and kind != "c" else x][: row.nin]
        try:
            results = row(*operands)
        except TypeError:
            continue
        taken += kind
        assert all(result.shape == (2,) for result in (results if row.nout > 1 else [results]))
    assert taken == row._kinds


def test_the_text_of_a_row_is_in_its_docstring_and_in_the_document():
    lines = numpy_table.DOCUMENT.read_text().splitlines()
    for name, row in ROWS.items():
        first = inspect.getdoc(row).splitlines()[0]
        assert first and "Examples\n--------\n>>> import partita as pt\n" in inspect.getdoc(row)
        written = [line for line in lines if line.startswith(f"| `{name}` |")]
        assert len([line for line in written if first.replace("|", "\\|") in line]) == 1, (name, written)


def test_names_are_written_out_once_per_row():
    """Tools that read the source see every name."""
    tree = ast.parse(Path(table.__file__).read_text())
    assignments = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    rows = [node for node in assignments if getattr(node.value.func, "id", "") in ("_one", "_two")]
    assert {target.id for row in rows for target in row.targets} == set(NAMES) and len(rows) == len(ROWS)
    assert all(row.targets[0].id == row.value.args[0].value for row in rows)
