"""xarray with arrays on their parts as its data: labels are xarray's, elements stay where they are.

Without xarray it says so and does nothing.
"""

import sys

import numpy as np
import partita as pt

try:
    import xarray as xr
except ImportError as error:
    print(f"skipped: xarray_weather (no xarray: {error})")
    print("ok: nothing to do")
    sys.exit()

DAYS, LATITUDES, LONGITUDES = 60, 24, 36
names = ("day", "latitude", "longitude")
places = {"day": np.arange(DAYS), "latitude": np.linspace(-80, 80, LATITUDES), "longitude": np.arange(LONGITUDES) * 10.0}

warm = 15 - 25 * pt.abs(pt.asarray(np.deg2rad(places["latitude"]), team=pt.Team(3, "host"))).reshape(1, -1, 1)
noise = pt.random.default_rng(1).normal(size=(DAYS, LATITUDES, LONGITUDES), team=warm.team)
data = noise * 3.0 + warm
ours, theirs = (xr.DataArray(x, dims=names, coords=places, name="temperature") for x in (data, data.numpy()))

steps = {
    "where": lambda t: t.where(t > 0),
    "fillna": lambda t: t.where(t > 0).fillna(-1.0),
    "mean over days": lambda t: t.mean("day"),
    "mean without gaps": lambda t: t.where(t > 0).mean("longitude"),
    "a week's mean": lambda t: t.rolling(day=7).mean(),
    "coarser": lambda t: t.coarsen(latitude=2, longitude=3).mean(),
    "by month": lambda t: t.groupby(t.day // 30).mean(),
    "one latitude": lambda t: t.sel(latitude=10.0, method="nearest"),
    "anomaly": lambda t: t - t.mean("day"),
}
for name, step in steps.items():
    result, expected = step(ours), step(theirs)
    assert isinstance(result.data, pt.Array), (name, type(result.data))
    np.testing.assert_allclose(result.data.numpy(), expected.data, rtol=1e-12, atol=1e-12, err_msg=name)
    assert result.dims == expected.dims and list(result.coords) == list(expected.coords), name
print(f"ok: {len(steps)} operations of xarray on {data.dist.num_parts} parts, equal to those on NumPy's arrays")
