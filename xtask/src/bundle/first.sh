#!/usr/bin/env bash
# The first ten minutes on an NVIDIA GPU: what decides first comes first. Another call goes on where this one ended;
# results/summary.txt has the figures, `bash run.sh` does the rest.
exec bash "$(dirname "$0")/run.sh" devices rulers probe figures profile memcheck
