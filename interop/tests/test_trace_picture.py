"""The picture of a trace in docs/ranks.md: two replayed steps of a 7-point ``Loop`` on two devices of the simulated CUDA driver,
whose clock is not that of the machine, so that each run draws the same. ``UPDATE_GOLDEN=1`` writes the file anew."""

import json
import os
import subprocess
import sys
from pathlib import Path

import partita as pt
import pytest

if not any(device.kind == "cuda" and "simulated" in device.name for device in pt.devices()):
    pytest.skip("the simulated driver is needed", allow_module_level=True)

FILE = Path(__file__).parents[2] / "docs/trace.svg"

PROGRAM = """
import numpy as np
import partita as pt

def step(u):
    sides = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    u[1:-1, 1:-1, 1:-1] = 0.1 * (sides + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]) + 0.39 * u[1:-1, 1:-1, 1:-1]

team = pt.Team(2, [device for device in pt.devices() if device.kind == "cuda"])
dist = pt.Distribution((96, 64, 64), team=team, grid=(1, 2, 1))
pt.Loop(step).run(pt.asarray(np.ones(dist.shape, dtype=np.float32), dist=dist), steps=12)
"""

#: What a step does on each stream of a device, in order, and the colour of each.
STREAMS = {
    "compute": [("core", "#6d9bd4"), ("rim", "#b5cfee")],
    "exchange": [("pack", "#f2b25c"), ("copy", "#d9622b"), ("unpack", "#f2b25c")],
}
STEPS, LEFT, WIDTH, ROW = 2, 120, 760, 34


def traced(file):
    """Per device and stream the bars of the last steps: begin and length in us, from the first one of the device on."""
    environment = {**os.environ, "PARTITA_TRACE": str(file), "PARTITA_SIM_DEVICES": "2", "PARTITA_SIM_SEED": "0"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120, env=environment)
    events = json.loads(file.read_text().rstrip().rstrip(",") + "]")
    found = {}
    for device in (0, 1):
        rows = {}
        for stream, parts in STREAMS.items():
            of_row = [one for one in events if one["tid"].startswith(f"cuda:{device} ") and one["tid"].endswith(stream)]
            rows[stream] = sorted((one["ts"], one["dur"], one["name"]) for one in of_row)[-STEPS * len(parts) :]
        begin = min(row[0][0] for row in rows.values())
        for stream, row in rows.items():
            found[device, stream] = [(ts - begin, length, name) for ts, length, name in row]
    return found


def drawn(bars):
    last = max(begin + length for row in bars.values() for begin, length, _ in row)
    scale, height = WIDTH / last, ROW * len(bars) + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{LEFT + WIDTH + 20}" height="{height}" fill="#ffffff"/>',
    ]
    y = 10 + ROW * len(bars)
    for us in range(0, int(last) + 1, 5):
        x = LEFT + us * scale
        lines.append(f'<path d="M{x:.1f} 4V{y}" stroke="#888888" stroke-width="0.4"/>')
        lines.append(f'<text x="{x:.1f}" y="{y + 14}" text-anchor="middle" fill="#555555">{us} us</text>')
    for at, ((device, stream), row) in enumerate(bars.items()):
        y = 6 + ROW * at
        lines.append(f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">GPU {device} {stream}</text>')
        for k, (begin, length, _) in enumerate(row):
            name, colour = STREAMS[stream][k % len(STREAMS[stream])]
            x, wide = LEFT + begin * scale, length * scale
            lines.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="26" fill="{colour}" stroke="#ffffff" stroke-width="0.8"/>')
            size = min(12, wide / len(name) * 1.6)
            lines.append(f'<text x="{x + wide / 2:.1f}" y="{y + 17}" text-anchor="middle" font-size="{size:.1f}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def test_the_picture_of_a_trace_on_cuda_is_what_the_code_draws(tmp_path):
    bars = traced(tmp_path / "trace.json")
    for device in (0, 1):
        compute, exchange = bars[device, "compute"], bars[device, "exchange"]
        for step in range(STEPS):
            (core, _), (rim, _) = [(begin, length) for begin, length, _ in compute[2 * step : 2 * step + 2]]
            pack, copy, unpack = exchange[3 * step : 3 * step + 3]
            # The exchange runs beside the core, in its order; the rim comes after both.
            assert copy[2].startswith("24576 bytes of cuda:") and core <= pack[0] < copy[0] < unpack[0]
            assert unpack[0] + unpack[1] <= rim and core + compute[2 * step][1] <= rim + 1e-2
    svg = drawn(bars)
    if "UPDATE_GOLDEN" in os.environ:
        FILE.write_text(svg)
    assert FILE.read_text() == svg, f"{FILE} differs: UPDATE_GOLDEN=1 writes it anew"
