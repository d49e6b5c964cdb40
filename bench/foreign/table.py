"""The table of foreign launches out of collect.py's files: python table.py RESULTS [HEAD] > launches.md

RESULTS has launches.csv and ncu.csv. HEAD is the page's beginning: launches.head.md, unseen.head.md or unseen2.head.md.
"""
import collections
import csv
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIVE_MICROSECONDS = 9900  # cycles at 1980 MHz


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


WORDS = re.compile(r'words of 4 bytes that differ: (\d+); under (\d+) other schedules? (\d+) vary and (\d+) get')


def words(l):
    """Words that differ, that vary between schedules, that get the device's bits under one: what `compare` counted."""
    found = [tuple(map(int, m)) for m in WORDS.findall(l['compare_says'])]
    return tuple(sum(m[i] for m in found) for i in (0, 2, 3)) if found else None


def reason(l):
    answer, why = verdict(l, 'bits')
    if answer == 'open' and (counts := words(l)) and counts[0] == counts[1]:
        return 'order', 'every word that differs varies between schedules; not judged further'
    return answer, why


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
    if code == '2' and 'the driver refused' in l['compare_says']:
        return 'refused by the driver'
    if code in ('124', '125'):
        return 'too long'
    if code == '1' and 'differ' in l['compare_says']:
        return 'differs: ' + reason(l)[0]
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


def dimensions(text):
    return 'x'.join(re.findall(r'\d+', text))


class Device:
    """ncu's cycles of a launch: of the same kernel, grid and block in the same program, in the order of the launches."""

    def __init__(self, path):
        self.cycles = collections.defaultdict(list)
        if path.exists():
            for row in csv.DictReader(open(path)):
                self.cycles[self.key(row)].append(int(row['cycles']))

    @staticmethod
    def key(row):
        return row['maker'], row['program'], row['entry'], dimensions(row['grid']), dimensions(row['block'])

    def take(self, launch):
        known = self.cycles.get(self.key(launch), [])
        return known.pop(0) if len(known) > 1 else known[0] if known else None


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0


def clock_summary(pairs):
    """Lines on the clock: pairs of cycles (here, ncu)."""
    print('\n## Cycles\n')
    if not pairs:
        print('ncu was not run, or none of its kernels is among the launches.')
        return
    print('| launches | number | mean error | median error | 95th percentile | worst | mean of here / ncu |\n|---|---|---|---|---|---|---|')
    for name, chosen in (('over 5 us on the device', [p for p in pairs if p[1] > FIVE_MICROSECONDS]), ('all', pairs)):
        errors = [abs(here / device - 1) for here, device in chosen]
        if errors:
            print('| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.0f %% | %.2f |' % (
                name, len(errors), 100 * sum(errors) / len(errors), 100 * quantile(errors, 0.5), 100 * quantile(errors, 0.95), 100 * max(errors),
                sum(here / device for here, device in chosen) / len(chosen)))


def host_summary(launches):
    print('\n## Seconds of the host\n\n| command | launches | median | 95th percentile | worst |\n|---|---|---|---|---|')
    for name in ('compare', 'check'):
        seconds = [float(l[name + '_s']) for l in launches if l.get(name + '_s')]
        if seconds:
            print('| `%s` | %d | %.2f | %.2f | %.1f |' % (name, len(seconds), quantile(seconds, 0.5), quantile(seconds, 0.95), max(seconds)))


def reasons(launches):
    """What is not equal, by reason: as judged, or as the machine said."""
    print('\n## What differs or does not run, and why\n\n| launches | number | why |\n|---|---|---|')
    groups, counted = collections.Counter(), collections.defaultdict(lambda: (0, 0, 0))
    for l in launches:
        b = bits(l)
        place = '%(maker)s/%(program)s' % l
        if b.startswith('differs'):
            key = place, 'differs: %s' % (reason(l)[1] or 'open')
            groups[key] += 1
            counted[key] = tuple(map(sum, zip(counted[key], words(l) or (0, 0, 0))))
        elif b in ('unsupported', 'error', 'stopped by a finding', 'too long', 'failed on the device', 'refused by the driver'):
            said = re.sub(r'\s+', ' ', l['compare_says'].split(' | ')[0]).strip().replace('|', '/')
            groups[place, b + (': ' + said[:140] if said else '')] += 1
    for (place, why), n in sorted(groups.items()):
        measured = counted.get((place, why), (0, 0, 0))
        if measured[0]:
            why += ' (words that differ: %d; %d vary between our schedules, %d get the device\'s bits under one)' % measured
        print('| %s | %d | %s |' % (place, n, why))


def main():
    results = pathlib.Path(sys.argv[1])
    launches = list(csv.DictReader(open(results / 'launches.csv')))
    ncu, pairs = Device(results / 'ncu.csv'), []
    makers = collections.defaultdict(collections.Counter)
    rows = []
    for l in sorted(launches, key=lambda l: (l['maker'], l['program'], l['launch'])):
        b = bits(l)
        m = makers[l['maker']]
        m['recorded'] += 1
        if b not in ('no PTX', 'failed on the device', 'refused by the driver'):
            m['PTX'] += 1
            m['parse'] += l['lowered'] == '0'
            m['run'] += b == 'equal' or b.startswith('differs')
            m['equal'] += b == 'equal'
            m[b.split(':')[0]] += b != 'equal'
            m['explained'] += b.startswith('differs') and not b.endswith('open')
        device = ncu.take(l)
        simulated = l.get('sim_cycles') or ''
        ratio = ''
        if simulated and device:
            pairs.append((int(simulated), device))
            ratio = '%.2f' % (int(simulated) / device)
        rows.append('| %s/%s `%s` | %s | %s | %s | %s | %s | %s | %s | %s |' % (
            l['maker'], l['program'], l['launch'][5:45], l['grid'], l['block'], 'yes' if l['lowered'] == '0' else '-', b,
            findings(l) or '-', simulated or '-', device or '-', ratio or '-'))
    print((HERE / (sys.argv[2] if len(sys.argv) > 2 else 'launches.head.md')).read_text())
    print('| maker | recorded | with PTX | parse | run | equal | differ | explained | unsupported | too long | stopped, error |')
    print('|---|---|---|---|---|---|---|---|---|---|---|')
    total = collections.Counter()
    for maker, m in sorted(makers.items()):
        total.update(m)
    for maker, m in [*sorted(makers.items()), ('all', total)]:
        print('|', maker, '|', ' | '.join(str(m[k]) for k in ('recorded', 'PTX', 'parse', 'run', 'equal', 'differs', 'explained', 'unsupported',
                                                        'too long')), '|', m['stopped by a finding'] + m['error'], '|')
    clock_summary(pairs)
    host_summary(launches)
    reasons(launches)
    print('\n## Every launch\n')
    print('| launch | grid | block | parse | bits | findings | cycles here | cycles of ncu | ratio |\n|---|---|---|---|---|---|---|---|---|')
    print('\n'.join(rows))


main()
