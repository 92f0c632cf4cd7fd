"""One rank of a job comes to an end of the kind given by its argument while the others work."""

import sys
import threading
import time

import partita as pt

kind, others = sys.argv[1:]
if kind == "foreign":
    # MPI is mpi4py's, which ends it together with the interpreter.
    from mpi4py import MPI
# Over the default team, which lasts as long as the process: nothing else tells the others of its end.
u = pt.ones(40)
team = u.team
assert float(u.sum()) == 40


def fail():
    raise ValueError("the third rank gives up")


if team.rank == 2:
    # By then the others have read the sum.
    time.sleep(1)
    match kind:
        case "raise":
            fail()
        case "step":
            pt.Loop(lambda u: fail()).run(u, steps=3)
        case "thread":
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
        case "exit" | "foreign":
            sys.exit(3)
        case "return":
            sys.exit()
match others:
    case "compute":
        print(float((u * 2).sum()))
    case "sleep":
        time.sleep(60)
    case "receive":
        from mpi4py import MPI

        MPI.COMM_WORLD.recv(source=2)
    case "catch":
        try:
            float((u * 2).sum())
        except pt.RankError as error:
            print(f"rank {team.rank} caught: {error}", flush=True)
        sys.exit(1)
