"""The table of foreign launches out of collect.py's files: python table.py RESULTS > launches.md (RESULTS has launches.csv, ncu.csv)."""
import collections
import csv
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent


def judged():
    for line in (HERE / 'judged.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            place, what, verdict, why = line.rsplit('|', 3)
            yield re.compile(place), what, verdict, why


JUDGED = list(judged())


def verdict(launch, what):
    name = '%(maker)s/%(program)s/%(launch)s' % launch
    for place, code, answer, why in JUDGED:
        if code == what and place.match(name):
            return answer, why
    return 'open', ''


def bits(l):
    if l['ptx'] in ('-', ''):
        return 'no PTX'
    code = l['compare']
    if code == '0':
        return 'equal'
    if code == '3' or 'unsupported[' in l['compare_says']:
        found = re.search(r'`[^`]*`|a call of[^|]*|an indirect call', l['compare_says'])
        return 'unsupported'
    if code == '2' and 'did not end' in l['compare_says']:
        return 'failed on the device'
    if code in ('124', '125'):
        return 'too long'
    if code == '1' and 'differ' in l['compare_says']:
        return 'differs: ' + verdict(l, 'bits')[0]
    if code == '1':
        return 'stopped by a finding'
    return 'error'


def findings(l):
    out = []
    for n, severity, code in re.findall(r'(\d+) (\w+)\[(PLD\d+)\]', l['findings'] or ''):
        if severity in ('error', 'strict', 'warning'):
            answer = verdict(l, code)[0]
            shown = severity == 'error' or answer != 'open'  # what breaks the letter alone needs no verdict
            out.append('%s %s%s' % (code, severity, ': ' + answer if shown else ''))
    return ', '.join(out)


def main():
    results = pathlib.Path(sys.argv[1])
    launches = list(csv.DictReader(open(results / 'launches.csv')))
    cycles = collections.defaultdict(list)
    if (results / 'ncu.csv').exists():
        for row in csv.DictReader(open(results / 'ncu.csv')):
            cycles[row['maker'], row['program'], row['entry']].append(int(row['cycles']))
    makers = collections.defaultdict(collections.Counter)
    rows = []
    for l in sorted(launches, key=lambda l: (l['maker'], l['program'], l['launch'])):
        b = bits(l)
        m = makers[l['maker']]
        m['recorded'] += 1
        if b not in ('no PTX', 'failed on the device'):
            m['PTX'] += 1
            m['parse'] += l['lowered'] == '0'
            m['run'] += b == 'equal' or b.startswith('differs')
            m['equal'] += b == 'equal'
            m[b.split(':')[0]] += b != 'equal'
            m['explained'] += b.startswith('differs') and not b.endswith('open')
        device = cycles.get((l['maker'], l['program'], l['entry']), [''])[0]
        simulated = l.get('sim_cycles') or ''
        ratio = '%.2f' % (int(simulated) / device) if simulated and device else ''
        rows.append('| %s/%s `%s` | %s | %s | %s | %s | %s | %s | %s | %s |' % (
            l['maker'], l['program'], l['launch'][5:45], l['grid'], l['block'], 'yes' if l['lowered'] == '0' else '-', b,
            findings(l) or '-', simulated or '-', device or '-', ratio or '-'))
    print((HERE / 'launches.head.md').read_text())
    print('| maker | recorded | with PTX | parse | run | equal | differ | explained | unsupported | too long | stopped, error |')
    print('|---|---|---|---|---|---|---|---|---|---|---|')
    total = collections.Counter()
    for maker, m in sorted(makers.items()):
        total.update(m)
    for maker, m in [*sorted(makers.items()), ('all', total)]:
        print('|', maker, '|', ' | '.join(str(m[k]) for k in ('recorded', 'PTX', 'parse', 'run', 'equal', 'differs', 'explained', 'unsupported',
                                                        'too long')), '|', m['stopped by a finding'] + m['error'], '|')
    print('\n## Every launch\n')
    print('| launch | grid | block | parse | bits | findings | cycles here | cycles of ncu | ratio |\n|---|---|---|---|---|---|---|---|---|')
    print('\n'.join(rows))


main()
