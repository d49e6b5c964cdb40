"""Gives bundles that hold machine code alone their PTX, from the folders where compilers leave it.

A text is the kernel's when the code that ptxas makes of it is the code that was loaded, or when the compiler left it beside the
very machine code that was loaded (Triton's cache). A text found by its name alone is marked so.
"""
import functools
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile


def checksum(data):  # cuda/bundle/README.md
    hash, prime, mask = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
    words = struct.unpack('<%dQ' % ((len(data) + 7) // 8), data + bytes(-len(data) % 8))
    for value in (len(data), *words):
        hash = (hash ^ value) * prime & mask
        hash ^= hash >> 32
    return hash


def code(elf, entry):
    """The bytes of `.text.ENTRY`, or None."""
    if elf[:4] != b'\x7fELF':
        return None
    offset, = struct.unpack_from('<Q', elf, 40)
    size, count, names = struct.unpack_from('<HHH', elf, 58)
    sections = [struct.unpack_from('<IIQQQQ', elf, offset + i * size) for i in range(count)]
    for name, _, _, _, at, length in sections:
        start = sections[names][4] + name
        if elf[start:elf.index(b'\0', start)] == b'.text.' + entry.encode():
            return elf[at:at + length]
    return None


@functools.lru_cache
def assemblers():
    found = [shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas']
    try:
        import sysconfig
        packages = sysconfig.get_paths()['purelib']
        found += glob.glob(packages + '/triton/backends/nvidia/bin/ptxas*') + glob.glob(packages + '/nvidia/**/bin/ptxas', recursive=True)
    except OSError:
        pass
    return [f for f in found if os.path.exists(f)]


@functools.lru_cache(maxsize=None)
def assembled(ptx, assembler):
    with tempfile.TemporaryDirectory() as folder:
        target = re.search(r'\.target\s+(sm_\w+)', pathlib.Path(ptx).read_text(errors='replace'))
        out = folder + '/x.cubin'
        p = subprocess.run([assembler, '-arch=' + (target.group(1) if target else 'sm_90a'), '-O3', ptx, '-o', out],
                           capture_output=True, timeout=60)
        return pathlib.Path(out).read_bytes() if p.returncode == 0 else b''


def find(image, entry, folders):
    """(path, how) or None."""
    candidates = []
    for folder in folders:
        for f in glob.glob(folder + '/**/*.ptx', recursive=True):
            text = pathlib.Path(f).read_text(errors='replace')
            if re.search(r'\.entry\s+' + re.escape(entry) + r'\s*\(', text):
                candidates.append(f)
    for f in candidates:
        beside = pathlib.Path(f).with_suffix('.cubin')
        if beside.exists() and beside.read_bytes() == image:
            return f, 'beside the cubin that was loaded'
    wanted = code(image, entry)
    if wanted is not None:
        for f in candidates[:40]:
            for assembler in assemblers():
                if code(assembled(f, assembler), entry) == wanted:
                    return f, 'assembled to the same code'
    different = {hashlib.sha1(pathlib.Path(f).read_bytes()).hexdigest(): f for f in candidates}
    return (candidates[0], 'by name alone') if len(different) == 1 else None


def complete(bundle, folders):
    """Adds PTX to a bundle that has none. Returns how it was found, or None."""
    manifest = bundle / 'bundle.json'
    m = json.loads(manifest.read_text())
    if m['ptx'] or not m['image']:
        return None
    found = find((bundle / m['image']['file']).read_bytes(), m['entry'], folders)
    if not found:
        return None
    text = pathlib.Path(found[0]).read_bytes()
    (bundle / 'kernel.ptx').write_bytes(text)
    m['ptx'] = dict(file='kernel.ptx', checksum='0x%x' % checksum(text), source=found[1])
    manifest.write_text(json.dumps(m, indent=2))
    return found[1]
