"""Launches as bundles (cuda/bundle/README.md): recorded without a GPU, read, and rewritten with other PTX."""

import dataclasses
import json
import pathlib
import re
import shutil
import struct
import subprocess

ELEMENTS = [
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "f32",
    "f64",
    "bf16",
    "16u4_align8b",
    "16u4_align16b",
    None,
    None,
    None,
]  # the map's own numbers (isa/formats/tensor_map_layout.md)
SWIZZLES = ["none", "32B", "64B", "128B"]


@dataclasses.dataclass
class Parameter:
    name: str
    type: str  # of PTX: u32, b8
    offset: int  # bytes from the begin of the parameter block
    size: int  # bytes
    pointer: bool  # declared `.ptr`


@dataclasses.dataclass
class Bundle:
    folder: pathlib.Path
    manifest: dict
    ptx: str

    @property
    def block(self):
        return bytes.fromhex(self.manifest["parameters"])

    def buffer_at(self, address):
        """(name, byte offset) of the buffer that contains the address; None: no buffer does."""
        for buffer in self.manifest["buffers"]:
            begin = int(buffer["address"], 16)
            if begin <= address < begin + buffer["bytes"]:
                return buffer["name"], address - begin
        return None

    def parameters(self):
        return parameters_of(self.ptx, self.manifest["entry"])


def parameters_of(ptx, entry):
    """The parameters of an entry of PTX, laid out one after the other, each at its alignment."""
    head = re.search(r"\.entry\s+" + re.escape(entry) + r"\s*\((.*?)\)\s*[.{]", ptx, re.S)
    found, end = [], 0
    for text in head.group(1).split(",") if head and head.group(1).strip() else []:
        match = re.search(
            r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+\d+)\s+(?:\.ptr\s+)?(?:\.(?:global|const|shared|"
            r"local)\s+)?(?:\.align\s+\d+\s+)?([\w$%]+)\s*(?:\[(\d*)\])?",
            text,
        )
        alignment, type_, name, count = match.groups()
        width = int(re.sub(r"\D", "", type_)) // 8
        size = width * int(count) if count else width
        offset = -(-end // int(alignment or width)) * int(alignment or width)
        found.append(Parameter(name, type_, offset, size, ".ptr" in text))
        end = offset + size
    return found


def tensor_map(data):
    """The 128 bytes of a tiled tensor map as a dictionary; None: the bytes are none."""
    words = struct.unpack("<16Q", data)
    bits = lambda word, at, count: words[word] >> at & (1 << count) - 1
    if not words[0] or not words[1] or bits(1, 0, 1):
        return None
    rank = bits(1, 4, 3) + 1
    if rank > 5 or ELEMENTS[bits(1, 7, 4)] is None:
        return None
    boxes = [bits(6, 56, 8)] + [bits(7, 8 * i, 8) for i in range(4)]
    low = [bits(1 + (i + 1) // 2, 32 * ((i + 1) % 2), 32) for i in range(4)]
    return {
        "address": words[0],
        "element_type": ELEMENTS[bits(1, 7, 4)],
        "rank": rank,
        "global_shape": [bits(4 + i // 2, 32 * (i % 2), 32) + 1 for i in range(rank)],
        "box_shape": [b + 1 for b in boxes[:rank]],
        "global_strides_bytes": [(bits(3, 32 + 4 * i, 4) << 32 | low[i]) * 16 for i in range(rank - 1)],
        "element_strides": [bits(6, 32 + 3 * i, 3) + 1 for i in range(rank)],
        "swizzle": SWIZZLES[bits(1, 13, 2)],
        "interleave": ["none", "16B", "32B"][bits(1, 11, 2)],
        "oob_fill": ["zero", "nan"][bits(1, 15, 1)],
    }


def read(folder):
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "bundle.json").read_text())
    return Bundle(folder, manifest, (folder / manifest["ptx"]["file"]).read_text())


def record(palladion, words, folder, arch="b200", limit=120):
    """Runs `palladion run WORDS` on the simulated device and records its launch; None: nothing was launched."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [
        palladion,
        "exec",
        "--arch",
        arch,
        "--",
        palladion,
        "capture",
        "-o",
        str(folder),
        "--",
        palladion,
        "run",
        *words,
        "--on",
        "device",
        "--repeats",
        "0",
    ]
    try:
        subprocess.run(command, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        pass  # a kernel that hangs: the bundle has the memory before the launch
    found = sorted(pathlib.Path(folder).glob("0001-*/bundle.json"))
    return read(found[0].parent) if found else None


def checksum(data):
    value, mask = 0xCBF29CE484222325, (1 << 64) - 1
    padded = data + bytes(-len(data) % 8)
    for word in (len(data), *struct.unpack(f"<{len(padded) // 8}Q", padded)):
        value = (value ^ word) * 0x100000001B3 & mask
        value ^= value >> 32
    return f"{value:#x}"


def with_ptx(bundle, ptx, folder):
    """The bundle with other PTX, in `folder`: buffers are hard links to the original's."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in bundle.folder.iterdir():
        if file.name not in ("bundle.json", bundle.manifest["ptx"]["file"]):
            (folder / file.name).hardlink_to(file)
    manifest = json.loads(json.dumps(bundle.manifest))
    manifest["ptx"] |= {"file": "kernel.ptx", "checksum": checksum(ptx.encode())}
    (folder / "kernel.ptx").write_text(ptx)
    (folder / "bundle.json").write_text(json.dumps(manifest))
    return Bundle(folder, manifest, ptx)
