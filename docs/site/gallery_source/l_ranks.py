"""
Three processes
===============

``python -m partita launch`` starts a program three times. The team spans the processes, and the picture comes from one of them.
The program is the heat equation again, without a change.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

program = """
import partita as pt

team = pt.Team(6)  # of all processes: two parts on each of three
dist = pt.Distribution((120, 180), team=team, grid=(2, 3))
u = pt.zeros(dist.shape, dtype=pt.float32, dist=dist)
u[:, 0] = 100

def step(u):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

pt.Loop(step).run(u, steps=2000)
pt.save("heat.npy", u)
if team.rank == 0:
    print(f"{team.size} parts on {team.ranks} processes")
"""

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "heat.py").write_text(program)
    command = [sys.executable, "-m", "partita", "launch", "-n", "3", "heat.py"]
    print(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)
    u = np.load(Path(folder) / "heat.npy")

plt.imshow(u)
for row in (60,):
    plt.axhline(row - 0.5, color="white", ls="--")
for column in (60, 120):
    plt.axvline(column - 0.5, color="white", ls="--")
for part in range(6):
    plt.text(60 * (part % 3) + 30, 60 * (part // 3) + 30, f"process {part // 2}", color="white", ha="center")
plt.axis("off")
plt.show()
