"""The launches that are compared, recorded as bundles: Triton's kernels, our Blackwell kernels, the zoo's twins."""

import pathlib
import re
import subprocess
import sys

import bundles

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "foreign"))

# Small shapes in which every slot of a ring is used at least twice.
OWN = {
    "ref_tcgen05": "",
    "ref_tcgen05_commit": "",
    "ref_tcgen05_left_in_tmem": "",
    "ref_tcgen05_collective": "",
    "blackwell_matmul_basic": "m=128,n=128,k=640",
    "blackwell_matmul_warp_specialized": "m=128,n=128,k=640",
    "blackwell_matmul_tiled_epilogue": "m=128,n=128,k=640",
    "blackwell_matmul_two_cta": "m=256,n=256,k=640",
    "blackwell_matmul_persistent": "m=256,n=512,k=320 --set clusters=1",
    "blackwell_matmul_epilogue_warpgroup": "m=256,n=512,k=320 --set clusters=1",
    "blackwell_matmul_grid_tiling": "m=256,n=512,k=320 --set clusters=1",
    "blackwell_matmul_fp8": "m=256,n=512,k=640 --set clusters=1",
    "blackwell_matmul_int8": "m=256,n=512,k=640 --set clusters=1",
    "blackwell_matmul_dynamic": "m=256,n=512,k=320",
    "blackwell_flash_attention": "heads=1,kv_heads=1,q=256,kv=512",
    "blackwell_matmul_mxfp8": "m=256,n=256,k=1280",
    "blackwell_matmul_nvfp4": "m=256,n=256,k=2560",
    "blackwell_matmul_sparse": "m=256,n=256,k=1024",
    "blackwell_ragged_dot": "m=512,n=256,k=320,groups=2 --set clusters=1",
}


def of_triton(palladion, folder):
    """{name: Bundle} of the 24 kernels of bench/foreign/triton_blackwell.py; needs Triton and numpy."""
    import triton_blackwell as foreign

    return compiled(palladion, folder, foreign.CASES)


def of_small(palladion, folder):
    """The same kernels with small tiles: SentryWard's time grows with them."""
    import numpy as np
    import triton_blackwell as foreign

    k = foreign.k
    product = lambda m, n, depth, constants, **more: foreign.product(k.matmul, m, n, depth, None, constants, **more)

    def persistent(specialised):
        return lambda: foreign.product(
            k.matmul_persistent, 256, 32, 128, (1,), {"CTAS": 1, "WS": specialised, "BN": 32}
        )

    def masked():
        case = foreign.matmul_masked()
        case.constants |= {"BN": 16}
        return case

    def attention(causal):
        q, key, v = (foreign.normal(rows, 32) for rows in (128, 64, 64))
        return foreign.Case(
            k.attention,
            {"Q": "*fp16", "K": "*fp16", "V": "*fp16", "O": "*fp16", "N": "i32", "scale": "fp32"},
            {"BM": 128, "BN": 32, "D": 32, "CAUSAL": causal, "WS": False},
            (1, 1),
            [foreign.In(q), foreign.In(key), foreign.In(v), foreign.Out(np.float16, (128, 32)), 64, 0.125],
            None,
        )

    def by_hand():
        gl, a, b = foreign.gl, foreign.normal(128, 192), foreign.normal(32, 192)
        shared = lambda shape: gl.NVMMASharedLayout.get_default_for(shape, gl.float16)
        tile = lambda shape: f"tensordesc<fp16[{shape[0]},{shape[1]}],{shared(shape)}>"
        return foreign.Case(
            k.gluon_matmul,
            {"a_map": tile([128, 64]), "b_map": tile([32, 64]), "c_map": tile([128, 32]), "K": "i32"},
            {"BM": 128, "BN": 32, "BK": 64, "STAGES": 2},
            (1, 1),
            [
                foreign.Map(foreign.In(a)),
                foreign.Map(foreign.In(b)),
                foreign.Map(foreign.Out(np.float16, (128, 32))),
                192,
            ],
            None,
            options={"num_warps": 4},
            gluon=True,
        )

    def softmax():
        x = foreign.normal(3, 100, dtype=np.float32)
        return foreign.Case(
            k.softmax,
            {"X": "*fp32", "Y": "*fp32", "rows": "i32", "columns": "i32"},
            {"BLOCK": 128},
            (1,),
            [foreign.In(x), foreign.Out(np.float32, x.shape), 3, 100],
            None,
            options={"num_warps": 4},
        )

    cases = {
        "matmul": lambda: product(128, 32, 192, {"BN": 32}),
        "matmul_wide": lambda: product(128, 64, 192, {"BN": 64}),
        "matmul_deep": lambda: product(128, 16, 320, {"BN": 16}, options={"num_warps": 4, "num_stages": 4}),
        "matmul_two_cta": lambda: product(256, 64, 128, {"BM": 256, "BN": 64}, options={"num_ctas": 2}),
        "matmul_persistent": persistent(False),
        "matmul_warp_specialised": persistent(True),
        "matmul_masked": masked,
        "attention": lambda: attention(False),
        "attention_causal": lambda: attention(True),
        "gluon_matmul": by_hand,
        "softmax": softmax,
        "layer_norm": foreign.layer_norm,
        "scan_sort_histogram": foreign.scan_sort_histogram,
    }
    return compiled(palladion, folder, cases)


def compiled(palladion, folder, cases):
    import triton_blackwell as foreign

    found = {}
    for name, make in cases.items():
        inputs = folder / f"{name}.inputs"
        inputs.mkdir(parents=True, exist_ok=True)
        case = make()
        case.grid = tuple(
            1 for _ in case.grid
        )  # its CTAs do not communicate, and SentryWard takes long
        words, _ = foreign.command_line(case, foreign.compile_case(case), inputs)
        ptx = pathlib.Path(words[1])
        ptx.write_text(complete_maps(ptx.read_text()))
        found[name] = bundles.record(palladion, words, folder / name)
    return found


def complete_maps(ptx):
    """Writes the fields of tensor maps that Triton leaves at the zeros of the memory before: SentryWard asks for them."""
    fields = ("elemtype", "interleave_layout", "swizzle_mode", "fill_mode")
    replace = re.compile(r"\s*tensormap\.replace\.tile\.(\w+)\.(\S+) (\[[^\]]*\])")
    lines, written, last = [], set(), None

    def finish():
        if last:
            at, rest, address = last
            lines[at + 1 : at + 1] = [
                f"\ttensormap.replace.tile.{f}.{rest} {address}, 0x0;" for f in fields if f not in written
            ]

    for line in ptx.splitlines():
        match = replace.match(line)
        if match and match.group(1) == "global_address":
            finish()
            written = set()
        lines.append(line)
        if match:
            written.add(match.group(1))
            last = len(lines) - 1, re.sub(r"\.b64$", ".b32", match.group(2)), match.group(3)
    finish()
    return "\n".join(lines) + "\n"


def of_ours(palladion, folder):
    return {
        name: bundles.record(palladion, [name, *(["--shape", *shape.split()] if shape else [])], folder / name)
        for name, shape in OWN.items()
    }


def of_zoo(palladion, folder):
    """Both twins of each pair that has a launch, on its own chip: {(pair, twin): Bundle}"""
    listed = subprocess.run([palladion, "list", "zoo"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listed.splitlines():
        words = line.split()
        if not words or not words[0].startswith("zoo/"):
            continue
        for twin, suffix in (("broken", ""), ("good", ":good")):
            ptx = subprocess.run(
                [palladion, "ptx", words[0] + suffix], capture_output=True, text=True, check=False
            ).stdout
            arch = "b200" if ".target sm_10" in ptx else "h200"
            name = f"{words[0][4:]}.{twin}"
            found[name] = bundles.record(palladion, [words[0] + suffix], folder / name, arch, limit=20)
    return found


CORPORA = {"triton": of_triton, "small": of_small, "ours": of_ours, "zoo": of_zoo}


def recorded(folder):
    """{name: Bundle} of what `record` left below the folder."""
    return {path.parent.parent.name: bundles.read(path.parent) for path in sorted(folder.glob("*/0001-*/bundle.json"))}
