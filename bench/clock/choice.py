#!/usr/bin/env python3
"""How often the clock's first choice among settings was the chip's, of the cases in validation.md.

    bench/clock/choice.py bench/clock/validation.md

Cases of one kernel with the same sizes and types, and at least two settings, are a choice, cold and warm. Prints a
row a choice and a summary: by how many cycles the device is slower with the clock's choice than with its own best.
"""
import collections
import re
import sys

SIZES = {'matmul_ws': 'm n k', 'matmul_pipelined': 'm n k', 'matmul_split_k': 'm n k', 'transpose': 'm n',
         'stream_copy': 'n', 'reduce_sum': 'n', 'histogram': 'n', 'softmax': 'm n', 'rms_norm': 'm n',
         'cluster_exchange': 'clusters n'}
PROBLEM = {'dtype', 'out_dtype', 'bins', 'rounds', 'add_c'}  # settings that make another problem
CASE = re.compile(r'\| `(.*?)` \| (\d+) \| (\d+) \| (\d+) \| \S+ % \| (\d+) \| (\d+) \|')


def choices(lines):
    """{problem: {settings: {state: (device, clock)}}}"""
    out = collections.defaultdict(dict)
    for match in filter(None, map(CASE.match, lines)):
        kernel, *words = match[1].split()
        cycles = [int(x) for x in match.groups()[2:]]
        of_problem = [w for w in words if w.split('=')[0] in SIZES[kernel].split() + sorted(PROBLEM)]
        settings = ' '.join(w for w in words if w not in of_problem)
        out[' '.join([kernel] + of_problem)][settings or 'defaults'] = {'cold': cycles[:2], 'warm': cycles[2:]}
    return {problem: settings for problem, settings in out.items() if len(settings) > 1}


def main(path):
    losses = []
    print('| problem | L2 | settings | the clock chooses | fastest on the chip | loses |')
    print('|---|---|---:|---|---|---:|')
    with open(path, encoding='utf-8') as file:
        found = choices(file)
    for problem, settings in found.items():
        for state in ('cold', 'warm'):
            device, clock = ({s: c[state][i] for s, c in settings.items()} for i in (0, 1))
            chosen, best = min(clock, key=clock.get), min(device, key=device.get)
            losses.append(device[chosen] / device[best] - 1)
            print(f'| {problem} | {state} | {len(settings)} | {chosen} | {best} | {losses[-1]:.1%} |')
    print(f'\n{losses.count(0)} of {len(losses)} first choices were the best; the mean loss is '
          f'{sum(losses) / len(losses):.1%}, the largest {max(losses):.1%}.')


if __name__ == '__main__':
    main(*sys.argv[1:])
