"""docs/numpy.md says what is there: it is what the script writes, and every name that is not there has one reason."""

import numpy as np
import numpy_table
import pytest

pytestmark = pytest.mark.skipif(
    not np.__version__.startswith(f"{numpy_table.NUMPY}."), reason=f"names are those of NumPy {numpy_table.NUMPY}"
)


def test_every_absent_name_has_a_reason():
    absent, differs = numpy_table.reasons()
    found = {prefix + name: numpy_table.has(ours, name) for _, prefix, names, ours in numpy_table.spaces() for name in names}
    missing = {name for name, there in found.items() if not there}
    assert missing == set(absent), (missing - set(absent), set(absent) - missing)
    assert not missing & set(differs) and set(differs) <= set(found)


def test_the_document_is_up_to_date():
    above, written = numpy_table.DOCUMENT.read_text().split(numpy_table.MARK)
    assert written == numpy_table.text(), "run python interop/tests/numpy_table.py"
    assert "array-api-tests" in above and "NPBench" in above
