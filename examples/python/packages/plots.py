"""Arrays in pictures and tables: matplotlib and pandas take them as they take NumPy's.

    python examples/python/packages/plots.py [FILE]

FILE is where the picture goes, by default nowhere. Without matplotlib or pandas it says so and does nothing.
"""

import io
import sys

import partita as pt

try:
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    print(f"skipped: plots (no matplotlib or pandas: {error})")
    print("ok: nothing to do")
    sys.exit()

pt.set_default_team(pt.Team(3, "host"))
x = pt.arange(200) / 20.0
u = pt.sin(x.reshape(-1, 1)) * pt.cos(x)
walk = pt.random.default_rng(9).normal(size=(200, 4))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
picture = left.imshow(u, extent=(0, 10, 0, 10))
figure.colorbar(picture)
left.set_title(f"mean {u.mean():.3f}")
middle.plot(x, u[:, 0], label="first column")
middle.plot(x, u[:, 30], ".", label="column 30")
middle.legend()
right.hist(walk.ravel(), bins=20)
out = sys.argv[1] if len(sys.argv) > 1 else io.BytesIO()
figure.savefig(out, format="png")

table = pd.DataFrame(walk, columns=list("abcd"))
table["sine"] = pd.Series(pt.sin(x))
assert abs(table["b"].mean() - float(walk[:, 1].mean())) < 1e-12
back = pt.asarray(table[["a", "b"]])
assert (back == walk[:, :2]).all()
drawn = middle.lines[0].get_ydata()
assert (pt.asarray(drawn) == u[:, 0]).all()
print(f"ok: a picture, and a table of {table.shape[0]} rows and {table.shape[1]} columns")
