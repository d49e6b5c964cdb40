"""Builds CUDA samples and llm.c's dev/cuda with nvcc and runs each under `palladion exec`: the table of exec.md.

No GPU is needed. Nothing of the programs is changed, only arguments that they take are smaller (programs/exec.txt).
Programs of graphics libraries and of NVIDIA's libraries (cuBLAS, cuFFT, ...: machine code only) are left out.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
FOREIGN = re.compile(r'find_package\((?:OpenGL|GLUT|Vulkan|FreeImage|MPI|EGL|NVSCI)|'
                     r'CUDA::(?:cublas|cusparse|cusolver|cufft|npp|nvjpeg|nvJitLink|curand)|WIN32', re.I)
VERIFIED = re.compile(r'pass|success|\bok\b|match|correct|verif|all good|within', re.I)
GENCODE = ['-gencode', 'arch=compute_90,code=compute_90']
Program = collections.namedtuple('Program', 'name sources folder settings')
KINDS = ('passes', 'verifies nothing', 'waives', 'unsupported', 'too slow', 'fails', 'not built')


def settings():
    """name -> {flags, args, images, limit, ...}; a word alone is a flag of the table."""
    out = collections.defaultdict(dict)
    for line in (HERE / 'programs/exec.txt').read_text().splitlines():
        if not line or line.startswith('#'):
            continue
        name, _, rest = line.partition(':')
        for word in re.findall(r'(\w+)=("[^"]*"|\S+)|(\w+)', rest):
            key, value, alone = word
            out[name][key or alone] = value.strip('"') if key else True
    return out


def programs(corpora, known):
    for cmake in sorted((corpora / 'cuda-samples/Samples').glob('[0-6]_*/*/CMakeLists.txt')):
        folder, s = cmake.parent, known[cmake.parent.name]
        if 'skip' in s or (FOREIGN.search(cmake.read_text()) and 'take' not in s):
            continue
        sources = [p for p in sorted(folder.rglob('*')) if p.suffix in ('.cu', '.cpp', '.c')]
        if 'omit' in s:
            sources = [p for p in sources if not re.search(s['omit'], p.name)]
        sources = [str(p.relative_to(folder)) for p in sources]
        yield Program(folder.name, sources, folder, s)
    for source in sorted((corpora / 'llm.c/dev/cuda').glob('*.cu')):
        s = known['llm.c/' + source.stem]
        if 'skip' not in s and not re.search(r'cublas(Lt)?(Create|Check|Sgemm|Gemm)', source.read_text()):
            s.setdefault('verified', 'All results match')
            s.setdefault('flags', '-lcublas -lcublasLt')  # as its Makefile links them all
            yield Program('llm.c/' + source.stem, [source.name], source.parent, s)


def shell(command, cwd, limit, env=None):
    """Exit code (None: over the limit), output, seconds. What the command started ends with it."""
    start = time.time()
    p = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                         start_new_session=True)
    try:
        out = p.communicate(timeout=limit)[0]
        code = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, code = p.communicate()[0], None
    return code, out.decode(errors='replace'), time.time() - start


def build(p, corpora, work):
    home = work / p.name.replace('/', '_')
    program = home / 'program'
    if program.exists():
        return home, ''
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(p.folder, home)
    common = corpora / 'cuda-samples/Common'
    images = [i for i in p.settings.get('images', '').split(',') if i]
    for image in images:  # kernels that the program reads from a file: SOURCE>FILE
        source, _, target = image.partition('>')
        kind = '-ptx' if target.endswith('ptx') else '-fatbin'
        gencode = ['-arch=compute_90'] if kind == '-ptx' else GENCODE
        code, out, _ = shell(['nvcc', kind, *gencode, '-I', str(common), '-o', target, source], home, 600)
        if code != 0:
            return home, out
    sources = [s for s in p.sources if not any(i.startswith(s + '>') for i in images)]
    if 'nvrtc' in p.settings:  # its kernels are compiled when it runs
        sources = [s for s in sources if s.endswith('.cpp')]
    more = [str(common / m) for m in p.settings.get('common', '').split(',') if m]
    flags = p.settings.get('flags', '').split()
    code, out, _ = shell(['nvcc', *GENCODE, '-O2', '-std=c++17', '--extended-lambda', '-w', '-I', str(common),
                          '-I', '.', '-I', 'inc', '-o', 'program', *sources, *more, *flags], home, 900)
    return home, '' if code == 0 else out


def last_line(text, pattern):
    lines = [line for line in text.splitlines() if re.search(pattern, line)]
    return lines[-1].strip() if lines else ''


def verdict(p, code, out):
    missing = sorted(set(re.findall(r'palladion exec: unsupported: (.*)', out)))
    if 'ends_with' in p.settings and code == int(p.settings['ends_with']):
        return 'passes', p.settings.get('note', '')
    if code is None:
        done = 'verified' in p.settings and re.search(p.settings['verified'], out)
        return ('passes', 'its verification; the benchmark behind it is over the limit') if done else ('too slow', p.settings.get('note', ''))
    if re.search(r'waiv|not supported on|skipping', out, re.I) and code in (0, 2):
        return 'waives', last_line(out, r'(?i)waiv|not supported on|skipping')
    if code == 0:
        return ('verifies nothing' if 'nothing' in p.settings or not VERIFIED.search(out) else 'passes'), p.settings.get('note', '')
    if missing:
        return 'unsupported', '; '.join(missing)[:160]
    return 'fails', f'exit code {code}: ' + last_line(out, r'(?i)error|fail|PLD\d{4}|unsupported|what')[:160]


def run(p, home, palladion, threads, limit):
    arguments = p.settings.get('args', '').split()
    env = dict(os.environ)
    if 'nvrtc' in p.settings:
        env['CUDA_PATH'] = os.environ.get('CUDA_PATH', '/usr/local/cuda')
    # Lines as they are printed: what a program that is ended at the limit had verified until then.
    command = ['stdbuf', '-oL', str(palladion), 'exec', '--threads', str(threads), '--', './program', *arguments]
    code, out, seconds = shell(command, home, int(p.settings.get('limit', limit)), env)
    (home / 'output.txt').write_text(f'exit code {code}\n{out}')
    return (*verdict(p, code, out), seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--corpora', type=pathlib.Path, required=True, help='holds cuda-samples and llm.c')
    parser.add_argument('--palladion', type=pathlib.Path, default=pathlib.Path('build/palladion'))
    parser.add_argument('--work', type=pathlib.Path, required=True, help='programs are built and run here')
    parser.add_argument('--only', default='', help='regular expression of names')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--limit', type=int, default=120, help='seconds a program')
    parser.add_argument('--jobs', type=int, default=2, help='programs built at once')
    parser.add_argument('--build-only', action='store_true')
    a = parser.parse_args()
    all_programs = [p for p in programs(a.corpora.resolve(), settings()) if re.search(a.only, p.name)]
    a.work.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        built = list(pool.map(lambda p: build(p, a.corpora.resolve(), a.work.resolve()), all_programs))
    counts = collections.Counter()
    print('| program | arguments | verdict | s |\n|---|---|---|---|')
    for p, (home, error) in zip(all_programs, built):
        if error:
            kind, note, seconds = 'not built', last_line(error, r'error')[:160], 0.0
        elif a.build_only:
            continue
        else:
            kind, note, seconds = run(p, home, a.palladion.resolve(), a.threads, a.limit)
        counts[kind] += 1
        text = f'{kind}: {note}' if note else kind
        print(f'| {p.name} | {p.settings.get("args", "")} | {text.replace("|", "/")} | {seconds:.1f} |', flush=True)
    print('\n' + ', '.join(f'{counts[k]} {k}' for k in KINDS if counts[k]) + f'; {sum(counts.values())} programs')
    return 0


sys.exit(main())
