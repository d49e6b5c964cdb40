#!/usr/bin/env python3
"""Runs other makers' programs on a simulated B200 without a GPU, checks each kernel that they launch under many
schedules, and prints a row for each.

    blackwell.py run OUT [--only REGEX] --at NAME=VALUE ...     NAME: a word in braces of programs/blackwell.txt
    blackwell.py table OUT

A launch is recorded by `exec -- capture` as it is the first time that its kernel is launched, and judged by `check`.
What was judged stays in OUT and is not run again.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys




HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get('PALLADION', 'palladion')
FIELDS = 'maker program kernel launch runs verdict schedules data findings why'.split()
PROGRAM_SECONDS, CHECK_SECONDS = int(os.environ.get('PROGRAM_SECONDS', 300)), int(os.environ.get('CHECK_SECONDS', 150))


def programs(only):
    """(maker, name, chip, the regular expression of its kernels, command) of each line of the list."""
    for line in (HERE / 'programs/blackwell.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            maker, name, chip, kernels, command = re.split(r' \| ', line, maxsplit=4)
            if re.search(only, maker + '/' + name):
                yield maker, name, chip, kernels, command


def short(name):
    """A kernel's name without the arguments of templates that hold templates, at most 60 characters."""
    name = re.sub(r'\s|void |__nv_|cutlass::|kittens::', '', name)
    while len(name) > 60 and '<' in name:
        inner = re.sub(r'<[^<>]*>', '', name)
        if inner == name:
            break
        name = inner
    return name[:60]


def demangled(name):
    try:
        return subprocess.run(['c++filt', name], capture_output=True, text=True).stdout.strip() or name
    except FileNotFoundError:
        return name


def command_output(words, seconds):
    """(exit code, output) of a command; -1: it was ended after `seconds`."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                               start_new_session=True)
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return process.communicate()[0], -1


def judged(bundle, folder):
    """Fields of a row from `check` of one recorded launch."""
    report = folder / (bundle.name + '.json')
    report.unlink(missing_ok=True)
    words = [PROGRAM, 'check', str(bundle), '--json', str(report), '--seeds', '3', '--limit', '3']
    text, code = command_output(words, CHECK_SECONDS)
    (folder / (bundle.name + '.txt')).write_text(text)
    if not report.exists():
        return {'runs': 'no', 'verdict': 'too slow' if code == -1 else 'fails', 'why': text.strip()[-200:]}
    found = json.loads(report.read_text())
    codes = collections.Counter((f['code'], f['severity']) for f in found['findings'])
    scope = found.get('scope', {})
    return {'runs': 'no' if any(f['fatal'] for f in found['findings']) else 'yes', 'verdict': found['verdict'],
            'schedules': scope.get('schedules', ''), 'data': scope.get('data', ''),
            'findings': ', '.join('%s %s' % key for key in sorted(codes)), 'why': found.get('verdict_reason', '')}


def run_one(options, maker, name, chip, kernels, command):
    folder = options.out / ('%s-%s' % (maker, name))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    capture = [PROGRAM, 'capture', '-o', str(folder), '--max-bytes', '268435456'] + ['--kernel', kernels]
    words = [PROGRAM, 'exec', '--arch', chip, '--json', str(folder / 'exec.json'), '--', *capture, '--', 'bash', '-c', command]
    text, code = command_output(words, PROGRAM_SECONDS)
    (folder / 'exec.txt').write_text(text)
    rows = []
    for bundle in sorted(b for b in folder.iterdir() if (b / 'bundle.json').exists()):
        launch = json.loads((bundle / 'bundle.json').read_text())
        shape = 'x'.join(map(str, launch['grid'])) + ' by ' + 'x'.join(map(str, launch['block']))
        row = dict.fromkeys(FIELDS, '') | {'maker': maker, 'program': name, 'launch': shape,
                                           'kernel': short(demangled(launch['entry']))}
        rows.append(row | judged(bundle, folder))
        options.keep or shutil.rmtree(bundle)
    if not rows or code != 0:
        last = [line for line in text.splitlines() if line.strip()][-12:]
        print('%s/%s: exit code %d\n    %s' % (maker, name, code, '\n    '.join(last)), flush=True)
    with open(folder / 'rows.csv', 'w', newline='') as f:
        csv.DictWriter(f, FIELDS).writerows(rows)
    for row in rows:
        print(' | '.join(row[f] for f in FIELDS), flush=True)


def run(options):
    values = dict(v.split('=', 1) for v in options.at) | {'here': str(HERE / 'programs'), 'python': sys.executable}
    for maker, name, chip, kernels, command in programs(options.only):
        if options.again or not (options.out / ('%s-%s' % (maker, name)) / 'rows.csv').exists():
            try:
                command = re.sub(r'\{(\w+)\}', lambda m: values[m[1]], command)
            except KeyError:
                continue  # not there on this machine
            run_one(options, maker, name, chip, kernels, command)


# ---- the table ---------------------------------------------------------------------------------------
def verdicts():
    """(regular expression on MAKER/PROGRAM/KERNEL, code, verdict, why) of each line of judged_blackwell.txt."""
    for line in (HERE / 'judged_blackwell.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            yield re.fullmatch(r'(.*)\|(PLD\d+ \w+)\|(\w+)\|(.*)', line).groups()


def judge(row, known):
    """Findings of a row with their verdicts: `PLD4308 error: true`; strict findings are judged by their code."""
    out = []
    for finding in filter(None, row['findings'].split(', ')):
        code = finding.split()[0]
        name = '/'.join((row['maker'], row['program'], row['kernel']))
        found = [verdict for pattern, of, verdict, _ in known if of == finding and re.match(pattern, name)]
        out.append('%s: %s' % (finding, found[0] if found else 'open'))
    return ', '.join(out)


def table(options):
    known = list(verdicts())
    rows = []
    for file in sorted(options.out.glob('*/rows.csv')):
        rows += csv.DictReader(file.open(newline=''), FIELDS)
    rows.sort(key=lambda r: (r['maker'], r['program'], r['kernel']))
    print((HERE / 'blackwell_kernels.head.md').read_text())
    print('| maker | kernels | run | decided for all schedules | or under an assumption | for all data | '
          'errors: judged true | judged false | open |')
    print('|---|---|---|---|---|---|---|---|---|')
    of = collections.defaultdict(list)
    for row in rows:
        row['judged'] = judge(row, known)
        of[row['maker']].append(row)
    for maker, some in [*sorted(of.items()), ('**all**', rows)]:
        errors = [j for row in some for j in row['judged'].split(', ') if ' error: ' in j]
        print('| %s |' % maker, ' | '.join(str(n) for n in (
            len(some), sum(r['runs'] == 'yes' for r in some), sum(r['schedules'] == 'all' for r in some),
            sum(r['schedules'].startswith('all') for r in some),
            sum(r['data'].startswith('all data') for r in some), sum(j.endswith('true') for j in errors),
            sum(j.endswith('false') for j in errors), sum(j.endswith('open') for j in errors))), '|')
    print('\n## Verdicts\n\n| where | finding | verdict | why |\n|---|---|---|---|')
    for pattern, code, verdict, why in known:
        print('| `%s` | %s | %s | %s |' % (pattern.replace('|', '\\|'), code, verdict, why))
    print('\n## Kernels\n\n| maker/program | kernel | grid by CTA | runs | verdict | schedules | data | findings |')
    print('|---|---|---|---|---|---|---|---|')
    for r in rows:
        print('| %s/%s | `%s` | %s | %s | %s | %s | %s | %s |' % (
            r['maker'], r['program'], r['kernel'].replace('|', '\\|'), r['launch'], r['runs'], r['verdict'],
            r['schedules'] or '-', r['data'].split(';')[0] or '-', r['judged'] or '-'))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.set_defaults(call=run)
    runs.add_argument('out', type=pathlib.Path)
    runs.add_argument('--only', default='')
    runs.add_argument('--again', action='store_true', help='also what was judged before')
    runs.add_argument('--keep', action='store_true', help='recorded launches stay in OUT')
    runs.add_argument('--at', action='append', default=[], metavar='NAME=VALUE')
    tables = commands.add_parser('table')
    tables.set_defaults(call=table)
    tables.add_argument('out', type=pathlib.Path)
    options = parser.parse_args()
    options.call(options)


if __name__ == '__main__':
    main()
