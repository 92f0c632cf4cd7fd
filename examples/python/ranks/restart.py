"""A program that saves its state now and then, is killed, and goes on from where it was: with the same bits as one that nobody
killed."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import partita as pt

STEPS = 400


def simulate(folder, parts):
    """Heat in a plate, 20 steps at a time."""
    team = pt.Team(parts, "host")
    dist = pt.Distribution((60, 80), team=team, halo=1)
    try:
        state = pt.load_state(folder, {"u": dist})
    except FileNotFoundError:
        state = {"u": pt.zeros(dist.shape, dist=dist), "step": 0}
        state["u"][0] = 100

    def step(u):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

    while state["step"] < STEPS:
        pt.Loop(step).run(state["u"], steps=20)
        state["step"] += 20
        pt.save_state(folder, state)
        print(state["step"], flush=True)
    return state["u"].numpy()


if len(sys.argv) > 1:
    simulate(sys.argv[1], parts=4)
else:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen([sys.executable, __file__, os.path.join(folder, "a")], stdout=subprocess.PIPE, text=True)
        saved = next(int(line) for line in run.stdout if int(line) >= 100)
        run.kill()
        run.wait()
        state = pt.load_state(os.path.join(folder, "a"), team=pt.Team(1, "host"))
        assert saved <= state["step"] < STEPS, (saved, state["step"])
        resumed = simulate(os.path.join(folder, "a"), parts=3)
        assert np.array_equal(resumed, simulate(os.path.join(folder, "b"), parts=2))
    print(f"ok: killed after step {saved} on 4 parts, ended on 3, with the bits of 2 parts without a stop")
