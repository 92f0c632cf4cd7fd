"""Exchanges arrays with NumPy, PyTorch, CuPy and JAX through DLPack, on the host and on CUDA devices.

One line each: `ok` with whether memory was shared, `refused` where one of the two says that it does not do that,
`skipped` where something is missing, `failed` where values differ. Ends with 1 if anything failed.
"""

import importlib
import sys

import numpy as np
import partita as pt


def is_able(name, module, device):
    """Whether a library has arrays in a device's memory."""
    if name == "jax":
        import jax

        return device.kind == "host" or any(d.platform == "gpu" for d in jax.devices())
    if device.kind == "host":
        return name != "cupy"
    return name == "cupy" or (name == "torch" and module.cuda.is_available())


def exchange(name, device):
    """The verdict on one library and one device."""
    module = importlib.import_module("jax.numpy" if name == "jax" else name)
    if not is_able(name, module, device):
        return "skipped", f"{name} has no {device.kind} arrays here"
    expected = np.arange(24, dtype=np.float32).reshape(4, 6)
    ours = pt.asarray(expected, dist=pt.Distribution(expected.shape, team=pt.Team(1, device)))
    theirs = module.from_dlpack(ours.parts[0])
    doubled = theirs * 2
    back = pt.from_dlpack(doubled).numpy()
    if not np.array_equal(back, 2 * expected):
        return "failed", f"{back.tolist()} came back"
    return "ok", f"{type(theirs).__module__} on {getattr(theirs, 'device', 'the host')}"


def main():
    failed = 0
    for device in (device for device in pt.devices() if device.kind in ("host", "cuda")):
        for name in ("numpy", "torch", "cupy", "jax"):
            try:
                verdict, text = exchange(name, device)
            except ImportError as error:
                verdict, text = "skipped", str(error)
            except (BufferError, NotImplementedError) as error:
                verdict, text = "refused", str(error)
            except Exception as error:  # noqa: BLE001, another library's error is a result here
                verdict, text = "failed", f"{type(error).__name__}: {error}"
            failed += verdict == "failed"
            print(f"{verdict}: dlpack-{device.kind}-{name} ({text})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
