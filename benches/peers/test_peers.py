"""Every CPU peer, every workload, every type at tiny sizes; and that a wrong formula, cell or block is seen.

Run as a script, by a Python that has NumPy. A peer that is missing is printed, not passed. TorchInductor
compiles for seconds each time, so torch.compile takes part only where PEERS_ALL is set.
"""

import importlib.util
import os
import unittest
from dataclasses import replace
from pathlib import Path

spec = importlib.util.spec_from_file_location("suite", Path(__file__).parent / "__main__.py")
suite = importlib.util.module_from_spec(spec)
spec.loader.exec_module(suite)
suite.prepare("cpu", min(2, suite.available_cores()))

import by_numpy  # noqa: E402: after the threads are chosen
from data import Job  # noqa: E402
from workloads import DTYPES, WORKLOADS, Sizes  # noqa: E402

SIZES = Sizes(5003, 37, 16)
# What a peer has no way to express, and nothing else, may be "not offered".
LACKS = {
    "numpy": set(),
    "jax": set(),
    "torch": set(),
    "torch.compile": set(),
    "numba": {"gradients", *suite.OVERHEADS},
    "numexpr": {"max", "norm", "record", *suite.APPS, *suite.REPARTITIONS},
    "c_nt": set(suite.EVERYTHING) - {"copy"},
}
NO_F16 = ("numexpr", "numba")


def wanted(peer, name, dtype):
    return not (name in LACKS[peer] or (dtype == "f16" and (peer in NO_F16 or name == "gradients")))


class Peers(unittest.TestCase):
    def test_every_peer_is_right(self):
        counts = dict.fromkeys(LACKS, 0)
        for name in suite.EVERYTHING:
            if name in suite.MESSAGES:
                continue
            for dtype in DTYPES if name not in suite.OVERHEADS else ["f32"]:
                peers = {p: suite.CPU[p] for p in LACKS if p != "torch.compile" or "PEERS_ALL" in os.environ}
                bound = suite.Bound(name, dtype, SIZES, peers)
                for peer in peers:
                    with self.subTest(peer=peer, workload=name, dtype=dtype):
                        counts[peer] += self.judge(bound, peer, wanted(peer, name, dtype))
        for peer, count in counts.items():
            print(f"{peer}: {count} right" if count else f"skipped: {peer} ({self.missing[peer]})")

    missing = {"torch.compile": "PEERS_ALL is not set"}

    def judge(self, bound, peer, is_wanted):
        """1 if it is right, 0 if it is rightly missing."""
        without = bound.without.get(peer, {})
        self.assertNotIn("failed", without)
        reason = without.get("skipped")
        if reason not in (None, "not offered"):
            self.missing[peer] = reason
            return 0
        self.assertEqual(reason is None, is_wanted, reason)
        return int(is_wanted)

    def test_a_wrong_formula_is_seen(self):
        for name, right in WORKLOADS.items():
            if right.folds:
                continue  # its check reads the input, not the formula: see the next test
            job = Job(right, SIZES, "f32")
            run = by_numpy.bind(job)
            job.check(run())
            formula = lambda c, xp, f=right.formula: [v * 1.001 for v in f(c, xp)]  # noqa: E731
            job.workload = replace(right, formula=formula)
            with self.assertRaises(ArithmeticError, msg=name):
                job.check(run())

    def test_a_wrong_result_is_seen(self):
        for name in (*WORKLOADS, *suite.REPARTITIONS):
            job = suite.make_job(name, "f64", SIZES)
            results = [result.copy() for result in by_numpy.bind(job)()]
            job.check(results)
            with self.assertRaises(ArithmeticError, msg=name):
                job.check([result + 1e-3 for result in results])

    def test_a_program_that_stops_or_errs_is_seen(self):
        for name in suite.APPS:
            job = suite.make_job(name, "f64", SIZES)
            run = by_numpy.bind(job)
            states = [[array.copy() for array in run()] for _ in range(3)]
            job.check(states[1], states[2])
            with self.assertRaises(ArithmeticError, msg=name):
                job.check(states[2], [array + 1e-3 for array in states[2]])
            if name != "gradients":  # any number of its steps keep what must hold of it
                with self.assertRaises(ArithmeticError, msg=name):
                    job.check(states[0], states[1])

    def test_a_peer_that_fails_is_named_and_the_others_go_on(self):
        import sys
        import types

        def broken(job):
            raise OverflowError("on purpose")

        def wrong(job):
            return lambda: [array + 1 for array in job.outputs]

        fake = types.ModuleType("by_fake")
        fake.CONTENDERS = {"broken": broken, "wrong": wrong}
        sys.modules["by_fake"] = fake
        peers = {"broken": "by_fake", "wrong": "by_fake", "absent": "by_nobody", "numpy": "by_numpy"}
        answers = suite.Bound("triad", "f32", SIZES, peers).measure(3, 1.0)
        self.assertEqual(answers["broken"], {"failed": "OverflowError: on purpose"})
        self.assertIn("wrong: relative error", answers["wrong"]["failed"])
        self.assertIn("by_nobody", answers["absent"]["skipped"])
        self.assertEqual(len(answers["numpy"]["timed"]["seconds"]), 3)


if __name__ == "__main__":
    unittest.main()
