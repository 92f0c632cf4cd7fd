#!/usr/bin/env bash
# The first twelve minutes on an NVIDIA GPU, in the order of what decides most: every kernel alone in three types, stencils under other
# limits, whole calls from Python, figures, tests side by side, peers, wgpu, ranks that share the GPU, sanitizers. Each step has its
# limit, and results/summary.txt is written after it, with the figures and the time of every step so far. Another call goes on where
# this one ended (BUDGET=570: calls of less than ten minutes), `bash run.sh` does the rest.
BUDGET="${BUDGET:-720}" exec bash "$(dirname "$0")/run.sh" probe calls figures side peers wgpu links memcheck
