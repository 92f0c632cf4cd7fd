"""Functions of the host: printing, which is NumPy's; NumPy's readers and writers of text and archives (`partita.save` and `load` go part by part)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.describe import text_of

def set_printoptions(*args: Any, **words: Any) -> None:
    """Sets how NumPy prints, and so how partita does; see ``numpy.set_printoptions``."""
    import numpy as np

    np.set_printoptions(*args, **words)


def get_printoptions() -> dict[str, Any]:
    """The settings with which NumPy and partita print."""
    import numpy as np

    return dict(np.get_printoptions())


def printoptions(*args: Any, **words: Any) -> Any:
    """A block of statements with other settings of `set_printoptions`."""
    import numpy as np

    return np.printoptions(*args, **words)


def array2string(x: Array, *args: Any, **words: Any) -> str:
    """The elements as text; see ``numpy.array2string``. With settings the whole array is read. Computes. Collective."""
    import numpy as np

    if isinstance(x, Array) and not args and not words:
        return text_of(x)
    return np.array2string(x.numpy() if isinstance(x, Array) else x, *args, **words)


def array_str(x: Array, *args: Any, **words: Any) -> str:
    """As ``str``; see `array2string`."""
    return array2string(x, *args, **words)


def array_repr(x: Array) -> str:
    """As ``repr``."""
    return repr(x)


# Files.


def _read(name: str) -> Callable[..., Array]:
    def function(*args: Any, **words: Any) -> Array:
        import numpy as np

        return asarray(getattr(np, name)(*args, **words))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}``, and its array on the default team."
    return function


def _write(name: str) -> Callable[..., None]:
    def function(file: Any, *args: Any, **words: Any) -> None:
        import numpy as np

        def host(x: Any) -> Any:
            return x.numpy() if isinstance(x, Array) else x

        getattr(np, name)(file, *map(host, args), **{word: host(x) for word, x in words.items()})

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of gathered arrays. Collective."
    return function


fromfile, fromstring = _read("fromfile"), _read("fromstring")
genfromtxt, loadtxt = _read("genfromtxt"), _read("loadtxt")
savetxt, savez, savez_compressed = _write("savetxt"), _write("savez"), _write("savez_compressed")
