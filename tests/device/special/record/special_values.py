"""Writes special_values.inc: one kernel an instruction, and the special operands to feed it with.

    python3 special_values.py
    nvcc -std=c++17 -O1 -gencode=arch=compute_90a,code=sm_90a -o special_values special_values.cu
    DRIVER=... ./special_values DATE FOLDER
"""

# Zeroes, subnormals, the smallest normal, ordinary numbers, the largest, infinities, signalling and quiet NaNs with payloads.
F32 = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBFC00000, 0x7F7FFFFF, 0x7F800000,
       0xFF800000, 0x7F800001, 0x7FC12345, 0x7FFFFFFF, 0xFFC00000, 0xFF812345]
# More for one-operand instructions: ties and limits of the formats that f32 is converted to.
F32_MORE = F32 + [
    0x80000001, 0x007FFFFF, 0x80800000, 0x3F801000, 0x3F800FFF, 0x3F803000, 0x3F801001, 0x7F7FF000, 0x477FEFFF,
    0x477FF000, 0x477FE000, 0x33000000, 0x33000001, 0x33800000, 0x387FC000, 0x7F7F8000, 0x7F7F7FFF, 0x40200000,
    0xC0200000, 0x40600000, 0x3F000000, 0x4F000000, 0x4EFFFFFF, 0xCF000000, 0xCF000001, 0x5F000000, 0x5EFFFFFF,
    0x4F800000, 0x4F7FFFFF, 0xFFFFFFFF, 0xFF7FFFFF, 0x3FFFFFFF, 0x3F7FFFFF, 0xBF800000]
F32_TO_F8 = F32_MORE + [0x43E00000, 0x43E80000, 0x43E7FFFF, 0x43F00000, 0x476FFFFF, 0x47700000, 0x37000000, 0x37000001,
                        0x3A800000, 0x3A800001]
F32_FEW = [0x80000000, 0x00000001, 0x3F800000, 0xFF800000, 0x7F800001, 0xFFC12345]
F16 = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0xBE00, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7E12, 0x7FFF, 0xFE00,
       0xFD12]
F16_FEW = [0x8000, 0x0001, 0x3C00, 0xFC00, 0x7C01, 0xFE12]
BF16 = [0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x3F80, 0xBFC0, 0x7F7F, 0x7F80, 0xFF80, 0x7F81, 0x7FC5, 0x7FFF, 0xFFC0,
        0xFFA1]
BF16_FEW = [0x8000, 0x0001, 0x3F80, 0xFF80, 0x7F81, 0xFFC5]
F64 = [0x0, 0x8000000000000000, 0x1, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF8000000000000,
       0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001, 0x7FF8123456789ABC,
       0x7FFFFFFFFFFFFFFF, 0xFFF8000000000000, 0xFFF0123400000000, 0x7FF0000100000000]
F64_MORE = F64 + [
    0x36A0000000000000, 0x3690000000000000, 0x3690000000000001, 0x380FFFFFE0000000, 0x47EFFFFFEFFFFFFF,
    0x47EFFFFFF0000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0xC1E0000000000000, 0x43E0000000000000,
    0x40EFFC0000000000, 0x0008000000000000, 0x7FD0000000000000, 0x7FE0000000000000, 0x0000000080000000,
    0x3FF0000000000001]
F64_FEW = [0x8000000000000000, 0x1, 0x3FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001, 0xFFF8123456789ABC]
S32 = [0, 1, 2, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x00800000, 0x01000001, 0x01000003, 0xFEFFFFFD]


def both_halves(values):
    return [v << 16 | v for v in values]


def both_bytes(values):
    return [v << 8 | v for v in values]


# Register classes of inline PTX: C type, hexadecimal digits, from and to 64 bits.
CLASSES = {
    "f": ("float", 8, "__uint_as_float(static_cast<U32>({}))", "__float_as_uint({})"),
    "r": ("U32", 8, "static_cast<U32>({})", "{}"),
    "h": ("U16", 4, "static_cast<U16>({})", "{}"),
    "d": ("double", 16, "__longlong_as_double({})", "static_cast<U64>(__double_as_longlong({}))"),
    "l": ("U64", 16, "{}", "{}"),
}
BITS = {"f": "U32", "r": "U32", "h": "U16", "d": "U64"}
tests = []  # (instruction, result class, operand classes, operand sets, kernel body)


def op(stems, suffix, result, operands, sets):
    """`stems` is a list of words in one string; the instruction is stem + suffix."""
    for stem in stems.split():
        name = stem + suffix
        ctype, _, _, to_bits = CLASSES[result]
        places = ", ".join("%%%d" % (k + 1) for k in range(len(operands)))
        inputs = ", ".join('"%s"(%s)' % (c, CLASSES[c][2].format("x[%d]" % k)) for k, c in enumerate(operands))
        body = '%s r; asm volatile("%s %%0, %s;" : "=%s"(r) : %s); result = %s;' % (
            ctype, name, places, result, inputs, to_bits.format("r"))
        tests.append((name, result, operands, sets, body))


def arithmetic():
    op("abs abs.ftz neg neg.ftz rcp.rn rcp.rn.ftz sqrt.rn sqrt.rn.ftz rcp.approx rcp.approx.ftz rsqrt.approx "
       "rsqrt.approx.ftz sqrt.approx sqrt.approx.ftz ex2.approx ex2.approx.ftz lg2.approx lg2.approx.ftz sin.approx "
       "sin.approx.ftz cos.approx cos.approx.ftz tanh.approx", ".f32", "f", "f", [F32_MORE])
    op("add.rn add.rn.ftz add.rn.sat add.rz sub.rn mul.rn mul.rn.ftz mul.rn.sat div.rn div.rn.ftz div.approx "
       "div.approx.ftz div.full div.full.ftz min max min.ftz max.ftz min.NaN max.NaN min.xorsign.abs max.xorsign.abs "
       "max.NaN.xorsign.abs copysign", ".f32", "f", "ff", [F32, F32])
    op("fma.rn fma.rn.ftz fma.rn.sat", ".f32", "f", "fff", [F32_FEW] * 3)
    op("abs neg rcp.rn sqrt.rn rcp.approx.ftz rsqrt.approx.ftz rsqrt.approx", ".f64", "d", "d", [F64_MORE])
    op("add.rn sub.rn mul.rn div.rn min max copysign", ".f64", "d", "dd", [F64, F64])
    op("fma.rn", ".f64", "d", "ddd", [F64_FEW] * 3)
    op("abs abs.ftz neg neg.ftz tanh.approx ex2.approx", ".f16", "h", "h", [F16])
    op("add.rn add.rn.ftz add.rn.sat sub.rn mul.rn mul.rn.ftz mul.rn.sat min max min.ftz min.NaN max.NaN "
       "min.xorsign.abs max.NaN.xorsign.abs", ".f16", "h", "hh", [F16, F16])
    op("fma.rn fma.rn.ftz fma.rn.sat fma.rn.relu", ".f16", "h", "hhh", [F16_FEW] * 3)
    op("abs neg tanh.approx ex2.approx.ftz", ".bf16", "h", "h", [BF16])
    op("add.rn sub.rn mul.rn min max min.NaN max.NaN max.NaN.xorsign.abs", ".bf16", "h", "hh", [BF16, BF16])
    op("fma.rn fma.rn.relu", ".bf16", "h", "hhh", [BF16_FEW] * 3)
    op("add.rn add.rn.ftz mul.rn min max.NaN", ".f16x2", "r", "rr", [both_halves(F16)] * 2)
    op("add.rn sub.rn mul.rn min max.NaN", ".bf16x2", "r", "rr", [both_halves(BF16)] * 2)
    op("fma.rn fma.rn.relu", ".f16x2", "r", "rrr", [both_halves(F16_FEW)] * 3)
    op("fma.rn fma.rn.relu", ".bf16x2", "r", "rrr", [both_halves(BF16_FEW)] * 3)


def conversions():
    op("rni.f32 rzi.ftz.f32 sat.f32 ftz.f32 rmi.f32 rpi.f32", ".f32", "f", "f", [F32_MORE])
    op("rna.tf32 rn.tf32 rz.tf32 rn.relu.tf32 rz.relu.tf32 rna.satfinite.tf32 rzi.s32 rni.s32 rzi.u32 rzi.ftz.u32 "
       "rpi.s32 rmi.u32 rzi.s8 rzi.u8 rzi.s16", ".f32", "r", "f", [F32_MORE])
    op("rzi.s64 rni.u64", ".f32", "l", "f", [F32_MORE])
    op("f64 ftz.f64", ".f32", "d", "f", [F32_MORE])
    op("rn.f16 rz.f16 rm.f16 rp.f16 rn.ftz.f16 rn.relu.f16 rn.satfinite.f16 rn.bf16 rz.bf16 rn.relu.bf16 "
       "rn.satfinite.bf16", ".f32", "h", "f", [F32_MORE])
    op("rn.f16x2 rz.f16x2 rn.relu.f16x2 rn.satfinite.f16x2 rn.bf16x2 rz.bf16x2 rn.relu.bf16x2 rn.satfinite.bf16x2",
       ".f32", "r", "ff", [F32_MORE, [0x3F800000, 0x7FC12345]])
    op("rn.satfinite.e4m3x2 rn.satfinite.e5m2x2 rn.satfinite.relu.e4m3x2 rn.satfinite.relu.e5m2x2", ".f32", "h", "ff",
       [F32_TO_F8, [0x3F800000]])
    op("rni.f64 rzi.f64", ".f64", "d", "d", [F64_MORE])
    op("rn.f32 rz.f32 rn.ftz.f32", ".f64", "f", "d", [F64_MORE])
    op("rn.f16 rn.bf16", ".f64", "h", "d", [F64_MORE])
    op("rzi.s32 rni.u32", ".f64", "r", "d", [F64_MORE])
    op("rzi.s64 rni.u64", ".f64", "l", "d", [F64_MORE])
    op("rni.f16 rzi.f16 sat.f16 rn.bf16", ".f16", "h", "h", [F16])
    op("f32", ".f16", "f", "h", [F16])
    op("f64", ".f16", "d", "h", [F16])
    op("rzi.s32", ".f16", "r", "h", [F16])
    op("rzi.u64", ".f16", "l", "h", [F16])
    op("rni.bf16 rn.f16", ".bf16", "h", "h", [BF16])
    op("f32", ".bf16", "f", "h", [BF16])
    op("f64", ".bf16", "d", "h", [BF16])
    op("rzi.s32", ".bf16", "r", "h", [BF16])
    op("rn.f32 rz.f32", ".s32", "f", "r", [S32])
    op("rn.f32", ".u32", "f", "r", [S32])
    op("rn.f16 rn.bf16", ".s32", "h", "r", [S32])
    op("rn.f16x2 rn.relu.f16x2", ".e4m3x2", "r", "h", [both_bytes(range(256))])
    op("rn.f16x2", ".e5m2x2", "r", "h", [both_bytes(range(256))])
    op("rn.satfinite.e4m3x2 rn.satfinite.e5m2x2 rn.satfinite.relu.e4m3x2", ".f16x2", "h", "r",
       [both_halves(F16 + [0x5F40, 0x5F00, 0x5F7F, 0x1400, 0x1401, 0x1800])])


def atomic(name, c, values):
    """Memory holds a, the operand is b, the result is what memory holds afterwards."""
    operand = CLASSES[c][2].format("x[1]")
    if ".shared." in name:
        place = "__shared__ U64 cells[64]; %s* cell = reinterpret_cast<%s*>(cells + threadIdx.x);" % (BITS[c], BITS[c])
        address = "__cvta_generic_to_shared(cell)"
    else:
        place = "%s* cell = reinterpret_cast<%s*>(scratch + 2 * i);" % (BITS[c], BITS[c])
        address = "__cvta_generic_to_global(cell)"
    if name.startswith("red"):
        call = 'asm volatile("%s [%%0], %%1;" :: "l"(%s), "%s"(%s) : "memory");' % (name, address, c, operand)
    else:
        call = '%s old; asm volatile("%s %%0, [%%1], %%2;" : "=%s"(old) : "l"(%s), "%s"(%s) : "memory"); (void)old;' % (
            CLASSES[c][0], name, c, address, c, operand)
    body = "%s *cell = static_cast<%s>(x[0]); %s result = *const_cast<volatile %s*>(cell);" % (place, BITS[c], call, BITS[c])
    tests.append((name, c, c + c, [values, values], body))


def bulk(op_and_type, c, values):
    """A bulk reduction of 16 bytes, all elements alike."""
    name = "cp.reduce.async.bulk.global.shared::cta.bulk_group." + op_and_type
    count = 16 // {"f": 4, "h": 2, "d": 8}[c]
    body = """__shared__ alignas(16) T from[32][N]; T* cell = reinterpret_cast<T*>(scratch + 2 * i);
  for (int k = 0; k < N; ++k) cell[k] = static_cast<T>(x[0]), from[threadIdx.x][k] = static_cast<T>(x[1]);
  __threadfence(); asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("NAME [%0], [%1], 16;\\ncp.async.bulk.commit_group;\\ncp.async.bulk.wait_group 0;"
               :: "l"(__cvta_generic_to_global(cell)), "r"(static_cast<U32>(__cvta_generic_to_shared(from[threadIdx.x]))) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory"); result = *const_cast<volatile T*>(cell);"""
    body = body.replace("NAME", name).replace("N]", "%d]" % count).replace("< N", "< %d" % count)
    body = "using T = %s; %s" % (BITS[c], body)
    tests.append((name, c, c + c, [values, values], body))


def memory():
    for space in ("global", "shared"):
        atomic("atom.%s.add.f32" % space, "f", F32)
        atomic("atom.%s.add.f64" % space, "d", F64)
        atomic("atom.%s.add.noftz.f16" % space, "h", F16)
        atomic("atom.%s.add.noftz.bf16" % space, "h", BF16)
    atomic("atom.global.add.noftz.f16x2", "r", both_halves(F16))
    atomic("atom.global.add.noftz.bf16x2", "r", both_halves(BF16))
    atomic("red.global.add.f32", "f", F32)
    bulk("add.f32", "f", F32)
    bulk("add.f64", "d", F64)
    bulk("add.noftz.f16", "h", F16)
    bulk("add.noftz.bf16", "h", BF16)
    bulk("min.f16", "h", F16)
    bulk("max.bf16", "h", BF16)


def file_of(name):
    if name.startswith(("atom", "red", "cp.")):
        return "memory"
    if name.startswith("cvt"):
        return "cvt"
    if ".approx" in name or ".full" in name:
        return "approx"
    return name.split(".")[-1].removesuffix("x2")


def main():
    arithmetic()
    first_cvt = len(tests)
    conversions()
    for k in range(first_cvt, len(tests)):
        name, result, operands, sets, body = tests[k]
        tests[k] = ("cvt." + name, result, operands, sets, body.replace('"%s ' % name, '"cvt.%s ' % name))
    memory()
    with open("special_values.inc", "w") as out:
        for k, (_, _, _, _, body) in enumerate(tests):
            out.write("__global__ void kernel_%d(const U64* in, U64* out, ulonglong2* scratch, int count) {\n"
                      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= count) return;\n"
                      "  const U64* x = in + 3 * i;\n  U64 result;\n  %s\n  out[i] = result;\n}\n" % (k, body))
        out.write("const std::vector<Test> tests = {\n")
        for k, (name, result, operands, sets, _) in enumerate(tests):
            values = ", ".join("{%s}" % ", ".join("%#xull" % v for v in s) for s in sets)
            digits = ", ".join(str(CLASSES[c][1]) for c in operands)
            out.write('{"%s", "%s", kernel_%d, %d, {%s}, {%s}},\n' % (name, file_of(name), k, CLASSES[result][1], digits, values))
        out.write("};\n")


main()
