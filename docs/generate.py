"""Puts the handbook's pages into one folder: those of docs/, and the reference, which the program and the headers state.

python docs/generate.py PALLADION DOXYGEN_XML OUT    (`./dev docs` calls it)
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ('run check compare sweep ptx list explain capture exec lab new doctor help completion').split()
INSIDE = ('isa isa/host frontend sim sim/numerics sim/program/compile sim/program/contraction sim/machine/exec sim/machine/async sim/schedule sim/clock sim/check sim/explore sim/mutate '
          'traces verify verify/arrays verify/launch verify/sweep verify/bundles cuda cuda/abi cuda/native cuda/toolkit cuda/fatbin cuda/bundle cuda/capture cuda/driver cli kernels kernels/files kernels/zoo labs labs/engine cmake').split()
NAMESPACES = {'palladion::pl': 'pl', 'palladion::plgpu': 'plgpu', 'palladion::program': 'program', 'palladion::kernels': 'kernels',
              'palladion': 'palladion', 'palladion::sim': 'sim', 'palladion::sim::check': 'sim::check', 'palladion::traces': 'traces',
              'palladion::cuda::native': 'cuda::native'}
API = [  # page, title, folders or files of its headers
    ('pallas', 'Pallas: `pl`', ['frontend']), ('mosaic', 'Mosaic GPU: `plgpu`', ['frontend']),
    ('program', 'Kernels of your own: `program.h`', ['program.h', 'kernels', 'verify/arrays']),
    ('machine', 'The machine: `sim`', ['sim']), ('traces', 'Timelines: `traces`', ['traces']),
    ('launches', 'Launches: `verify/launch` and `cuda/native`', ['verify/launch', 'cuda/native'])]


class Program:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words):
        p = subprocess.run([self.path, *words], capture_output=True, text=True, env={'COLUMNS': '120', 'PATH': '/usr/bin:/bin'})
        return p.stdout


def fenced(text, language='text'):
    return '```%s\n%s\n```\n' % (language, text.rstrip())


def command_line(program, out):
    page = ['# The command line\n', fenced(program('--help'))]
    for c in COMMANDS:
        page += ['## %s\n' % c, fenced(program(c, '--help'))]
    page += ['\nExit codes, files, interruption, and what the commands do in detail: [commands](../commands.md).\n']
    (out / 'command_line.md').write_text('\n'.join(page))


def codes(program, out):
    names = re.findall(r'PLD\d+', program('explain'))
    page = ['# Diagnostics\n', 'Every code that a command prints, as `palladion explain CODE` explains it: %d.\n' % len(names)]
    for c in names:
        text = program('explain', c)
        if not text.startswith(c):
            raise SystemExit('docs: `palladion explain %s` explains nothing' % c)
        head, _, rest = text.partition('\n')
        title = re.sub(r'^PLD\d+ ?(\([^)]*\))?:? *', '', head)
        page += ['(%s)=\n## %s\n' % (c.lower(), c), '**%s**\n' % escape(title), fenced(rest)]
    (out / 'diagnostics.md').write_text('\n'.join(page))


def instructions(program, out):
    listed = program('explain').partition('instructions\n')[2].partition('stall reasons')[0].split()
    page = ['# Instructions\n', 'Each instruction of PTX with the forms that the machine executes, from the definitions in `isa/ops`: %d.\n'
            % len(listed)]
    for name in listed:
        page += ['## %s\n' % name, fenced(program('explain', name))]
    reasons = program('explain').partition("clock\n")[2]
    page += ['\n# Stall reasons\n']
    for name in re.split(r',\s+', reasons.strip()):
        page += ['## %s\n' % name, fenced(program('explain', name))]
    (out / 'instructions.md').write_text('\n'.join(page))
    shutil.copy(ROOT / 'tests/golden/isa/coverage.md', out / 'coverage.md')


def members(value, path, rows):
    if isinstance(value, dict):
        for k, v in value.items():
            members(v, path + [k], rows)
    elif isinstance(value, list):
        if value:
            members(value[0], path[:-1] + [path[-1] + '[]'], rows)
        else:
            rows.setdefault('.'.join(path) + '[]', ('array', ''))
    else:
        kind = {str: 'string', bool: 'boolean', int: 'integer', float: 'number', type(None): 'null'}[type(value)]
        rows.setdefault('.'.join(path), (kind, json.dumps(value)[:60]))


WAITS = '''In a finding that is a deadlock, `waits[]` has what each site waits for (`BlockedWait` in `sim/launch/finding.h`). `site` is an index of `sites[]`, where
CTA, warp, lanes, source line and PTX line stand. `phase` counts from 0, and is there only where checkers ran; `parity` is that of the phase. Of `expected_arrivals`
(of an mbarrier its count, of a barrier threads) `pending_arrivals` have not come. `pending_bytes` is the transaction count: bytes that were expected and have not landed;
below 0, bytes that landed before they were expected. `alike` counts the groups of lanes that wait here in the same way. `arrivers[]` are the warps that could still
arrive; their `site` is where they wait themselves. A member that a kind of wait does not have is absent.
'''


def results(program, out):
    """--json: the members that real runs write."""
    runs = [('run', ['run', 'matmul_ws', '--shape', 'm=512,n=512,k=512', '--schedule', 'hardware', '--why']),
            ('check', ['check', 'zoo/async-store-no-proxy-fence', '--seeds', '2']),
            ('check, of a deadlock', ['check', 'zoo/mbarrier-producer-first-parity', '--seeds', '2']),
            ('sweep', ['sweep', 'transpose', '--shape', 'm=256,n=256', '--set', 'tile_m=32,64'])]
    page = ['# Results as JSON\n', '`--json FILE` writes what the text says, and more. Two equal runs differ in `wall` alone. The members of '
            'the runs below; `[]` marks an array, of which the first element is shown.\n']
    with tempfile.TemporaryDirectory() as folder:
        for name, words in runs:
            file = pathlib.Path(folder) / (name + '.json')
            program(*words, '--json', str(file))
            rows = {}
            members(json.loads(file.read_text()), [], rows)
            page += ['## %s\n' % name, fenced('palladion ' + ' '.join(words) + ' --json FILE', 'console'),
                     WAITS if 'deadlock' in name else '', '| member | type | here |', '|---|---|---|']
            page += ['| `%s` | %s | `%s` |' % (k, t, v.replace('|', '\\|')) if v else '| `%s` | %s | |' % (k, t) for k, (t, v) in rows.items()]
            page += ['']
    (out / 'json.md').write_text('\n'.join(page))


def escape(text):
    return re.sub(r'([*_<>\[\]#|])', r'\\\1', text)


def text_of(node):
    if node is None:
        return ''
    parts = []
    for para in node.iter('para'):
        for code in list(para.iter('computeroutput')):
            code.text = '`' + ''.join(code.itertext()) + '`'
            for child in list(code):
                code.remove(child)
        parts.append(''.join(para.itertext()).strip())
    return '\n\n'.join(p for p in parts if p)


def group_comment(place, line):
    """The comment above the lines without a blank one in which a declaration stands: it describes all of them."""
    lines = (ROOT / place).read_text().split('\n')
    at = line - 1
    while at > 0 and lines[at - 1].strip():
        at -= 1
        text = lines[at].strip()
        if text.startswith('//'):
            end = at
            while lines[at - 1].strip().startswith('//'):
                at -= 1
            return ' '.join(l.strip().lstrip('/ ') for l in lines[at:end + 1])
        if text.endswith('{') or text in ('public:', 'private:'):
            break
    return ''


def line_of(member):
    return int(member.find('location').get('line'))


class Api:
    """The public names of the headers, out of Doxygen's XML."""

    def __init__(self, folder):
        self.compounds, self.undocumented, self.count = [], [], 0
        for f in sorted(pathlib.Path(folder).glob('*.xml')):
            for c in xml.parse(f).getroot().iter('compounddef'):
                if c.get('kind') in ('namespace', 'class', 'struct') and c.get('prot', 'public') == 'public':
                    name = c.findtext('compoundname')
                    if not re.search(r'detail|frontend|<|std|::\(|driver', name):
                        self.compounds.append((name, c))

    def members(self, compound, home):
        for m in compound.iter('memberdef'):
            place = (m.find('location').get('file') or '').replace(str(ROOT) + '/', '')
            name = m.findtext('name')
            if re.match(r'^[~@]|operator', name) or re.search(r'= ?(default|delete)', m.findtext('argsstring') or ''):
                continue
            if m.get('prot') == 'public' and any(place == h or place.startswith(h + '/') for h in home):
                yield m, place

    def signature(self, m):
        kind, name = m.get('kind'), m.findtext('name')
        kept = ''.join(m.find('type').itertext()) if m.find('type') is not None else ''
        template = ''
        if m.find('templateparamlist') is not None:
            template = 'template <%s>\n' % ', '.join(' '.join(filter(None, (''.join(p.find('type').itertext()), p.findtext('declname'))))
                                                     for p in m.find('templateparamlist').findall('param'))
        if kind == 'function':
            return template + ('%s %s%s' % (kept, name, m.findtext('argsstring') or '')).strip()
        if kind == 'enum':
            return 'enum class %s { %s }' % (name, ', '.join(v.findtext('name') for v in m.findall('enumvalue')))
        if kind == 'typedef':
            return 'using %s = %s' % (name, kept)
        value = m.find('initializer')
        return ('%s %s %s' % (kept, name, ''.join(value.itertext()) if value is not None else '')).strip()

    def describe(self, node):
        return '\n\n'.join(filter(None, (text_of(node.find('briefdescription')), text_of(node.find('detaileddescription')))))

    def count_type(self, name, c, home, about):
        place = (c.find('location').get('file') or '').replace(str(ROOT) + '/', '')
        if c.get('kind') != 'namespace' and any(place == h or place.startswith(h + '/') for h in home):
            self.count += 1
            if not about:
                self.undocumented.append('%s (%s)' % (name, place))

    def page(self, title, home, wanted):
        rows = ['# %s\n' % title]
        for name, c in self.compounds:
            if not wanted(name):
                continue
            found = list(self.members(c, home))
            shown, signatures, earlier = [], [], None
            about = self.describe(c)
            self.count_type(name, c, home, about)
            of_line = {}  # the comment behind `int x, y;` describes both
            for m, place in found:
                of_line.setdefault(line_of(m), self.describe(m))
                of_line[line_of(m)] = of_line[line_of(m)] or self.describe(m)
            for m, place in found:
                self.count += 1
                words = self.describe(m) or (earlier[1] if earlier and earlier[0] == m.findtext('name') else '')
                if not words and m.find('initializer') is not None and place.endswith('refused_names.h'):
                    words = 'Refused: ' + '; instead: '.join(re.findall(r'"([^"]*)"', ''.join(m.find('initializer').itertext()))[1:])
                words = words or of_line[line_of(m)] or group_comment(place, line_of(m))
                if not words and m.findtext('name') != name.rpartition('::')[2]:
                    self.undocumented.append('%s::%s (%s)' % (name, m.findtext('name'), place))
                earlier = (m.findtext('name'), words)
                signatures.append(self.signature(m) + ';')
                if words:  # what has no comment of its own stands with its neighbour
                    shown.append(fenced('\n'.join(signatures), 'cpp') + '\n%s\n' % escape(words).replace('\\_', '_'))
                    signatures = []
            if signatures:
                shown.append(fenced('\n'.join(signatures), 'cpp'))
            if shown:
                short = re.sub('^palladion::', '', name)
                rows += ['## %s\n' % short, escape(about) + '\n' if about else '', *shown]
        return '\n'.join(rows)


def api(folder, out):
    a = Api(folder)
    wanted = {'pallas': lambda n: n == 'palladion::pl' or n.startswith('palladion::pl::'),
              'mosaic': lambda n: n == 'palladion::plgpu' or n.startswith('palladion::plgpu::')}
    for page, title, home in API:
        text = a.page(title, home, wanted.get(page, lambda n: True))
        (out / ('api_%s.md' % page)).write_text(text)
    return a


def inside(out):
    out.mkdir()
    index = ['# Inside\n', 'The README of each folder: what it answers, its types, how to add to it.\n', '```{toctree}']
    for folder in INSIDE:
        name = folder.replace('/', '_') + '.md'
        text = (ROOT / folder / 'README.md').read_text()
        (out / name).write_text(text.replace('](pallas_names.md)', '](../reference/pallas_names.md)'))
        index.append(name[:-3])
    (out / 'index.md').write_text('\n'.join(index + ['```']))


def main():
    program, doxygen, out = Program(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / 'docs', out, ignore=shutil.ignore_patterns('generate.py', 'conf.py', 'Doxyfile', 'build', 'README.md', '__pycache__'))
    shutil.copy(ROOT / 'docs/conf.py', out)
    reference = out / 'reference'
    reference.mkdir(exist_ok=True)
    for make in (command_line, codes, instructions, results):
        make(program, reference)
    a = api(doxygen, reference)
    shutil.copy(ROOT / 'frontend/pallas_names.md', reference / 'pallas_names.md')
    inside(out / 'inside')
    print('docs: %d public names of the headers, %d of them without a comment' % (a.count, len(a.undocumented)))
    if a.undocumented:
        raise SystemExit('docs: every public name has a comment, but for these:\n  ' + '\n  '.join(a.undocumented))


if __name__ == '__main__':
    main()
