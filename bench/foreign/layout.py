"""Lays out the sources of programs/unseen2.txt for collect.py: DIR/src/fastcu, thunderkittens, polybench, rodinia, altis.

Sources come from git directories of the five repositories, at fixed commits; data files that those do not have are made here, always the same.
"""
import argparse
import pathlib
import random
import re
import subprocess

CORPORA = {  # folder of DIR/src: commit, what is wanted of the repository
    'fastcu': ('38eb642e', ['matmul.cu', 'sum.cu', 'examples']),
    'thunderkittens': ('0b55588d', ['include', 'prototype', 'kernels', 'tests']),
    'polybench': ('5584aaa7', ['CUDA', 'common']),
    'rodinia': ('9c10d3ea', ['common', *('cuda/' + f for f in (
        'b+tree backprop bfs cfd dwt2d gaussian hotspot hotspot3D huffman hybridsort lavaMD lud nn nw particlefilter pathfinder srad streamcluster '
        'util').split())]),
    'altis': ('042e2926', ['src/common', 'src/cuda', 'data/bfs/bfs_4096', 'data/kmeans/2048_16.txt'])}
UNUSED = re.compile('src/cuda/level2/kmeans/inputs/|cuda/hotspot3D/(3D|output.out)$|cuda/lavaMD/result.txt$')  # large


def checkout(repository, commit, wanted, folder):
    """Writes files of a commit. `git archive` will not do: a mirror may lack large files that nobody wants."""
    git = ['git', '-C', repository]
    tree = subprocess.run([*git, 'ls-tree', '-r', '-z', commit, '--', *wanted], check=True, capture_output=True, text=True).stdout
    files = [line.split('\t') for line in tree.split('\0') if line]
    files = [(about.split()[2], name) for about, name in files if about.startswith('100') and not UNUSED.match(name)]
    objects = subprocess.run([*git, 'cat-file', '--batch'], check=True, capture_output=True,
                             input=''.join(h + '\n' for h, _ in files).encode()).stdout
    for _, name in files:
        head, objects = objects.split(b'\n', 1)
        if head.endswith(b' missing'):
            raise SystemExit('%s lacks %s of %s' % (repository, name, commit))
        size = int(head.split()[2])
        write(folder / name, objects[:size])
        objects = objects[size + 1:]


def write(file, data):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())


def domain(side):
    """Of cfd: area, then neighbour (0: wing, -1: far field) and outward normal of each face; a square of quadrilaterals, one wing in a far field."""
    r = random.Random('domain')
    lines = [str(side * side)]
    for i in range(side * side):
        x, y = i % side, i // side
        faces = []
        for dx, dy in (1, 0), (0, 1), (-1, 0), (0, -1):
            inside = 0 <= x + dx < side and 0 <= y + dy < side
            outside = 0 if y == 0 and dy and side // 4 <= x < side // 2 else -1
            faces.append('%d %d %d 0' % (i + dx + dy * side + 1 if inside else outside, dx, dy))
        lines.append('%.7f  %s' % (r.uniform(0.8, 1.2), '  '.join(faces)))
    return '\n'.join(lines) + '\n'


def keys(count):
    r = random.Random('keys')
    return '\n'.join(map(str, [count, *r.sample(range(count), count)])) + '\n'


def numbers(count):
    r = random.Random('numbers')
    return ''.join('%.6f\n' % r.uniform(0, 100) for _ in range(count))


def text(size):
    r = random.Random('text')
    words = [''.join(r.choices('etaoinshrdlucmfw', range(16, 0, -1), k=r.randint(1, 9))) for _ in range(500)]
    return ' '.join(r.choices(words, k=size))[:size]


def hurricanes(seed, count):
    """A file of nn, as its hurricane_gen.c writes them: lines of 48 characters."""
    r = random.Random(seed)
    names = ('ALBERTO BERYL CHRIS DEBBY ERNESTO FLORENCE GORDON HELENE ISAAC JOYCE KIRK LESLIE MICHAEL NADINE OSCAR PATTY RAFAEL SANDY TONY VALERIE '
             'WILLIAM').split()
    return ''.join('%4d %2d %2d %2d %2d %-9s %5.1f %5.1f %4d %4d\n' % (
        r.randrange(1950, 2005), r.randrange(1, 13), r.randrange(1, 29), r.choice([0, 6, 12, 18]), r.randrange(1, 29), r.choice(names),
        r.uniform(7, 70), r.uniform(0, 358), r.randrange(10, 165), r.randrange(900)) for _ in range(count))


def data(src):
    altis, rodinia = src / 'altis/data', src / 'rodinia/data'
    (src / 'rodinia/cuda/b+tree').rename(src / 'rodinia/cuda/btree')  # `+` parts sources in the table
    write(altis / 'cfd/domain', domain(32))
    write(rodinia / 'cfd/domain', domain(32))
    write(rodinia / 'bfs/graph4096', (altis / 'bfs/bfs_4096').read_bytes())
    write(rodinia / 'btree/keys', keys(10000))
    write(rodinia / 'btree/commands', 'j 60 60\nk 100\n\0')  # it is read as a string
    write(rodinia / 'hotspot/numbers', numbers(64 * 64 * 4))
    write(rodinia / 'bytes/text', text(128 << 10))  # huffman packs 16 KB at a time; dwt2d reads an image of 192 x 192 x 3
    write(rodinia / 'dwt2d/empty', '')  # dwt2d opens ../../data/dwt2d/ and its argument
    write(rodinia / 'srad/image.pgm', (src / 'rodinia/cuda/srad/srad_v1/image_out.pgm').read_bytes())
    for i in range(4):
        write(rodinia / ('nn/cane4_%d.db' % i), hurricanes(i, 2500))


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument('--out', required=True, metavar='DIR')
    for folder, (commit, _) in CORPORA.items():
        a.add_argument('--' + folder, required=True, metavar='GIT', help='a git directory that has commit ' + commit)
    options = a.parse_args()
    src = pathlib.Path(options.out) / 'src'
    for folder, (commit, wanted) in CORPORA.items():
        if (src / folder).exists():
            raise SystemExit('%s exists' % (src / folder))
        checkout(getattr(options, folder), commit, wanted, src / folder)
    data(src)


if __name__ == '__main__':
    main()
