"""Builds CUDA samples and llm.c's dev/cuda with nvcc and runs each under `palladion exec`: the table of exec.md.

No GPU is needed. Nothing of the programs is changed, only arguments that they take are smaller (programs/exec.txt).
Programs of graphics libraries and of NVIDIA's libraries (cuBLAS, cuFFT, ...: machine code only) are left out.
Seconds and limits are of processor time, so that a loaded host gives the same table.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
FOREIGN = re.compile(r'find_package\((?:OpenGL|GLUT|Vulkan|FreeImage|MPI|EGL|NVSCI)|'
                     r'CUDA::(?:cublas|cusparse|cusolver|cufft|npp|nvjpeg|nvJitLink|curand)|WIN32', re.I)
FAILED = re.compile(r'\bFAIL(ED|URE)?\b|\bmismatch\b|Test failed')
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


def seconds_of(group):
    """Processor time of a group of processes until now."""
    ticks = 0
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = stat.read_text().rpartition(')')[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK')


Ended = collections.namedtuple('Ended', 'code out seconds')  # code None: it was ended at its limit


def shell(command, cwd, limit, env=None, until=None):
    """Runs a command for `limit` seconds of processor time, or until it has printed `until`; all that it started
    ends with it."""
    def set_limit():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    p = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                         start_new_session=True, preexec_fn=set_limit)

    seconds = 0.0

    def end():
        nonlocal seconds
        seconds = seconds_of(p.pid)
        os.killpg(p.pid, signal.SIGKILL)

    timer = threading.Timer(20 * limit, end)  # one that sleeps
    timer.start()
    out = []
    for line in p.stdout:
        out.append(line.decode(errors='replace'))
        if until is not None and re.search(until, out[-1]):
            end()
            until = None
    _, status, usage = os.wait4(p.pid, 0)
    timer.cancel()
    p.returncode = os.waitstatus_to_exitcode(status)
    cut = p.returncode in (-signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGXCPU, 128 + signal.SIGKILL)
    return Ended(None if cut else p.returncode, ''.join(out), max(seconds, usage.ru_utime + usage.ru_stime))


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
    toolkit = pathlib.Path(shutil.which('nvcc')).resolve().parent.parent / 'include'
    for header in p.settings.get('headers', '').split():  # as its CMakeLists.txt copies them
        source, target = toolkit / header, home / pathlib.Path(header).name
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    more = [str(common / m) for m in p.settings.get('common', '').split(',') if m]
    flags = p.settings.get('flags', '').split()
    code, out, _ = shell(['nvcc', *GENCODE, '-O2', '-std=c++17', '--extended-lambda', '-w', '-I', str(common),
                          '-I', '.', '-I', 'inc', '-o', 'program', *sources, *more, *flags], home, 900)
    return home, '' if code == 0 else out


def last_line(text, pattern):
    lines = [line for line in text.splitlines() if re.search(pattern, line)]
    return lines[-1].strip() if lines else ''


def verdict(p, code, out):
    note = p.settings.get('note', '')
    missing = sorted(set(re.findall(r'palladion exec: unsupported: (.*)', out)) |
                     set(re.findall(r'unsupported\[\w+\]: (.*)', out)))
    if 'ends_with' in p.settings and code == int(p.settings['ends_with']):
        return 'passes', note
    if code is None:
        done = 'verified' in p.settings and re.search(p.settings['verified'], out)
        return ('passes', 'its verification; the benchmark behind it was not awaited') if done else ('too slow', note)
    if re.search(r'waiv|not supported on|skipping', out, re.I) and code in (0, 2):
        return 'waives', last_line(out, r'(?i)waiv|not supported on|skipping')
    if code == 0 and FAILED.search(out):
        return 'fails', last_line(out, FAILED.pattern)[:160]
    if code == 0:
        return ('verifies nothing' if 'nothing' in p.settings else 'passes'), ''
    if missing:
        return 'unsupported', note or '; '.join(missing)[:160]
    return 'fails', note or f'exit code {code}: ' + last_line(out, r'(?i)error|fail|PLD\d{4}|unsupported|what')[:160]


def run(p, home, palladion, threads, limit):
    arguments = p.settings.get('args', '').split()
    env = dict(os.environ)
    if 'nvrtc' in p.settings:
        env['CUDA_PATH'] = os.environ.get('CUDA_PATH', '/usr/local/cuda')
    # Lines as they are printed: what a program that is ended at the limit had verified until then.
    command = ['stdbuf', '-oL', str(palladion), 'exec', '--threads', str(threads), '--', './program', *arguments]
    ended = shell(command, home, int(p.settings.get('limit', limit)), env, p.settings.get('verified'))
    (home / 'output.txt').write_text(f'exit code {ended.code}\n{ended.out}')
    return (*verdict(p, ended.code, ended.out), ended.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--corpora', type=pathlib.Path, required=True, help='holds cuda-samples and llm.c')
    parser.add_argument('--palladion', type=pathlib.Path, default=pathlib.Path('build/palladion'))
    parser.add_argument('--work', type=pathlib.Path, required=True, help='programs are built and run here')
    parser.add_argument('--only', default='', help='regular expression of names')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--limit', type=int, default=120, help='seconds of processor time a program')
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
