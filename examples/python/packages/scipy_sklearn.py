"""SciPy and scikit-learn compute with arrays on their parts, by the array API standard.

Without them it says so and does nothing.
"""

import os
import sys

import numpy as np
import partita as pt

# SciPy reads this when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"
try:
    import sklearn
    from scipy import special, stats
    from sklearn.metrics import r2_score
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
except ImportError as error:
    print(f"skipped: scipy_sklearn (no SciPy or scikit-learn: {error})")
    print("ok: nothing to do")
    sys.exit()

u = pt.random.default_rng(6).gamma(2.0, size=(500, 4), team=pt.Team(3, "host"))
host = u.numpy()

results = {
    "logsumexp": (special.logsumexp, {"axis": 0}),
    "softmax": (special.softmax, {"axis": 1}),
    "zscore": (stats.zscore, {}),
    "skew": (stats.skew, {}),
    "gmean": (stats.gmean, {}),
}
for name, (function, words) in results.items():
    ours = function(u, **words)
    assert isinstance(ours, pt.Array) and ours.team == u.team, name
    assert np.allclose(ours.numpy(), function(host, **words)), name

with sklearn.config_context(array_api_dispatch=True):
    for scaler in (StandardScaler(), MinMaxScaler()):
        scaled = scaler.fit_transform(u)
        assert isinstance(scaled, pt.Array) and np.allclose(scaled.numpy(), type(scaler)().fit_transform(host))
    score = r2_score(u, u + 0.1)
assert abs(score - r2_score(host, host + 0.1)) < 1e-12
print(f"ok: {len(results)} functions of SciPy, 3 of scikit-learn (r2 {score:.3f}), on {u.dist.num_parts} parts")
