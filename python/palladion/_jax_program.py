"""What `_jax` runs under `palladion exec`: calls an exported function of JAX on the simulated GPU, and keeps what it gives.

    python _jax_program.py FOLDER      FOLDER/function, FOLDER/arguments -> FOLDER/outputs
"""
import pathlib
import pickle
import sys

import jax
import jax.export
import numpy


def main(folder: pathlib.Path) -> None:
    exported = pickle.loads((folder / "function").read_bytes())
    arguments = pickle.loads((folder / "arguments").read_bytes())
    outputs = jax.jit(exported.call)(*arguments)
    (folder / "outputs").write_bytes(pickle.dumps(jax.tree.map(numpy.asarray, outputs)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
