"""Random numbers in NumPy's words, the same on every team, distribution and device.

New programs make a stream with `default_rng`. The functions of this module are the methods of one `RandomState`, as in
NumPy. The numbers are Partita's own: a seed gives others than in NumPy.
"""

from typing import TYPE_CHECKING, Any

from ._generator import Generator, default_rng
from ._legacy import NAMES, RandomState

__all__ = ["Generator", "RandomState", "default_rng", *NAMES]  # noqa: PLE0604

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    _one = RandomState()
    globals().update({name: getattr(_one, name) for name in NAMES})
