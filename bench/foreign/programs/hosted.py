"""Runs a program of PyTorch whose own operators are computed on the host, without its benchmarks:
hosted.py [--edit REGEX REPLACEMENT]... PROGRAM ARGUMENTS...   Edits make sizes smaller that are no argument."""
import pathlib
import re
import runpy
import sys
import tempfile

import palladion.torch

palladion.torch.install()
words, edits = sys.argv[1:], []
while words[0] == '--edit':
    edits.append(words[1:3])
    words = words[3:]
program = pathlib.Path(words[0])
text = program.read_text()
if 'tilelang' in text:
    import tilelang.profiler

    tilelang.profiler.do_bench = lambda *_, **__: 1.0
    tilelang.profiler.Profiler.do_bench = lambda *_, **__: 1.0
if 'triton' in text:
    import triton.testing

    triton.testing.do_bench = lambda *_, **__: 1.0
    triton.testing.perf_report = lambda *_: lambda *_: type('Benchmark', (), {'run': lambda *_, **__: None})()
for pattern, replacement in edits:
    text, count = re.subn(pattern, replacement, text)
    if count == 0:
        sys.exit('%s has no `%s`' % (program, pattern))
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / program.name  # compilers of Python kernels read the file again
    copy.write_text(text)
    sys.argv = [str(copy)] + words[1:]
    sys.path.insert(0, str(program.parent))
    runpy.run_path(str(copy), run_name='__main__')
