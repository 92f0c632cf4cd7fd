"""`Methods`: methods of `Array` that are functions of modules above it. The stub declares them, `partita._numpy.dispatch` sets them."""

from ..base import BaseArray


class Methods(BaseArray):
    __slots__ = ()
