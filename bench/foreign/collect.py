"""Builds programs of other makers, records their launches on a GPU, replays each in the machine: one CSV line a launch.

Runs on a machine with a GPU, nvcc and Python packages; README.md lists what it reads and writes. Each step has a time
limit; a program that fails is a line in programs.csv. Makers take turns, so that a run that ends early has seen all.
"""
import argparse
import collections
import concurrent.futures
import csv
import glob
import hashlib
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time

import ptx_of

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = {  # table -> maker -> program, and in how many shares it runs
    'cuda.txt': {'cupy': ('cupy_kernels.py', 1), 'numba': ('numba_kernels.py', 1), 'inductor': ('inductor_kernels.py', 1), 'liger': ('liger_kernels.py', 1),
                 'triton': ('triton_kernels.py', 1), 'jax': ('jax_kernels.py', 1), 'tutorials': ('tutorial_kernels.py', 1)},
    'unseen2.txt': {'flaggems': ('flaggems_kernels.py', 5), 'fla': ('fla_kernels.py', 6)}}
PYTHONPATH = {'liger': 'src/liger/src', 'flaggems': 'src/flaggems/src', 'fla': 'src/fla'}  # maker -> folder of the corpus
INCLUDES = {  # maker -> folders of the corpus
    'cuda-samples': ['src/samples/Common'], 'hecbench': ['src/hec/src/include'],
    'cutlass': ['src/cutlass/include', 'src/cutlass/tools/util/include', 'src/cutlass/examples/common'],
    'deepgemm': ['src/deepgemm/deep_gemm/include', 'src/cutlass/include'],
    'thunderkittens': ['src/thunderkittens/include', 'src/thunderkittens/prototype'], 'altis': ['src/altis/src/common', 'src/altis/src/cuda/common']}
Program = collections.namedtuple('Program', 'maker name sources flags arguments folder edits')


def python(program):
    return program.folder == 'programs'


def folder_of(sources):
    """Of a program: that of its first source."""
    return os.path.dirname(sources.split('+')[0])


def table(file):
    programs, maker, folder = collections.defaultdict(list), None, None
    edits = collections.defaultdict(list)  # of a folder of sources: (pattern, replacement)
    for line in (HERE / 'programs' / file).read_text().splitlines():
        if line.startswith('['):
            maker, folder = line.strip('[]').split()
        elif line.startswith('edit '):
            _, where, change = line.split(' ', 2)
            edits[maker, where].append(tuple(change.split(' => ')))
        elif line and not line.startswith('#'):
            name, sources, flags, arguments = line.split('|')
            changes = edits[maker, folder_of(sources) or '.']
            programs[maker].append(Program(maker, name, sources, flags.split(), arguments.split(), folder, changes))
    for maker, (script, shares) in PYTHON.get(file, {}).items():
        for i in range(shares):
            name, arguments = (maker, []) if shares == 1 else ('%s.%d' % (maker, i + 1), ['%d/%d' % (i + 1, shares)])
            programs[maker].append(Program(maker, name, script, [], arguments, 'programs', []))
    return programs


def verdicts(output):
    """What a program says of its own results, without numbers, which are often times."""
    lines = [l for l in output.splitlines() if re.search(r'pass|fail|error|success|correct|match|ok\b', l, re.I)]
    return collections.Counter(re.sub(r'[-+]?\d[\d.]*(e[-+]?\d+)?', '#', l.strip()) for l in lines if not l.startswith('palladion'))


def copied(folder, copy):
    """Copies a folder of sources once: other programs may be compiling from the copy."""
    if not (copy / '.copied').exists():
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        (copy / '.copied').touch()


def edited(folder, edits):
    """Applies edits to the sources of a folder. One that finds nothing is an error: the source is another version."""
    found = collections.Counter()
    for f in folder.iterdir():
        if f.suffix in ('.cu', '.cpp', '.h', '.hpp', '.cuh', '.impl'):
            text = f.read_text(errors='replace')
            for pattern, replacement in edits:
                text, count = re.subn(pattern, replacement, text)
                found[pattern] += count
            f.write_text(text)
    for pattern, _ in edits:
        if not found[pattern]:
            raise ValueError('%s has no `%s`' % (folder, pattern))


def in_turns(programs):
    rows = itertools.zip_longest(*programs.values())
    turns = [p for row in rows for p in row if p is not None]
    slow = {'jax', 'inductor', 'liger', 'cccl', 'cutlass', 'deepgemm', 'tutorials'}
    return sorted(turns, key=lambda p: p.maker not in slow or p.maker == 'cutlass' and p.name[:2].isdigit() is False)


class Collector:
    def __init__(self, options):
        self.o = options
        self.end = time.time() + options.seconds
        self.out, self.work = pathlib.Path(options.out), pathlib.Path(options.work)
        self.out.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)
        self.lock, self.gpu = threading.Lock(), threading.Semaphore(options.captures)
        self.profiles = concurrent.futures.ThreadPoolExecutor(1)
        self.replays = concurrent.futures.ThreadPoolExecutor(options.replays)
        self.checks = concurrent.futures.ThreadPoolExecutor(options.replays)
        self.waiting = []
        self.launches = self.writer('launches.csv', ['maker', 'program', 'launch', 'entry', 'grid', 'block', 'bytes', 'ptx',
                                                     'lowered', 'compare', 'compare_s', 'compare_says', 'check', 'check_s',
                                                     'findings', 'sim_cycles'])
        self.cycles = self.writer('ncu.csv', ['maker', 'program', 'entry', 'launch', 'grid', 'block', 'cycles'])
        self.programs = self.writer('programs.csv', ['maker', 'program', 'step', 'code', 'seconds', 'launches', 'says'])
        self.kept, self.archive, self.archives, self.texts = 0, None, 0, set()

    def writer(self, name, columns):
        file = open(self.out / name, 'w', newline='')
        writer = csv.DictWriter(file, columns)
        writer.writeheader()

        def write(**row):
            with self.lock:
                writer.writerow(row)
                file.flush()
        return write

    def call(self, command, limit, environment=None, folder=None):
        """(exit code, seconds, output); 124: too long, 125: no time left."""
        limit = min(limit, self.end - time.time())
        if limit < 1:
            return 125, 0.0, 'no time left'
        start = time.time()
        try:
            p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                 errors='replace', env=environment, cwd=folder, start_new_session=True)
        except OSError as error:
            return 127, 0.0, str(error)
        try:
            output, _ = p.communicate(timeout=limit)
            code = p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            output, _ = p.communicate()
            code = 124
        return code, time.time() - start, output or ''

    def build(self, p):
        root = self.root(p)
        if python(p):
            return [sys.executable, str(root / p.sources), *p.arguments]
        sources = p.sources.split('+')
        if p.sources.endswith('/*'):
            sources = [str(f.relative_to(root)) for k in ('cu', 'cpp') for f in sorted((root / p.sources[:-2]).glob('*.' + k))]
        key = hashlib.sha1(' '.join([p.sources, *p.flags]).encode()).hexdigest()[:8]
        program = self.work / 'bin' / '.'.join([p.maker, *re.sub(r'/\*|\+.*', '', p.sources).split('/'), key])
        program.parent.mkdir(exist_ok=True)
        with self.lock:
            first = not (program.parent / (program.name + '.begun')).exists()
            (program.parent / (program.name + '.begun')).touch()
        if not first:  # the same program with other arguments
            while not (program.parent / (program.name + '.done')).exists() and time.time() < self.end:
                time.sleep(0.2)
            return [str(program), *p.arguments] if program.exists() else None
        includes = [self.o.corpora + '/' + f for f in INCLUDES.get(p.maker, [])]
        standard = [] if any(f.startswith('-std') for f in p.flags) else ['-std=c++17']
        corpus = pathlib.Path(self.o.corpora) / p.folder
        flags = ['-I' + str(corpus / f[2:]) if f.startswith('-I') else f for f in p.flags]
        code, seconds, output = self.call(['nvcc', '-gencode', 'arch=compute_90a,code=[sm_90a,compute_90a]', '-O3', *standard, '-w',
                                           *flags, *['-I' + i for i in includes],
                                           *sources, '-o', str(program) + '.new', '-L/usr/local/cuda/lib64/stubs'], self.o.build_limit, folder=root)
        if code == 0:
            os.rename(str(program) + '.new', program)
        (program.parent / (program.name + '.done')).touch()
        if code != 0:
            error = [l for l in output.splitlines() if 'error' in l] or output.splitlines()[-1:]
            self.programs(maker=p.maker, program=p.name, step='build', code=code, seconds=round(seconds, 1), launches='',
                          says=' '.join(error)[:300])
            return None
        return [str(program), *p.arguments]

    def root(self, p):
        """The folder that a program's sources are named from: the corpus, or a copy with smaller sizes."""
        if python(p):
            return HERE / p.folder
        corpus = pathlib.Path(self.o.corpora) / p.folder
        if not p.edits:
            return corpus
        own = folder_of(p.sources) or '.'
        copy = self.work / 'edited' / p.maker
        with self.lock:
            if not (copy / own / '.edited').exists():
                shutil.rmtree(copy / own, ignore_errors=True)
                for folder in [own, *map(os.path.dirname, p.sources.split('+')[1:])]:
                    copied(corpus / folder, copy / folder)
                edited(copy / own, p.edits)
                (copy / own / '.edited').touch()
        return copy

    def toolkit(self, folder):
        """A toolkit for XLA, which leaves no PTX: its ptxas keeps each text that it is given."""
        real = pathlib.Path(self.o.cuda)
        (folder / 'toolkit/bin').mkdir(parents=True, exist_ok=True)
        (folder / 'xla').mkdir(exist_ok=True)
        for f in real.iterdir():
            if f.name != 'bin':
                (folder / 'toolkit' / f.name).symlink_to(f)
        for f in (real / 'bin').iterdir():
            if f.name != 'ptxas':
                (folder / 'toolkit/bin' / f.name).symlink_to(f)
        wrapper = folder / 'toolkit/bin/ptxas'
        wrapper.write_text('#!/bin/bash\nfor f in "$@"; do [ -f "$f" ] && grep -q "^.version" "$f" && '
                           'cp "$f" "%s/$$.$RANDOM.ptx"; done\nexec "%s" "$@"\n' % (folder / 'xla', real / 'bin/ptxas'))
        wrapper.chmod(0o755)
        return folder / 'toolkit'

    def environment(self, p, folder):
        toolkit = self.toolkit(folder) if p.maker == 'jax' else self.o.cuda
        e = dict(os.environ, PYTORCH_NO_CUDA_MEMORY_CACHING='1', TRITON_CACHE_DIR=str(folder / 'triton'),
                 TORCHINDUCTOR_CACHE_DIR=str(folder / 'inductor'), XLA_PYTHON_CLIENT_ALLOCATOR='platform',
                 XLA_PYTHON_CLIENT_PREALLOCATE='false', MOSAIC_GPU_DUMP_TO=str(folder / 'mosaic'),
                 XLA_FLAGS='--xla_gpu_enable_command_buffer= --xla_gpu_autotune_level=0 --xla_gpu_cuda_data_dir=%s '
                 '--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false' % toolkit,
                 CUPY_CACHE_DIR=str(folder / 'cupy'), FLAGGEMS_CACHE_DIR=str(folder / 'flaggems'), TORCHINDUCTOR_COMPILE_THREADS='1', CUDA_MODULE_LOADING='LAZY',
                 CUPY_CACHE_IN_MEMORY='1', CUPY_COMPILE_WITH_PTX='1',
                 PTX_DIR=str(folder / 'numba'), MOSAIC_GPU_DUMP_PTX='1')
        if p.maker == 'jax':
            e['PATH'] = str(toolkit / 'bin') + ':' + e['PATH']
        if p.maker in PYTHONPATH:
            e['PYTHONPATH'] = self.o.corpora + '/' + PYTHONPATH[p.maker]
        if p.maker == 'tutorials':
            e['TUTORIALS'] = self.o.corpora + '/src/triton-tutorials'
        return e

    def preload(self, e, bundles, launches):
        bundles.mkdir()
        e.update(LD_PRELOAD=self.o.library, PALLADION_CAPTURE_DIR=str(bundles), PALLADION_CAPTURE_LAUNCHES=str(launches),
                 PALLADION_CAPTURE_MAX_BYTES=str(self.o.max_bytes))

    def dumps(self, p, folder):
        used = {'jax': ('mosaic', 'xla'), 'inductor': ('triton', 'inductor'), 'numba': ('numba',), 'cupy': ()}.get(p.maker, ('triton',) if python(p) else ())
        for f in used:
            (folder / f).mkdir(exist_ok=True)
        return [str(folder / f) for f in used]

    def program(self, p):
        try:
            self.program_(p)
        except Exception as error:  # one program must not end the run
            self.programs(maker=p.maker, program=p.name, step='collect', code=1, seconds=0, launches='', says=repr(error)[:300])

    def program_(self, p):
        command = self.build(p)
        if command is None:
            return
        folder = self.work / 'runs' / (p.maker + '.' + p.name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        e = self.environment(p, folder)
        where = folder if python(p) else self.root(p)
        if not python(p):
            where = where / folder_of(p.sources)
        dumps = self.dumps(p, folder)
        launches = self.o.launches if not python(p) else max(self.o.launches, 4)
        if self.o.library:
            self.preload(e, folder / 'bundles', launches)
        capture = [self.o.palladion, 'capture', '--launches', str(launches), '--max-bytes', str(self.o.max_bytes),
                   *[w for d in dumps for w in ('--ptx-dir', d)], '-o', str(folder / 'bundles'), '--'] if self.o.capture and not self.o.library else []
        with self.gpu:
            limit = self.o.run_limit * (8 if python(p) else 1)
            code, seconds, output = self.call(capture + command, limit, e, where)
            if p.maker == 'jax' and 'nknown flag' in output:
                e['XLA_FLAGS'] = '--xla_gpu_enable_command_buffer= --xla_gpu_autotune_level=0'
                code, seconds, output = self.call(capture + command, limit, e, where)
        if self.o.exec and not python(p):
            self.waiting.append(self.checks.submit(self.exec, p, command, where))
        bundles = sorted(glob.glob(str(folder / 'bundles/**/bundle.json'), recursive=True))
        self.programs(maker=p.maker, program=p.name, step='run', code=code, seconds=round(seconds, 1), launches=len(bundles),
                      says=' | '.join(l for l in output.splitlines() if l.strip())[-400:])
        if python(p):
            with open(self.out / ('output.%s.txt' % p.name), 'w') as f:
                f.write(output[-60000:])
        e.pop('LD_PRELOAD', None)
        if self.o.ncu and (code == 0 or python(p)) and bundles:  # of a Python program one case may have failed
            self.waiting.append(self.profiles.submit(self.profile, p, command, e, where))
        for b in bundles:
            self.waiting.append(self.replays.submit(self.replay, p, pathlib.Path(b).parent, dumps))

    def exec(self, p, command, where):
        with self.gpu:
            native_code, _, native = self.call(command, self.o.run_limit, None, where)
        code, seconds, output = self.call([self.o.palladion, 'exec', '--threads', '1', '--', *command], self.o.replay_limit, None, where)
        here, there = verdicts(output), verdicts(native)
        if code == native_code and here == there:
            says = 'ends as on the GPU, %d verdicts' % sum(there.values())
        else:
            says = 'GPU %d: %s; here: %s' % (native_code, dict(there - here), dict(here - there))
            (self.out / ('exec.%s.txt' % p.name)).write_text('\n'.join(['GPU:', native[-4000:], 'exec:', output[-8000:]]))
        self.programs(maker=p.maker, program=p.name, step='exec', code=code, seconds=round(seconds, 1), launches='', says=says[:600])

    def profile(self, p, command, e, where):
        e.pop('LD_PRELOAD', None)
        _, _, output = self.call(['ncu', '--clock-control', 'none', '--metrics', 'sm__cycles_elapsed.max', '--csv', '--page', 'raw',
                                  '--print-kernel-base', 'mangled', '--filter-mode', 'per-launch-config',
                                  '--launch-count', '2' if python(p) else '1', *command],
                                 150 if python(p) else 25, e, where)
        counts = collections.Counter()
        for row in csv.DictReader(l for l in output.splitlines() if l.startswith('"')):
            value = (row.get('sm__cycles_elapsed.max') or '').replace(',', '')
            if re.fullmatch(r'[\d.]+', value):
                counts[row['Kernel Name']] += 1
                self.cycles(maker=p.maker, program=p.name, entry=row['Kernel Name'], launch=counts[row['Kernel Name']],
                            grid=row.get('Grid Size', ''), block=row.get('Block Size', ''), cycles=int(float(value)))

    def replay(self, p, bundle, dumps):
        try:
            self.replay_(p, bundle, dumps)
        except Exception as error:
            self.launches(maker=p.maker, program=p.name, launch=bundle.name, compare='collect', compare_says=repr(error)[:300])

    def replay_(self, p, bundle, dumps):
        ptx_of.complete(bundle, dumps)
        m = json.loads((bundle / 'bundle.json').read_text())
        size = sum(f.stat().st_size for f in bundle.iterdir() if f.suffix not in ('.ptx', '.cubin'))
        row = dict(maker=p.maker, program=p.name, launch=bundle.name, entry=m['entry'], grid='x'.join(map(str, m['grid'])),
                   block='x'.join(map(str, m['block'])), bytes=size, ptx=(m['ptx'] or {}).get('source', '-'))
        if m['ptx'] and self.o.replay:
            code, _, output = self.call([self.o.palladion, 'ptx', '--ptx', str(bundle / m['ptx']['file']), '--entry', m['entry'],
                                         '--lowered', '-o', os.devnull], 30)
            row['lowered'] = code
            if code:
                row['compare_says'] = output.strip()[:300]
            code, seconds, output = self.call([self.o.palladion, 'compare', str(bundle), '--threads', '2'], self.o.replay_limit)
            row.update(compare=code, compare_s=round(seconds, 2))
            if code:
                telling = [l.strip() for l in output.splitlines() if re.search(r'differ|first at|error|unsupported|did not end', l)]
                row['compare_says'] = ' | '.join(l[:200] + ' ... ' + l[-150:] if len(l) > 350 else l for l in telling[:12])
            self.waiting.append(self.checks.submit(self.check, p, bundle, row, code))
        else:
            self.launches(**row)
        if size < self.o.keep_bytes and self.kept < self.o.keep_total:
            self.keep(bundle, '%s/%s/%s' % (p.maker, p.name, bundle.name))
            self.kept += size

    def check(self, p, bundle, row, compared):
        try:
            self.check_(p, bundle, row, compared)
        except Exception as error:
            row['compare_says'] = repr(error)[:300]
        self.launches(**row)

    def check_(self, p, bundle, row, compared):
        if compared in (124, 125):
            row['check'] = compared
        else:
            code, seconds, output = self.call([self.o.palladion, 'check', str(bundle), '--threads', '2', '--seeds', '4'], self.o.replay_limit)
            counts = collections.Counter(re.findall(r'^(\w+)\[(PLD\d+)\]', output, re.M))
            row.update(check=code, check_s=round(seconds, 2),
                       findings=' '.join('%d %s[%s]' % (n, *k) for k, n in sorted(counts.items())))
            if counts:
                with self.lock, open(self.out / 'findings.txt', 'a') as f:
                    f.write('=== %s %s %s %s\n%s\n' % (p.maker, p.name, bundle.name, row['entry'], output[:6000]))
        code, _, output = self.call([self.o.palladion, 'run', str(bundle), '--schedule', 'hardware', '--threads', '1'], 30)
        found = re.search(r'time +(\d[\d ]*) cycles', output) if code == 0 else None
        row['sim_cycles'] = found.group(1).replace(' ', '') if found else ''

    def keep(self, bundle, name):
        with self.lock:
            if self.archive is None:
                self.archives += 1
                self.archive_file = self.out / ('bundles.%d.tar.xz' % self.archives)
                self.archive = tarfile.open(self.archive_file, 'w:xz', preset=1)
            for f in sorted(bundle.iterdir()):
                if f.suffix == '.ptx':  # one text may have many kernels and launches
                    self.add_text(f, name)
                elif f.suffix != '.cubin':
                    self.archive.add(f, name + '/' + f.name)
            if self.archive_file.stat().st_size > 13 << 20:
                self.archive.close()
                self.archive = None

    def add_text(self, file, name):
        data = file.read_bytes()
        stored = 'ptx/%s.ptx' % hashlib.sha1(data).hexdigest()
        if stored not in self.texts:
            self.texts.add(stored)
            self.archive.add(file, stored)
        link = tarfile.TarInfo(name + '/' + file.name + '.at')
        link.size = len(stored)
        self.archive.addfile(link, io.BytesIO(stored.encode()))

    def run(self):
        programs = table(self.o.programs)
        wanted = [p for p in in_turns(programs) if re.search(self.o.only, p.maker + '/' + p.name)]
        try:
            with concurrent.futures.ThreadPoolExecutor(self.o.programs_at_once) as pool:
                list(pool.map(self.program, wanted))
            while self.waiting:
                self.waiting.pop(0).result()
        finally:
            if self.archive is not None:
                self.archive.close()


def main():
    # paths are absolute: programs are built and run in other folders
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument('--corpora', required=True, type=os.path.abspath, help='a folder with src/hec, src/samples, src/llmc, src/cutlass, src/liger, src/deepgemm, src/triton-tutorials; or that layout.py made')
    a.add_argument('--palladion', default='palladion', type=lambda f: os.path.abspath(shutil.which(f) or f))
    a.add_argument('--cuda', default='/usr/local/cuda', help='the toolkit')
    a.add_argument('--out', required=True, type=os.path.abspath)
    a.add_argument('--work', default='/tmp/foreign', type=os.path.abspath)
    a.add_argument('--seconds', type=float, default=520, help='for everything')
    a.add_argument('--only', default='', help='a regular expression on MAKER/PROGRAM')
    a.add_argument('--no-capture', dest='capture', action='store_false', help='build and run alone')
    a.add_argument('--library', default='', type=lambda f: f and os.path.abspath(f), help='libpalladion_capture.so, instead of `palladion capture`')
    a.add_argument('--no-replay', dest='replay', action='store_false')
    a.add_argument('--ncu', action='store_true')
    a.add_argument('--exec', action='store_true', help='run each CUDA program under `palladion exec` too, and compare what it says of its results')
    a.add_argument('--programs', default='cuda.txt', help='the table of CUDA programs, in programs/')
    for name, value in dict(launches=1, max_bytes=64 << 20, build_limit=300, run_limit=30, replay_limit=60, keep_bytes=200_000,
                            keep_total=40 << 20, captures=4, replays=10, programs_at_once=14).items():
        a.add_argument('--' + name.replace('_', '-'), type=int, default=value)
    Collector(a.parse_args()).run()


if __name__ == '__main__':
    main()
