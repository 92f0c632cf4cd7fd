"""Every CPU peer, every workload, every type at tiny sizes; and that a wrong formula, cell or block is seen.

Run as a script beside the unpacked files, by a Python that has NumPy. A peer that is missing is printed, not passed. TorchInductor
compiles for seconds each time, so torch.compile takes part only where PEERS_ALL is set.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

spec = importlib.util.spec_from_file_location("suite", Path(__file__).parent / "__main__.py")
suite = importlib.util.module_from_spec(spec)
spec.loader.exec_module(suite)
suite.prepare("cpu", min(2, suite.available_cores()))

import by_numpy  # noqa: E402: after the threads are chosen
import calls  # noqa: E402
import data  # noqa: E402
import kept  # noqa: E402
from calls import ends  # noqa: E402
from data import Job  # noqa: E402
from workloads import DTYPES, WORKLOADS  # noqa: E402

# What a peer has no way to express, and nothing else, may be "not offered".
LACKS = {
    "numpy": set(),
    "jax": set(),
    "torch": set(),
    "torch.compile": set(),
    "numba": {"gradients", *suite.OVERHEADS},
    "c_nt": set(),
}


def wanted(peer, name, dtype):
    lacks_f16 = peer == "numba" or name in ("gradients", "slab_slab_c")
    return not (name in LACKS[peer] or (dtype == "f16" and lacks_f16))


class Peers(unittest.TestCase):
    def test_every_peer_is_right(self):
        offered = suite.listed("cpu")["peers"]
        for peer in LACKS:
            if peer == "torch.compile" and "PEERS_ALL" not in os.environ:
                print(f"skipped: {peer} (PEERS_ALL is not set)")
                continue
            count, missing = 0, None
            for name in offered[peer]:
                for dtype in DTYPES if name not in suite.OVERHEADS else ["f32"]:
                    with self.subTest(peer=peer, workload=name, dtype=dtype):
                        outcome = suite.turn(peer, name, dtype, "cpu", 1, 0.0, 2)
                        is_right, reason = self.judged(outcome, wanted(peer, name, dtype))
                        count, missing = count + is_right, missing or reason
            print(f"{peer}: {count} right" if count else f"skipped: {peer} ({missing})")

    def judged(self, outcome, is_wanted):
        """Whether it is right, and why it is missing where it is."""
        self.assertNotIn("failed", outcome)
        reason = outcome.get("skipped")
        if reason not in (None, "not offered"):
            return False, reason
        self.assertEqual(reason is None, is_wanted, reason)
        return is_wanted, None

    def test_a_wrong_formula_is_seen(self):
        for name, right in WORKLOADS.items():
            if right.folds:
                continue  # its check reads the input, not the formula: see the next test
            job = Job(right, "f32")
            run = by_numpy.bind(job)(arrays := job.arrays())
            job.check(arrays, run())
            formula = lambda c, xp, f=right.formula: [v * 1.001 for v in f(c, xp)]  # noqa: E731
            job.workload = replace(right, formula=formula)
            with self.assertRaises(ArithmeticError, msg=name):
                job.check(arrays, run())

    def test_a_wrong_result_and_none_are_seen(self):
        for name in (*WORKLOADS, *suite.REPARTITIONS):
            job = suite.make_job(name, "f64")
            run, check = by_numpy.bind(job), job.check
            if job.kind == "workload":
                arrays, other = job.arrays(), job.arrays()
                run, check, untouched = run(arrays), lambda results: job.check(arrays, results), arrays.outputs
                with self.assertRaises(ArithmeticError, msg=f"{name}: of another set"):
                    check([result.copy() for result in by_numpy.bind(job)(other)()])
            else:
                untouched = [job.output]
            with self.assertRaises(ArithmeticError, msg=f"{name}: nothing was computed"):
                check(untouched)
            results = [result.copy() for result in run()]
            check(results)
            with self.assertRaises(ArithmeticError, msg=name):
                check([result + 1e-3 for result in results])

    def test_sets_of_arrays_take_turns(self):
        """A peer that only ever uses its first set is wrong in the end."""
        job, used = Job(WORKLOADS["scale"], "f64"), []
        right = by_numpy.bind(job)

        def bound(arrays):
            used.append(arrays)
            return right(arrays)

        timed = suite.in_turns(job, bound, 8, 0.1, 3)
        self.assertEqual((timed["sets"], len(used), len(timed["seconds"]) >= 8), (3, 3, True))
        starts = {array.ctypes.data for arrays in used for array in (*arrays.inputs, *arrays.outputs)}
        self.assertEqual(len(starts), 6)
        self.assertFalse((used[0].inputs[0] == used[1].inputs[0]).all())
        with self.assertRaises(ArithmeticError):
            suite.in_turns(job, lambda arrays: right(used[0]), 2, 0.0, 2)  # ends with the second set

    def test_a_slow_peer_warms_two_sets_and_no_more(self):
        job = Job(WORKLOADS["scale"], "f64")

        def slow(arrays):
            run = by_numpy.bind(job)(arrays)
            return lambda: time.sleep(0.02) or run()

        self.assertEqual(suite.in_turns(job, slow, 9, 0.01, 7)["sets"], 2)

    def test_runs_are_enough_for_a_median(self):
        enough = lambda times: suite.is_enough(len(times), sum(times), 21, 0.4)  # noqa: E731
        self.assertEqual([enough([9.0] * count) for count in (2, 3)], [False, True])  # slow
        self.assertEqual([enough([0.03] * count) for count in (13, 14)], [False, True])
        self.assertEqual([enough([0.001] * count) for count in (99, 101)], [False, True])  # quick
        self.assertEqual([enough([0.006] * count) for count in (20, 21)], [False, True])
        self.assertTrue(suite.is_enough(1, 9.0, 1, 0.4))

    def test_a_text_is_kept_under_a_name_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            file = lambda *what: kept.text_file(folder, *what)  # noqa: E731
            names = [file("a = k0", ".py", [("k0", k)]) for k in (1.0, 2.0, 1.0)] + [file("a = k1", ".py")]
            self.assertEqual((names[0], len(set(names)), len(os.listdir(folder))), (names[2], 3, 3))
            self.assertEqual(Path(names[3]).read_text(), "a = k1")

    def test_a_program_that_stops_or_errs_is_seen(self):
        for name in suite.APPS:
            job = suite.make_job(name, "f64")
            run = by_numpy.bind(job)
            states = [[array.copy() for array in run()] for _ in range(3)]
            job.check(states[1], states[2])
            with self.assertRaises(ArithmeticError, msg=name):
                job.check(states[2], [array + 1e-3 for array in states[2]])
            if name != "gradients":  # any number of its steps keep what must hold of it
                for before, after in ((1, 1), (0, 2)):
                    with self.assertRaises(ArithmeticError, msg=name):
                        job.check(states[before], states[after])

    def test_a_peer_that_fails_is_named(self):
        def broken(job):
            raise OverflowError("on purpose")

        def wrong(job):
            return lambda arrays: lambda: [array + 1 for array in arrays.outputs]

        def idle(job):
            return lambda arrays: lambda: arrays.outputs

        fake = types.ModuleType("by_fake")
        fake.CONTENDERS = {"broken": broken, "wrong": wrong, "idle": idle}
        sys.modules["by_fake"] = fake
        more = {**dict.fromkeys(fake.CONTENDERS, "by_fake"), "absent": "by_nobody"}
        with mock.patch.dict(suite.CPU, more):
            answer = {p: suite.turn(p, "triad", "f32", "cpu", 3, 1.0) for p in (*more, "numpy")}
        self.assertEqual(answer["broken"], {"failed": "OverflowError: on purpose"})
        self.assertIn("wrong: relative error", answer["wrong"]["failed"])
        self.assertIn("wrong: relative error nan", answer["idle"]["failed"])
        self.assertIn("by_nobody", answer["absent"]["skipped"])
        self.assertGreaterEqual(len(answer["numpy"]["timed"]["seconds"]), 3)

    def test_peers_in_one_process_compile_once_and_share_their_inputs(self):
        made, bound = [], by_numpy.bind

        def bind(job):
            made.append(job.name)
            return bound(job)

        fake = types.ModuleType("by_fake")
        fake.CONTENDERS = {"fake": bind}
        sys.modules["by_fake"] = fake
        line = "--compile --peers fake --only triad,sum,step7 --dtype f32"
        with mock.patch.dict(suite.CPU, fake="by_fake"), mock.patch.object(data, "IS_SHARED", True):
            self.assertEqual(suite.compile_all(suite.parse(line.split())), {"compiled": 3})
            for name in ("triad", "sum", "step7", "sum"):
                self.assertEqual(suite.turn("fake", name, "f32", "cpu", 3, 0.0, 2)["timed"]["sets"], 2)
            self.assertEqual(made, ["triad", "sum", "step7"])
            first, other = Job(WORKLOADS["triad"], "f32").arrays(), Job(WORKLOADS["scale"], "f32").arrays()
            self.assertIs(first.inputs[0], other.inputs[0])
            self.assertIsNot(first.outputs[0], other.outputs[0])

    def test_a_wrong_call_is_a_failure_and_no_figure(self):
        host = calls.arrays(calls.SMALL)
        wanted, numpy = calls.expected(host), calls.Library("host")
        numpy.others = {"numpy": numpy}
        for name in calls.CALLS:
            right = calls.measured(numpy, name, host, wanted, 0.0)
            if "skipped" in right:
                continue  # NumPy has none
            self.assertIn("timed", right, name)
            with mock.patch.object(calls, "ends", lambda lib, result: ends(lib, result) * 1.5):
                self.assertIn("failed", calls.measured(numpy, name, host, wanted, 0.0), name)

    def test_a_server_forks_for_every_line_and_outlives_a_turn_that_dies(self):
        command = [sys.executable, suite.__file__, "--serve", "--peers", "numpy"]
        lines = ["--only triad --sets 2 --repeat 3 --seconds 0", "--only nothing", "--only copy --dtype f64"]
        for fault, right in (("", [True, False, True]), ("numpy", [False, False, False])):
            environment = {**os.environ, "PEERS_FAULT": fault}
            text = "".join(f"{line}\n" for line in lines)
            ended = subprocess.run(command, input=text, capture_output=True, text=True, env=environment)
            answers = [json.loads(line) for line in ended.stdout.splitlines()]
            self.assertEqual(["timed" in answer for answer in answers], right, ended.stderr)
            if fault:
                self.assertEqual(answers[0], {"failed": "ended with -9: numpy ends on purpose"})
            else:
                self.assertEqual((answers[0]["timed"]["sets"], len(answers[0]["timed"]["seconds"])), (2, 3))


if __name__ == "__main__":
    unittest.main()
