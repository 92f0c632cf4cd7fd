"""Partita: distributed arrays on GPUs and hosts, in NumPy's words.

>>> import partita as pt
>>> dist = pt.Distribution((100, 100), team=pt.Team(4, "host"), grid=(2, 2), halo=1)
>>> u = pt.zeros((100, 100), dtype=pt.float32, dist=dist)
>>> u[0, :] = 1
>>> u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
>>> float(u.sum())
124.5

Importing starts no device. Exceptions are Python's own where they fit, otherwise subclasses of `Error`.
"""

import atexit as _atexit
import sys as _sys

from . import errors as errors
from ._api.collective import Collective as Collective, Partition as Partition
from ._api.create import (
    arange as arange, asarray as asarray, empty as empty, empty_like as empty_like, from_dlpack as from_dlpack, from_parts as from_parts,
    full as full, full_like as full_like, ones as ones, ones_like as ones_like, zeros as zeros, zeros_like as zeros_like,
)  # fmt: skip
from ._api.defaults import (
    default_team as default_team, get_default_dtype as get_default_dtype, get_default_team as get_default_team,
    set_default_dtype as set_default_dtype, set_default_team as set_default_team,
)  # fmt: skip
from ._api.dims import (
    Block as Block, CustomMap as CustomMap, Cyclic as Cyclic, Replicated as Replicated, Unstructured as Unstructured,
)  # fmt: skip
from ._api.files import load as load, load_state as load_state, save as save, save_state as save_state
from ._api.loop import Loop as Loop
from ._api.sharing.map_parts import PartBlock as PartBlock, Stream as Stream, map_parts as map_parts
from ._api.sharing.protocols import from_distarray as from_distarray, from_partitioned as from_partitioned
from ._core.array import Array as Array
from ._core.views.domains import Domain as Domain, by_index as by_index
from ._core.dtypes import (
    DType as DType, bfloat16 as bfloat16, bool_ as bool_, complex128 as complex128, complex64 as complex64, float16 as float16,
    float32 as float32, float64 as float64, int16 as int16, int32 as int32, int64 as int64, int8 as int8, uint16 as uint16,
    uint32 as uint32, uint64 as uint64, uint8 as uint8,
)  # fmt: skip
from ._core.rearrange import (
    broadcast_arrays as broadcast_arrays, broadcast_to as broadcast_to, concatenate as concatenate, diagonal as diagonal,
    expand_dims as expand_dims, flip as flip, moveaxis as moveaxis, permute_dims as permute_dims, ravel as ravel, repeat as repeat,
    reshape as reshape, roll as roll, squeeze as squeeze, stack as stack, swapaxes as swapaxes, take_along_axis as take_along_axis,
    tile as tile, transpose as transpose, unstack as unstack,
)  # fmt: skip
from ._core.reductions import (
    all as all, any as any, argmax as argmax, argmin as argmin, matmul as matmul, matrix_transpose as matrix_transpose, max as max,
    mean as mean, min as min, prod as prod, sum as sum, tensordot as tensordot, vecdot as vecdot,
)  # fmt: skip
from ._core.views.addresses import may_share_memory as may_share_memory, shares_memory as shares_memory
from ._numpy.dispatch import Methods as _Methods
from ._numpy.applying import apply_along_axis as apply_along_axis, apply_over_axes as apply_over_axes, vectorize as vectorize
from ._numpy.creation import (
    array as array, asanyarray as asanyarray, asarray_chkfinite as asarray_chkfinite, ascontiguousarray as ascontiguousarray,
    asfortranarray as asfortranarray, astype as astype, c_ as c_, copy as copy, diag as diag, diagflat as diagflat, eye as eye,
    frombuffer as frombuffer, fromfunction as fromfunction, fromiter as fromiter, geomspace as geomspace, identity as identity,
    index_exp as index_exp, indices as indices, ix_ as ix_, linspace as linspace, logspace as logspace, meshgrid as meshgrid,
    mgrid as mgrid, ndarray as ndarray, ogrid as ogrid, r_ as r_, require as require, s_ as s_, tri as tri, tril as tril, triu as triu,
    vander as vander,
)  # fmt: skip
from ._core.memory import GatherWarning as GatherWarning, get_gather_limit as get_gather_limit, set_gather_limit as set_gather_limit
from ._numpy.elementwise import (
    allclose as allclose, angle as angle, around as around, array_equal as array_equal, array_equiv as array_equiv, bartlett as bartlett,
    blackman as blackman, clip as clip, fix as fix, hamming as hamming, hanning as hanning, imag as imag, isclose as isclose,
    iscomplex as iscomplex, isfortran as isfortran, isneginf as isneginf, isposinf as isposinf, isreal as isreal, nan_to_num as nan_to_num,
    ndenumerate as ndenumerate, ndim as ndim, nditer as nditer, packbits as packbits, real as real, real_if_close as real_if_close,
    round as round, shape as shape, sinc as sinc, size as size, unpackbits as unpackbits, unwrap as unwrap,
)  # fmt: skip
from ._numpy.host import (
    array2string as array2string, array_repr as array_repr, array_str as array_str, fromfile as fromfile, fromstring as fromstring,
    genfromtxt as genfromtxt, get_printoptions as get_printoptions, loadtxt as loadtxt, printoptions as printoptions, savetxt as savetxt,
    savez as savez, savez_compressed as savez_compressed, set_printoptions as set_printoptions,
)  # fmt: skip
from ._numpy.joining import (
    append as append, array_split as array_split, atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d,
    block as block, broadcast_shapes as broadcast_shapes, column_stack as column_stack, concat as concat, delete as delete,
    dsplit as dsplit, dstack as dstack, fliplr as fliplr, flipud as flipud, hsplit as hsplit, hstack as hstack, insert as insert,
    pad as pad, resize as resize, rollaxis as rollaxis, rot90 as rot90, row_stack as row_stack, split as split, trim_zeros as trim_zeros,
    vsplit as vsplit, vstack as vstack,
)  # fmt: skip
from ._numpy.products import (
    convolve as convolve, correlate as correlate, cross as cross, dot as dot, inner as inner, interp as interp, kron as kron,
    matvec as matvec, outer as outer, polyadd as polyadd, polyder as polyder, polyint as polyint, polymul as polymul, polysub as polysub,
    polyval as polyval, trace as trace, vdot as vdot, vecmat as vecmat,
)  # fmt: skip
from ._numpy.selecting.histograms import (
    bincount as bincount, histogram as histogram, histogram2d as histogram2d, histogram_bin_edges as histogram_bin_edges,
    histogramdd as histogramdd,
)  # fmt: skip
from ._numpy.selecting.quantiles import (
    lexsort as lexsort, median as median, nanmedian as nanmedian, nanpercentile as nanpercentile, nanquantile as nanquantile,
    percentile as percentile, quantile as quantile,
)  # fmt: skip
from ._numpy.selecting.searching import digitize as digitize, searchsorted as searchsorted
from ._numpy.selecting.selection import (
    argwhere as argwhere, choose as choose, compress as compress, copyto as copyto, diag_indices as diag_indices,
    diag_indices_from as diag_indices_from, extract as extract, fill_diagonal as fill_diagonal, flatnonzero as flatnonzero,
    mask_indices as mask_indices, nonzero as nonzero, piecewise as piecewise, place as place, put as put, put_along_axis as put_along_axis,
    putmask as putmask, ravel_multi_index as ravel_multi_index, select as select, take as take, tril_indices as tril_indices,
    tril_indices_from as tril_indices_from, triu_indices as triu_indices, triu_indices_from as triu_indices_from,
    unravel_index as unravel_index, where as where,
)  # fmt: skip
from ._numpy.selecting.sets import (
    intersect1d as intersect1d, isin as isin, setdiff1d as setdiff1d, setxor1d as setxor1d, union1d as union1d, unique as unique,
    unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse, unique_values as unique_values,
)  # fmt: skip
from ._numpy.selecting.sorting import (
    argpartition as argpartition, argsort as argsort, partition as partition, sort as sort, sort_complex as sort_complex,
)  # fmt: skip
from ._numpy.statistics import (
    amax as amax, amin as amin, average as average, corrcoef as corrcoef, count_nonzero as count_nonzero, cov as cov, cumprod as cumprod,
    cumsum as cumsum, cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum, diff as diff, ediff1d as ediff1d,
    gradient as gradient, nanargmax as nanargmax, nanargmin as nanargmin, nancumprod as nancumprod, nancumsum as nancumsum,
    nanmax as nanmax, nanmean as nanmean, nanmin as nanmin, nanprod as nanprod, nanstd as nanstd, nansum as nansum, nanvar as nanvar,
    ptp as ptp, std as std, trapezoid as trapezoid, var as var,
)  # fmt: skip
from ._numpy.types import (
    False_ as False_, True_ as True_, bool as bool, byte as byte, can_cast as can_cast, cdouble as cdouble, common_type as common_type,
    complexfloating as complexfloating, csingle as csingle, double as double, dtype as dtype, e as e, euler_gamma as euler_gamma,
    finfo as finfo, floating as floating, generic as generic, half as half, iinfo as iinfo, inexact as inexact, inf as inf, int_ as int_,
    intc as intc, integer as integer, intp as intp, iscomplexobj as iscomplexobj, isdtype as isdtype, isrealobj as isrealobj,
    isscalar as isscalar, issubdtype as issubdtype, long as long, longlong as longlong, min_scalar_type as min_scalar_type, nan as nan,
    newaxis as newaxis, number as number, pi as pi, promote_types as promote_types, result_type as result_type, short as short,
    signedinteger as signedinteger, single as single, ubyte as ubyte, uint as uint, uintc as uintc, uintp as uintp, ulong as ulong,
    ulonglong as ulonglong, unsignedinteger as unsignedinteger, ushort as ushort,
)  # fmt: skip
from ._numpy.ufuncs.conditions import errstate as errstate, geterr as geterr, seterr as seterr
from ._numpy.ufuncs.ufunc import ufunc as ufunc
from ._numpy.ufuncs.table import (
    abs as abs, absolute as absolute, acos as acos, acosh as acosh, add as add, arccos as arccos, arccosh as arccosh, arcsin as arcsin,
    arcsinh as arcsinh, arctan as arctan, arctan2 as arctan2, arctanh as arctanh, asin as asin, asinh as asinh, atan as atan,
    atan2 as atan2, atanh as atanh, bitwise_and as bitwise_and, bitwise_count as bitwise_count, bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift, bitwise_not as bitwise_not, bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift, bitwise_xor as bitwise_xor, cbrt as cbrt, ceil as ceil, conj as conj,
    conjugate as conjugate, copysign as copysign, cos as cos, cosh as cosh, deg2rad as deg2rad, degrees as degrees, divide as divide,
    divmod as divmod, equal as equal, erf as erf, exp as exp, exp2 as exp2, expm1 as expm1, fabs as fabs, float_power as float_power,
    floor as floor, floor_divide as floor_divide, fmax as fmax, fmin as fmin, fmod as fmod, frexp as frexp, gcd as gcd, greater as greater,
    greater_equal as greater_equal, heaviside as heaviside, hypot as hypot, invert as invert, isfinite as isfinite, isinf as isinf,
    isnan as isnan, lcm as lcm, ldexp as ldexp, left_shift as left_shift, less as less, less_equal as less_equal, log as log,
    log10 as log10, log1p as log1p, log2 as log2, logaddexp as logaddexp, logaddexp2 as logaddexp2, logical_and as logical_and,
    logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor, maximum as maximum, minimum as minimum, mod as mod,
    modf as modf, multiply as multiply, negative as negative, nextafter as nextafter, not_equal as not_equal, positive as positive,
    pow as pow, power as power, rad2deg as rad2deg, radians as radians, reciprocal as reciprocal, remainder as remainder,
    right_shift as right_shift, rint as rint, sign as sign, signbit as signbit, sin as sin, sinh as sinh, spacing as spacing, sqrt as sqrt,
    square as square, subtract as subtract, tan as tan, tanh as tanh, true_divide as true_divide, trunc as trunc,
)  # fmt: skip
from ._native import (
    Device as Device, Distribution as Distribution, Part as Part, Team as Team, devices as devices, end as _end,
    neighbors_from_distarray as neighbors_from_distarray, validate_dim_data as validate_dim_data, validate_dim_dict as validate_dim_dict,
    validate_distarray as validate_distarray, validate_partitioned as validate_partitioned, version as _version,
)  # fmt: skip
from .errors import (
    AxisError as AxisError, DefectError as DefectError, DeviceError as DeviceError, Error as Error, NoDeviceError as NoDeviceError,
    NotAnArrayError as NotAnArrayError, OutOfMemoryError as OutOfMemoryError, RankError as RankError, UnsupportedError as UnsupportedError,
)  # fmt: skip

__version__ = _version()

# Drivers do not outlive the process; threads that are at work on them may.
_atexit.register(_end)

# Modules built from all of the above.
from . import array_api as array_api  # noqa: E402
from ._api import lib as lib  # noqa: E402
from .array_api import __array_api_version__ as __array_api_version__  # noqa: E402
from .array_api import __array_namespace_info__ as __array_namespace_info__  # noqa: E402
from ._api import collective as collective, conformance as conformance  # noqa: E402
from . import operators as operators  # noqa: E402
from .operators import fft as fft  # noqa: E402
from .operators import linalg as linalg  # noqa: E402
from .operators.einsum import einsum as einsum, einsum_path as einsum_path  # noqa: E402
from .operators.polynomials import poly as poly, polydiv as polydiv, polyfit as polyfit, roots as roots  # noqa: E402
from . import random as random  # noqa: E402
from ._api.documents import describe as _describe  # noqa: E402
from ._core.base import BaseArray as _BaseArray  # noqa: E402

# By NumPy's paths.
_sys.modules |= {f"{__name__}.collective": collective, f"{__name__}.conformance": conformance, f"{__name__}.fft": fft, f"{__name__}.linalg": linalg, f"{__name__}.lib": lib, f"{__name__}.lib.stride_tricks": lib.stride_tricks}

_describe(_sys.modules[__name__], {
    "Array.": Array, "Array. ": _BaseArray, "Array.  ": _Methods, "collective.": collective, "fft.": fft, "linalg.": linalg,
    "operators.": operators, "ufunc.": ufunc, "Loop.": Loop, "random.": random, "Generator.": random.Generator,
})  # fmt: skip

# Last, because it looks into NumPy for what is not there.
from ._numpy.applying import missing as __getattr__  # noqa: E402
