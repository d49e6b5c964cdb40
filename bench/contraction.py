"""Which sums become an fma: random PTX programs, the SASS of ptxas against the machine's choice. No GPU.

  python bench/contraction.py --palladion build/palladion [--programs N] [--seed N] [--type f32] [--flow straight|blocks|loops]

Needs ptxas (CUDA 13.0) and nvdisasm. ptxas writes for each instruction of SASS the line of PTX that it comes from (-lineinfo); `palladion ptx
--lowered` says which sums the machine contracts. A line counts once: `fma` if all of its sums in SASS are fused, `add` if none is, `mixed` if
ptxas made several (it unrolled a loop) and some are. Sums that ptxas removed are left out. Exit code 1: a line of one kind differs.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

HEAD = ['.version 8.7', '.target %s', '.address_size 64', '.const .align 8 .b8 table[64];']
BITS = {'f32': 32, 'f64': 64, 'f16': 16, 'f16x2': 32, 'f32x2': 64}
TARGET, ARCH = {'f32x2': 'sm_100a'}, {'f32x2': 'b200'}  # else sm_90a, h200
CONSTANTS = {'f32': ['0f3FA66666', '0f41333333', '0f40490FDB', '0fBF9CCCCD', '0f41000000'],
             'f64': ['0d3FF4CCCCCCCCCCCD', '0d4026666666666666', '0dBFF3333333333333', '0d4020000000000000']}
SUM = re.compile(r'(@!?%\w+ )?(add|sub)(\.r[nz])?(\.ftz)?\.f')


class Generator:
    """One entry. Every value that nothing reads is stored, so that ptxas removes little."""

    def __init__(self, seed, type, flow, size):
        self.r, self.t, self.flow, self.size = random.Random(seed), type, flow, size
        self.lines, self.registers, self.blocks, self.unread = [], 0, 0, set()

    def say(self, text):
        self.lines.append(text)

    def new(self):
        self.registers += 1
        return '%%f%d' % self.registers

    def read(self, values):
        v = self.r.choice(values[-6:] if self.r.random() < 0.6 else values)
        self.unread.discard(v)
        return v

    def other(self, values):
        """A second operand: sometimes one that takes no register."""
        x = self.r.random()
        if x < 0.12 and self.t in CONSTANTS:
            return self.r.choice(CONSTANTS[self.t])
        return self.r.choice(['%q0', '%q1', '%q2']) if x < 0.22 else self.read(values)

    def rounding(self):
        """ptxas contracts f32x2 whatever its rounding, if both have one."""
        return self.r.choice(['', '', '.rn', '.rz']) if self.t == 'f32x2' else ''

    def store(self, v, guard=''):
        self.unread.discard(v)
        self.say('%sst.global.b%d [%%rd0+%d], %s;' % (guard, BITS[self.t], 1024 + 8 * self.r.randrange(512), v))

    def interruption(self):
        """An instruction that may end a block of ptxas."""
        guard = self.r.choice(['', '@%p0 ', '@!%p1 '])
        text = self.r.choice(['st.global.u32 [%rd0+8], %r0;', 'atom.global.add.u32 %r5, [%rd0+16], %r1;', 'membar.gl;',
                              'div.s32 %r5, %r0, %r1;\nst.global.u32 [%rd0+24], %r5;', 'ld.global.u32 %r5, [%rd0+32];',
                              'div.u32 %r5, %r0, %r1;\nst.global.u32 [%rd0+24], %r5;', 'bar.sync 0;',
                              'max.s32 %r5, %r0, %r1;'])
        self.say(guard + text if 'bar' not in text and 'div' not in text else text)
        if '%r5' in text:
            self.say('st.global.u32 [%rd0+40], %r5;')

    def straight(self, values):
        t = self.t
        for _ in range(self.r.randrange(2, self.size)):
            if self.r.random() < 0.06:
                self.interruption()
                continue
            x = self.r.random()
            a, b = self.read(values), self.other(values)
            d = self.new()
            if x < 0.42:
                self.say('mul%s.%s %s, %s, %s;' % (self.rounding(), t, d, a, b))
            elif x < 0.82:
                self.say('%s%s.%s %s, %s, %s;' % (self.r.choice(['add', 'sub']), self.rounding(), t, d, a, b))
            elif x < 0.88 and t != 'f32x2':
                self.say('neg.%s %s, %s;' % (t, d, a))
            elif x < 0.93:
                self.say('fma.rn.%s %s, %s, %s, %s;' % (t, d, a, self.read(values), self.read(values)))
            elif x < 0.95:
                self.say('mov.b%d %s, %s;' % (BITS[t], d, a))
            elif x < 0.97 and t == 'f32':
                self.say('div.full.f32 %s, %s, %s;' % (d, a, b))
            else:
                self.say('max.%s %s, %s, %s;' % (t, d, a, self.read(values)) if t not in ('f16', 'f32x2') else 'mov.b%d %s, %s;' % (BITS[t], d, a))
            values.append(d)
            self.unread.add(d)

    def block(self, values, depth=0):
        self.straight(values)
        while self.flow != 'straight' and depth < 2 and self.r.random() < 0.6:
            self.branch(values, depth) if self.r.random() < 0.5 else self.loop(values, depth)
            self.straight(values)
        if depth:  # what is written here is read here
            for v in sorted(self.unread & set(values)):
                self.store(v)

    def branch(self, values, depth):
        self.blocks += 1
        n = self.blocks
        self.say('setp.gt.s32 %%c%d, %%r%d, %d;' % (n, self.r.randrange(4), self.r.randrange(100)))
        joined = self.new() if self.r.random() < 0.5 else None  # written on both ways
        if joined:
            self.say('mov.b%d %s, %s;' % (BITS[self.t], joined, self.read(values)))
        self.say('@%%c%d bra L%d;' % (n, n))
        inner = list(values)
        self.block(inner, depth + 1)
        if joined:
            self.say('mov.b%d %s, %s;' % (BITS[self.t], joined, self.read(inner[-5:])))
        self.say('membar.cta;')
        self.say('L%d:' % n)
        if joined:
            values.append(joined)
            self.unread.add(joined)

    def loop(self, values, depth):
        self.blocks += 1
        n = self.blocks
        carried = self.new()
        self.say('mov.b%d %s, %s;' % (BITS[self.t], carried, self.read(values)))
        self.say('mov.b32 %%i%d, %%r%d;' % (n, self.r.randrange(4)))
        self.say('L%d:' % n)
        if self.flow == 'blocks':
            self.say('.pragma "nounroll";')
        inner = values + [carried]
        self.block(inner, depth + 1)
        self.say('mov.b%d %s, %s;' % (BITS[self.t], carried, self.read(inner[-5:])))
        self.say('add.s32 %%i%d, %%i%d, -1;' % (n, n))
        self.say('setp.gt.s32 %%c%d, %%i%d, 0;' % (n, n))
        self.say('@%%c%d bra L%d;' % (n, n))
        values.append(carried)
        self.unread.add(carried)

    def text(self, name):
        values = ['%%v%d' % i for i in range(10)]
        self.block(values)
        for v in sorted(self.unread & set(values)):
            self.store(v)
        bits = BITS[self.t]
        return ['.visible .entry %s(.param .u64 p, .param .b%d q0, .param .b%d q1)' % (name, bits, bits), '{',
                '.reg .b%d %%f<%d>, %%v<10>, %%q<3>;' % (bits, self.registers + 1), '.reg .pred %%p<2>, %%c<%d>;' % (self.blocks + 1),
                '.reg .b32 %%r<6>, %%i<%d>;' % (self.blocks + 1), '.reg .b64 %rd<1>;', 'ld.param.u64 %rd0, [p];',
                'ld.param.b%d %%q0, [q0];' % bits, 'ld.param.b%d %%q1, [q1];' % bits, 'ld.const.b%d %%q2, [table+8];' % bits,
                *('ld.global.b%d %%v%d, [%%rd0+%d];' % (bits, i, 64 + 8 * i) for i in range(10)),
                *('ld.global.u32 %%r%d, [%%rd0+%d];' % (i, 160 + 4 * i) for i in range(4)),
                'setp.lt.s32 %p0, %r0, 3;', 'setp.lt.s32 %p1, %r1, 5;', *'\n'.join(self.lines).split('\n'), 'ret;', '}']


def sass(ptx, target):
    """entry -> line of PTX -> the instructions of SASS"""
    cubin = ptx + '.cubin'
    subprocess.run(['ptxas', '-arch=' + target, '-O3', '-lineinfo', ptx, '-o', cubin], check=True)
    text = subprocess.run(['nvdisasm', '-gp', '-c', cubin], check=True, capture_output=True, text=True).stdout
    found, entry, line = {}, None, 0
    for l in text.splitlines():
        if m := re.match(r'\.text\.(\w+):', l):
            entry = found.setdefault(m.group(1), collections.defaultdict(list))
        elif m := re.search(r'## File ".*ptx.*", line (\d+)', l):
            line = int(m.group(1))
        elif (m := re.match(r'\s*/\*[0-9a-f]+\*/\s+(@!?U?P\w+ )?\s*(.*?)\s*;', l)) and entry is not None:
            entry[line].append(m.group(2))
    return found


def is_fma(instruction):
    """None: no sum. A half's sum may be an HFMA2 with the factor 1."""
    if re.match(r'[FD]FMA|HFMA2', instruction):
        return not re.search(r'[ ,]-?1(, -?1)?,', instruction)
    return False if re.match(r'[FD]ADD|HADD2', instruction) else None


def contracted(palladion, ptx, entry, arch):
    """For each instruction of the entry: whether the machine makes it an fma with its product."""
    out = subprocess.run([palladion, 'ptx', '--ptx', ptx, '--entry', entry, '--lowered', '--arch', arch], check=True, capture_output=True, text=True).stdout
    return ['fma with the product' in l for l in out.splitlines() if re.match(r'\s*\d+\s+(\d+|-)\s', l)]


def compare(options, folder, seeds):
    target = TARGET.get(options.type, 'sm_90a')
    lines, places = [l.replace('%s', target) for l in HEAD], {}
    for seed in seeds:
        text = Generator(seed, options.type, options.flow, options.size).text('e%d' % seed)
        places['e%d' % seed] = (len(lines), len(lines) + len(text))
        lines += text
    ptx = os.path.join(folder, 'random_%d.ptx' % seeds[0])
    with open(ptx, 'w') as f:
        f.write('\n'.join(lines) + '\n')
    machine_code, counts, wrong = sass(ptx, target), collections.Counter(), []
    for entry, (first, last) in places.items():
        own = contracted(options.palladion, ptx, entry, ARCH.get(options.type, 'h200'))
        at = [i for i in range(first, last) if re.match(r'(@!?%\w+ )?[a-z]\S* ?.*;$', lines[i])]
        assert len(own) == len(at), entry
        for i, ours in zip(at, own):
            kinds = [k for k in map(is_fma, machine_code[entry].get(i + 1, [])) if k is not None] if SUM.match(lines[i]) else []
            if kinds:
                theirs = 'fma' if all(kinds) else 'mixed' if any(kinds) else 'add'
                counts[theirs, 'fma' if ours else 'add'] += 1
                if theirs != 'mixed' and (theirs == 'fma') != ours:
                    wrong.append('%s:%d: %s  ptxas %s: %s' % (ptx, i + 1, lines[i], theirs, machine_code[entry][i + 1]))
    return counts, wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--palladion', default='build/palladion')
    p.add_argument('--programs', type=int, default=256)
    p.add_argument('--seed', type=int, default=0)
    p.add_argument('--size', type=int, default=14, help='instructions between two branches, at most')
    p.add_argument('--type', choices=BITS, default='f32')
    p.add_argument('--flow', choices=['straight', 'blocks', 'loops'], default='blocks', help='blocks: loops are not unrolled')
    p.add_argument('--keep', help='a folder that keeps the PTX')
    o = p.parse_args()
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for first in range(o.seed, o.seed + o.programs, 32):
            c, w = compare(o, o.keep or folder, range(first, min(first + 32, o.seed + o.programs)))
            counts += c
            wrong += w
    for (theirs, ours), n in sorted(counts.items()):
        print('%7d sums: ptxas %s, machine %s' % (n, theirs, ours))
    print('%7d of %d sums of one kind differ' % (len(wrong), sum(n for (k, _), n in counts.items() if k != 'mixed')))
    for w in wrong[:20]:
        print(w)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
