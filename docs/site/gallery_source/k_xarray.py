"""
Labels by xarray
================

xarray keeps the labels; its data are arrays on three parts. Grouping, rolling means and selections run on the parts.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt
import xarray as xr

days, latitudes = 120, 60
coordinates = {"day": np.arange(days), "latitude": np.linspace(-80, 80, latitudes)}
team = pt.Team(3)
season = pt.sin(2 * np.pi / days * pt.arange(days, dtype=pt.float64, team=team)).reshape(-1, 1)
sun = pt.asarray(np.deg2rad(coordinates["latitude"]), team=team).reshape(1, -1)
noise = pt.random.default_rng(1).normal(size=(days, latitudes), team=team)
temperature = xr.DataArray(15 - 25 * abs(sun) + 20 * season * sun + 3 * noise, coordinates, ("day", "latitude"))

weeks = temperature.rolling(day=7).mean()
anomaly = temperature - temperature.mean("day")
assert isinstance(anomaly.data, pt.Array)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.imshow(anomaly.data.numpy().T, aspect="auto", origin="lower", extent=(0, days, -80, 80), cmap="RdBu_r")
left.set(title="anomaly", xlabel="day", ylabel="latitude")
right.plot(temperature.sel(latitude=45, method="nearest").data.numpy(), lw=0.5)
right.plot(weeks.sel(latitude=45, method="nearest").data.numpy())
right.set(title="near 45 degrees north: days, weekly means", xlabel="day")
plt.show()
