#!/usr/bin/env python3
"""Compiles Triton kernels for sm_100, runs and checks them in the machine, and compares with numpy.

  python bench/foreign/triton_blackwell.py [--palladion build/palladion] [--keep FOLDER] [NAME ...]

Needs Triton 3.9 and numpy; no GPU and no PyTorch. Inputs are random and new in every run. A row for each kernel: the
largest error relative to the largest value of the reference, whether two other schedules give equal bits, and the
codes that `palladion check` reports. Exit code 1: a kernel does not run, or its error is above its bound.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

import kernels as k

random = np.random.default_rng()


# ---- element types that numpy lacks ----------------------------------------------------------------
def float8(byte, exponent_bits, mantissa_bits, bias):
    sign = -1.0 if byte & 128 else 1.0
    exponent, mantissa = (byte & 127) >> mantissa_bits, byte & ((1 << mantissa_bits) - 1)
    fraction = mantissa / (1 << mantissa_bits)
    return sign * (fraction * 2.0**(1 - bias) if exponent == 0 else (1 + fraction) * 2.0**(exponent - bias))


E4M3 = np.array([float8(b, 4, 3, 7) for b in range(256)])
E5M2 = np.array([float8(b, 5, 2, 15) for b in range(256)])
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])


def fp8(shape, table, nans):
    bytes_ = random.integers(0, 256, shape).astype(np.uint8)
    bytes_[nans(bytes_ & 127)] = 0
    return bytes_, table[bytes_]


def e4m3(shape):
    return fp8(shape, E4M3, lambda b: b == 127)


def e5m2(shape):
    return fp8(shape, E5M2, lambda b: b >= 0x4C)  # small enough for sums in f32


def e2m1(shape):
    pairs = random.integers(0, 256, (shape[0], shape[1] // 2)).astype(np.uint8)
    return pairs, np.stack([E2M1[pairs & 15], E2M1[pairs >> 4]], -1).reshape(shape)


def scales(rows, columns, vector):
    if vector == 16:
        bytes_ = random.integers(0x28, 0x48, (rows, columns // 16)).astype(np.uint8)
        return bytes_, np.repeat(E4M3[bytes_], 16, 1)
    bytes_ = random.integers(122, 130, (rows, columns // 32)).astype(np.uint8)
    return bytes_, np.repeat(2.0**(bytes_.astype(float) - 127), 32, 1)


def atoms(scale):
    """Rows of scales in atoms of 128 rows and 4 blocks, as tcgen05.cp 32x128b.warpx4 reads them."""
    rows, blocks = scale.shape
    return np.ascontiguousarray(scale.reshape(rows // 128, 4, 32, blocks // 4, 4).transpose(0, 3, 2, 1, 4)).reshape(-1)


def normal(*shape, dtype=np.float16):
    return random.standard_normal(shape).astype(dtype)


# ---- a launch --------------------------------------------------------------------------------------
@dataclasses.dataclass
class Case:
    kernel: object
    signature: dict  # parameter: Triton's type
    constants: dict
    grid: tuple
    arguments: list  # In, Out, InOut, numbers, Map
    reference: callable  # -> [array] of the outputs
    options: dict = dataclasses.field(default_factory=lambda: {"num_warps": 4, "num_stages": 3})
    bound: float = 0.0  # of the error, relative to the largest value
    gluon: bool = False


@dataclasses.dataclass
class In:
    array: np.ndarray


@dataclasses.dataclass
class InOut:
    array: np.ndarray


@dataclasses.dataclass
class Out:
    dtype: type
    shape: tuple


@dataclasses.dataclass
class Map:
    """A descriptor that the host makes: the map, then shape and strides of the array of its own."""
    array: object


TYPES = {"float16": "f16", "float32": "f32", "int32": "i32", "uint8": "u8"}


def compile_case(case):
    signature = {n: "constexpr" if n in case.constants else case.signature[n] for n in case.kernel.arg_names}
    source = GluonASTSource if case.gluon else ASTSource
    return triton.compile(source(case.kernel, signature=signature, constexprs=case.constants),
                          target=GPUTarget("cuda", 100, 32), options=case.options)


def array_spec(argument, path):
    if isinstance(argument, Out):
        return f"out:{TYPES[np.dtype(argument.dtype).name]}{list(argument.shape)}".replace(" ", "")
    np.save(path, argument.array)
    word = "in" if isinstance(argument, In) else "inout"
    return f"{word}:{TYPES[argument.array.dtype.name]}{list(argument.array.shape)}={path}".replace(" ", "")


def command_line(case, compiled, folder):
    """Arguments of `palladion run` and `check`, and the outputs' names."""
    data, args, outputs = compiled.metadata, [], []
    maps = iter(data.tensordesc_meta or [])
    for argument in case.arguments:
        path = folder / f"in{len(args)}.npy"
        if isinstance(argument, (In, InOut, Out)):
            if not isinstance(argument, In):
                outputs.append(f"arg{len(args)}")
            args.append(array_spec(argument, path))
        elif isinstance(argument, Map):
            how = next(maps)
            box = "x".join(map(str, how["block_size"]))
            if not isinstance(argument.array, In):
                outputs.append(f"arg{len(args)}")
            rows, columns = argument.array.shape if isinstance(argument.array, Out) else argument.array.array.shape
            args.append(f"tmap:{array_spec(argument.array, path)},box={box},swizzle={16 << how['swizzle']}")
            args += [f"i32:{rows}", f"i32:{columns}", f"i64:{columns}", "i64:1"]
        else:
            args.append(f"{'f32' if isinstance(argument, float) else 'i32'}:{argument}")
    ctas = int(np.prod(case.grid)) * data.num_ctas
    args += [f"scratch:u8[{max(data.global_scratch_size * ctas, 128)}]", "u64:0"]
    ptx = folder / "kernel.ptx"
    ptx.write_text(compiled.asm["ptx"])
    threads = int(re.search(r"\.reqntid\s+(\d+)", compiled.asm["ptx"]).group(1))
    grid = (case.grid[0] * data.num_ctas,) + case.grid[1:]
    line = ["--ptx", str(ptx), "--arch", "b200", "--grid", ",".join(map(str, grid)), "--block", str(threads),
            "--cluster", str(data.num_ctas), "--smem", str(data.shared)]
    for a in args:
        line += ["--arg", a]
    return line, outputs


def run(program, words, expected=(0,)):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode not in expected:
        raise RuntimeError(done.stdout + done.stderr)


def measure(program, case, folder):
    """(error, equal under other schedules, {code: (severity, findings)})"""
    line, outputs = command_line(case, compile_case(case), folder)
    results = {}
    for schedule in ("functional", "latest", "seeded:1"):
        files = [folder / f"{schedule.replace(':', '')}-{o}.npy" for o in outputs]
        out = [word for o, f in zip(outputs, files) for word in ("--out", f"{o}={f}")]
        run(program, ["run", *line, "--schedule", schedule, *out])
        results[schedule] = [np.load(f) for f in files]
    error = 0.0
    for got, want in zip(results["functional"], case.reference()):
        difference = np.abs(got.astype(float).reshape(want.shape) - want)
        error = max(error, float(difference.max() / np.abs(want).max()) if not np.isnan(difference).any() else np.inf)
    equal = all(np.array_equal(a, b) for other in ("latest", "seeded:1")
                for a, b in zip(results["functional"], results[other]))
    report = folder / "check.json"
    run(program, ["check", *line, "--seeds", "3", "--json", str(report)], expected=(0, 1, 3))
    codes = {}
    for finding in json.loads(report.read_text())["findings"]:
        key = (finding["code"], finding["severity"])
        codes[key] = codes.get(key, 0) + 1
    return error, equal, codes


# ---- the kernels -----------------------------------------------------------------------------------
HALF = 1e-3  # an output rounded to f16, sums in f32
SUM = 2e-6   # sums in f32 in another order, or truncated as the tensor core does


def product(kernel, m=256, n=256, k_=320, grid=None, constants=None, out=np.float16, options=None, bound=HALF):
    a, b = normal(m, k_), normal(n, k_)
    constants = {"BM": 128, "BN": 128, "BK": 64} | (constants or {})
    ctas = (options or {}).get("num_ctas", 1)
    case = Case(kernel, {"A": "*fp16", "B": "*fp16", "C": "*fp16", "M": "i32", "N": "i32", "K": "i32"}, constants,
                grid or (m // constants["BM"], n // constants["BN"]), [In(a), In(b), Out(out, (m, n)), m, n, k_],
                lambda: [a.astype(float) @ b.astype(float).T], bound=bound)
    case.options |= options or {}
    return case


def matmul_fp8():
    (a, fa), (b, fb) = e4m3((256, 256)), e5m2((128, 256))
    return Case(k.matmul, {"A": "*fp8e4nv", "B": "*fp8e5", "C": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
                {"BM": 128, "BN": 64, "BK": 128}, (2, 2), [In(a), In(b), Out(np.float32, (256, 128)), 256, 128, 256],
                lambda: [fa @ fb.T], bound=SUM)


def matmul_masked():
    m, n, k_ = 200, 136, 152
    a, b = normal(m, k_), normal(k_, n)

    def reference():
        c = a.astype(float) @ b.astype(float)
        return [np.where(c > 0, c, 0.01 * c)]

    return Case(k.matmul_masked, {"A": "*fp16", "B": "*fp16", "C": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
                {"BM": 128, "BN": 64, "BK": 64}, (2, 3), [In(a), In(b), Out(np.float32, (m, n)), m, n, k_], reference,
                options={"num_warps": 8, "num_stages": 4}, bound=SUM)


def matmul_split_k():
    m, n, k_ = 256, 128, 512
    a, b = (random.integers(-4, 5, s).astype(np.float16) for s in ((m, k_), (n, k_)))  # sums are exact
    return Case(k.matmul_split_k, {"A": "*fp16", "B": "*fp16", "C": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
                {"BM": 128, "BN": 128, "BK": 64, "PARTS": 4}, (2, 1, 4),
                [In(a), In(b), InOut(np.zeros((m, n), np.float32)), m, n, k_],
                lambda: [a.astype(float) @ b.astype(float).T])


def scaled(format_a, format_b, vector):
    m, n, k_ = 256, 256, 512
    make = {"e4m3": e4m3, "e2m1": e2m1}
    pack = {"e4m3": 1, "e2m1": 2}
    (a, fa), (b, fb) = make[format_a]((m, k_)), make[format_b]((n, k_))
    (sa, va), (sb, vb) = scales(m, k_, vector), scales(n, k_, vector)
    types = {"e4m3": "*fp8e4nv", "e2m1": "*u8"}
    scale = "*u8" if vector == 32 else "*fp8e4nv"
    return Case(k.matmul_scaled, {"A": types[format_a], "SA": scale, "B": types[format_b], "SB": scale, "C": "*fp32",
                                  "M": "i32", "N": "i32", "K": "i32"},
                {"FA": format_a, "FB": format_b, "PA": pack[format_a], "PB": pack[format_b], "V": vector, "BM": 128,
                 "BN": 128, "BK": 256 if format_a == format_b == "e2m1" else 128}, (2, 2),
                [In(a), In(sa), In(b), In(sb), Out(np.float32, (m, n)), m, n, k_], lambda: [(fa * va) @ (fb * vb).T],
                options={"num_warps": 4, "num_stages": 2}, bound=SUM)


def scaled_copied(format_, vector):
    case = scaled(format_, format_, vector)
    pack = case.constants["PA"]
    sa, sb = case.arguments[1], case.arguments[3]
    case.arguments[1], case.arguments[3] = In(atoms(sa.array)), In(atoms(sb.array))
    case.kernel = k.matmul_scaled_copied
    case.constants = {"F": format_, "P": pack, "V": vector, "BM": 128, "BN": 128, "BK": 128 * pack}
    return case


def attention(causal, specialised):
    heads, n, d = 2, 512, 64
    q, key, v = (normal(heads * n, d) for _ in range(3))

    def reference():
        split = [x.astype(float).reshape(heads, n, d) for x in (q, key, v)]
        s = np.einsum("hid,hjd->hij", split[0], split[1]) * 0.125
        if causal:
            s = np.where(np.tril(np.ones((n, n), bool)), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return [(np.einsum("hij,hjd->hid", p, split[2]) / p.sum(-1, keepdims=True)).reshape(heads * n, d)]

    return Case(k.attention, {"Q": "*fp16", "K": "*fp16", "V": "*fp16", "O": "*fp16", "N": "i32", "scale": "fp32"},
                {"BM": 128, "BN": 128 if specialised else 64, "D": d, "CAUSAL": causal, "WS": specialised},
                (n // 128, heads), [In(q), In(key), In(v), Out(np.float16, (heads * n, d)), n, 0.125], reference,
                bound=2e-3)


def softmax():
    x = normal(37, 781, dtype=np.float32)

    def reference():
        e = np.exp(x.astype(float) - x.max(1, keepdims=True))
        return [e / e.sum(1, keepdims=True)]

    return Case(k.softmax, {"X": "*fp32", "Y": "*fp32", "rows": "i32", "columns": "i32"}, {"BLOCK": 1024}, (8,),
                [In(x), Out(np.float32, x.shape), 37, 781], reference, options={"num_warps": 8}, bound=SUM)


def layer_norm():
    rows, n = 16, 1151
    x, w, b = normal(rows, n) * 2 + 1, normal(n), normal(n)

    def reference():
        f = x.astype(float)
        return [(f - f.mean(1, keepdims=True)) / np.sqrt(f.var(1, keepdims=True) + 1e-5) * w + b]

    return Case(k.layer_norm, {"X": "*fp16", "Y": "*fp16", "W": "*fp16", "B": "*fp16", "N": "i32", "eps": "fp32"},
                {"BLOCK": 512}, (rows,), [In(x), Out(np.float16, x.shape), In(w), In(b), n, 1e-5], reference,
                bound=HALF)


def philox(seed, counter):
    """Philox 4x32 with ten rounds, its first word."""
    c = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64)] * 3
    key = [seed, 0]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), q & low,
             (p >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), p & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def dropout():
    n, seed = 10000, int(random.integers(1 << 30))
    x = normal(n, dtype=np.float32)

    def reference():
        word = philox(seed, np.arange(n)).astype(np.int32).astype(np.int64)
        uniform = np.where(word < 0, -word - 1, word) * 4.6566127342e-10
        return [np.where(uniform > 0.25, x / 0.75, 0.0)]

    return Case(k.dropout, {"X": "*fp32", "Y": "*fp32", "n": "i32", "p": "fp32", "seed": "i32"}, {"BLOCK": 1024},
                (10,), [In(x), Out(np.float32, (n,)), n, 0.25, seed], reference, bound=SUM)


def rows_of(scatter):
    rows, columns, n = 300, 256, 64
    index = random.permutation(rows)[:n].astype(np.int32)
    x = normal(n if scatter else rows, columns)
    y = np.zeros((rows, columns), np.float16)
    y[index] = x if scatter else 0
    return Case(k.scatter_rows if scatter else k.gather_rows,
                {"X": "*fp16", "I": "*i32", "Y": "*fp16", "R": "i32", "C": "i32"}, {"N": 32, "BC": 64}, (2, 4),
                [In(x), In(index), InOut(np.zeros_like(y)) if scatter else Out(np.float16, (n, columns)), rows, columns],
                lambda: [y.astype(float) if scatter else x[index].astype(float)])


def scan_sort_histogram():
    x = random.integers(0, 1 << 20, (6, 512)).astype(np.int32)
    return Case(k.scan_sort_histogram, {n: "*i32" for n in "XSOH"}, {"BLOCK": 512}, (6,),
                [In(x), Out(np.int32, x.shape), Out(np.int32, x.shape), InOut(np.zeros(32, np.int32))],
                lambda: [np.cumsum(x, 1), np.sort(x, 1), np.bincount((x & 31).ravel(), minlength=32)])


def gluon_matmul():
    m = n = 256
    a, b = normal(m, 384), normal(n, 384)
    tile = gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16)
    stored = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float16)
    operand = f"tensordesc<fp16[128,64],{tile}>"
    return Case(k.gluon_matmul, {"a_map": operand, "b_map": operand, "c_map": f"tensordesc<fp16[128,128],{stored}>",
                                 "K": "i32"}, {"BM": 128, "BN": 128, "BK": 64, "STAGES": 2}, (2, 2),
                [Map(In(a)), Map(In(b)), Map(Out(np.float16, (m, n))), 384], lambda: [a.astype(float) @ b.astype(float).T],
                options={"num_warps": 4}, bound=HALF, gluon=True)


def gluon_cluster_launch_control():
    tiles, n = 400, 400 * 256 - 17
    x = normal(n, dtype=np.float32)
    return Case(k.gluon_cluster_launch_control, {"X": "*fp32", "Y": "*fp32", "Times": "*i32", "N": "i32"},
                {"L": gl.BlockedLayout([1], [32], [4], [0]), "BLOCK": 256}, (tiles,),
                [In(x), Out(np.float32, (n,)), InOut(np.zeros(tiles, np.int32)), n],
                lambda: [x.astype(float) * 2 + 1, np.ones(tiles)], options={"num_warps": 4}, bound=SUM, gluon=True)


CASES = {
    "matmul": lambda: product(k.matmul),
    "matmul_two_cta": lambda: product(k.matmul, 512, 256, 256, (2, 2), {"BM": 256}, options={"num_ctas": 2}),
    "matmul_persistent": lambda: product(k.matmul_persistent, 384, 256, 192, (2,), {"CTAS": 2, "WS": False}),
    "matmul_warp_specialised": lambda: product(k.matmul_persistent, 384, 256, 192, (2,), {"CTAS": 2, "WS": True}),
    "matmul_masked": matmul_masked,
    "matmul_split_k": matmul_split_k,
    "matmul_fp8": matmul_fp8,
    "matmul_mxfp8": lambda: scaled("e4m3", "e4m3", 32),
    "matmul_mxfp4": lambda: scaled("e2m1", "e2m1", 32),
    "matmul_nvfp4": lambda: scaled("e2m1", "e2m1", 16),
    "matmul_mxfp8_mxfp4": lambda: scaled("e4m3", "e2m1", 32),
    "matmul_mxfp8_copied": lambda: scaled_copied("e4m3", 32),
    "matmul_nvfp4_copied": lambda: scaled_copied("e2m1", 16),
    "attention": lambda: attention(False, False),
    "attention_causal": lambda: attention(True, False),
    "attention_warp_specialised": lambda: attention(False, True),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "dropout": dropout,
    "gather_rows": lambda: rows_of(False),
    "scatter_rows": lambda: rows_of(True),
    "scan_sort_histogram": scan_sort_histogram,
    "gluon_matmul": gluon_matmul,
    "gluon_cluster_launch_control": gluon_cluster_launch_control,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--palladion", default="build/palladion")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for PTX, inputs and reports")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    options = parser.parse_args()
    failed = False
    print(f"Triton {triton.__version__}, sm_100, in a simulated B200")
    print("| kernel | error | schedules | findings |\n|---|---|---|---|")
    for name in options.names or CASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.keep / name if options.keep else pathlib.Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            case = CASES[name]()
            try:
                error, equal, codes = measure(options.palladion, case, folder)
            except Exception as problem:  # a kernel that does not compile or run is a row, not the end
                failed = True
                print(f"| {name} | {str(problem).strip().splitlines()[0]} | | |", flush=True)
                continue
        failed |= error > case.bound or not equal
        found = ", ".join(f"{n} {code} ({severity})" for (code, severity), n in sorted(codes.items()))
        print(f"| {name} | {error:.1e} | {'equal' if equal else 'DIFFER'} | {found or '-'} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
