"""The host's side of a kernel of `cuda` for CuPy: FILE, and `right` or `broken`."""
import pathlib
import re
import sys

import cupy
import numpy

source = pathlib.Path(sys.argv[1])
text = source.read_text()
grid, block = map(int, re.search(r"// grid (\d+), block (\d+)", text).groups())
options = ("-lineinfo", "-DRIGHT") if sys.argv[2] == "right" else ("-lineinfo",)
n = 1024
a = cupy.asarray(numpy.random.default_rng(1).random(n, dtype=numpy.float32))
out = cupy.empty(n, dtype=numpy.float32)
flags = cupy.zeros(64, dtype=numpy.int32)
module = cupy.RawModule(code=text, options=options)
module.get_function("kernel")((grid,), (block,), (a, out, flags, numpy.int32(n)), shared_mem=1024)
cupy.cuda.runtime.deviceSynchronize()
