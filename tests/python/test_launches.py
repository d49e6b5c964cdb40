"""`run`, `check`, `compare`, `time` on PTX with arrays of NumPy and PyTorch."""
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import palladion
import pytest
from conftest import REVERSED


def test_run_updates_arrays_in_place(good, arrays):
    x, y = arrays
    result = palladion.run(good, x, y, 2.0, grid=1)
    assert result.ok and result.completed and result.findings == []
    assert (result.verdict.word, result.verdict.schedules_tried) == ("clean", 1)
    assert np.array_equal(y, 2 * x[::-1] + 1)


def test_a_race_is_found_with_both_sites(racy, arrays):
    result = palladion.check(racy, *arrays, 2.0, grid=1)
    assert not result.ok and result.verdict.word == "errors"
    (race,) = (f for f in result.findings if len(f.sites) == 2)
    assert (race.code, race.severity, race.file) == ("PLD4001", "error", "racy.ptx")
    assert {site.instruction.split()[0] for site in race.sites} == {"ld.shared.f32", "st.shared.f32"}
    lines = [site.line for site in race.sites]
    assert sorted(lines) == [22, 28] and race.line in lines
    assert "tile" in race.object and "racy.ptx:" in race.text
    with pytest.raises(palladion.FindingsError, match="PLD4001"):
        result.expect_clean()


def test_check_decides_and_changes_nothing(good, arrays):
    x, y = arrays
    result = palladion.check(good, x, y, 2.0, grid=1).expect_clean()
    assert result.verdict.decided and result.verdict.scope["schedules"] == "all"
    assert np.array_equal(y, np.ones(64))


def test_compare_names_the_first_difference(good, arrays):
    x, y = arrays
    wanted = 2 * x[::-1] + 1
    assert palladion.compare(good, x, y, 2.0, grid=1, wanted={"y": wanted}).ok
    wanted[5] += 0.5
    result = palladion.compare(good, palladion.In(x), y, 2.0, grid=1, wanted=[wanted])
    (comparison,) = result.comparisons
    assert not result.ok and not comparison.ok
    assert (comparison.output, comparison.differing, comparison.first["index"]) == ("y", 1, [5])
    assert palladion.compare(good, x, y, 2.0, grid=1, wanted={"y": wanted}, absolute=0.5).ok
    assert np.array_equal(y, np.ones(64))


def test_wanted_must_be_of_an_array_that_is_written(good, arrays):
    x, y = arrays
    for wanted, text in (({"z": y}, "no array 'z'"), ([y, y, y], "3 arrays for 2"), ({"y": y[:4].copy()}, r"f32\[64\]")):
        with pytest.raises(palladion.Error, match=text):
            palladion.compare(good, x, y, 2.0, grid=1, wanted=wanted)
    with pytest.raises(palladion.Error, match="only read"):
        palladion.compare(good, palladion.In(x), y, 2.0, grid=1, wanted={"x": x})


def test_time_is_that_of_the_clock(good, arrays):
    result = palladion.time(good, *arrays, 2.0, grid=1, why=True)
    again = palladion.run(good, *arrays, 2.0, grid=1, schedule="hardware", checks="none")
    assert result.cycles == again.cycles > 100
    assert result.time.microseconds > 0 and "why" in result.time.json
    assert palladion.run(good, *arrays, 2.0, grid=1).cycles is None


def test_the_report_is_the_page_of_this_launch(racy, arrays, tmp_path):
    x, y = arrays
    result = palladion.run(racy, x, y, 2.0, grid=1)
    x[:] = 0  # the page shows the launch with the arrays that it had
    page = result.report(tmp_path / "page.html")
    assert page.startswith("<!doctype html>") and "PLD4001" in page
    assert (tmp_path / "page.html").read_text() == page
    assert result._repr_html_().startswith("<iframe srcdoc=")


def test_what_a_kernel_reads_of_an_undefined_output_is_found(good, arrays):
    x, y = arrays
    result = palladion.run(good, x, palladion.Out(y), 2.0, grid=1)
    assert [f.code for f in result.findings] and not result.verdict.word == "clean"


def test_arguments_are_held_against_the_parameters(good, arrays):
    x, y = arrays
    for args, text in (((x, y), "takes 3 arguments, 2 are given"), ((x, y, 2), None), ((x, y, "2"), "no parameter"),
                       ((x, y, x), "has 4 bytes"), ((x, y[::-1], 2.0), "negative strides"),
                       ((x, y, np.float64(2)), "8 bytes, the parameter has 4"),
                       ((x, x.view("V4"), 2.0), "no element type")):
        if text is None:
            palladion.run(good, *args, grid=1)
            continue
        with pytest.raises(palladion.Error, match=text):
            palladion.run(good, *args, grid=1)
    with pytest.raises(palladion.Error, match="grid="):
        palladion.run(good, x, y, 2.0)


def test_errors_have_codes(good, arrays):
    with pytest.raises(palladion.Error) as refused:
        palladion.load("x\n.version 8.0\n.target sm_90\n", name="bad.ptx")
    assert refused.value.code.startswith("PLD1") and "bad.ptx:1" in str(refused.value)
    with pytest.raises(palladion.Error) as refused:
        palladion.run(good, *arrays, 2.0, grid=1, block=128)
    assert refused.value.code.startswith("PLD")
    for name, value in (("schedule", "fastest"), ("checks", "nothing"), ("arch", "h3000")):
        with pytest.raises(palladion.Error, match=value):
            palladion.run(good if name != "arch" else ".version 8.0\n.target sm_90\n", *arrays, 2.0, grid=1, **{name: value})


def test_one_array_twice_is_one_memory(good, arrays):
    x = arrays[0]
    before = x.copy()
    palladion.run(good, x, x, 1.0, grid=1)
    assert np.array_equal(x, before + before[::-1])
    z = np.zeros(96, np.float32)
    with pytest.raises(palladion.Unsupported, match="share memory"):
        palladion.run(good, z[:64], z[32:], 1.0, grid=1)


def test_strided_arrays_are_their_memory(good, arrays):
    """As a pointer has it: the kernel sees what lies between the elements as well."""
    x, y = arrays
    wide = np.zeros((64, 2), np.float32)
    wide[:, 0] = 7
    assert palladion.run(good, wide[:, 0], y, 1.0, grid=1).ok
    assert y[63] == 8 and y[62] == 1
    outside = palladion.run(good, wide[:32, 0], y, 1.0, grid=1)  # 63 elements: the last lane reads behind them
    assert outside.findings[0].fatal and not outside.completed


def test_read_only_arrays_are_inputs(good, arrays):
    x, y = arrays
    x.flags.writeable = False
    with pytest.raises(palladion.Error, match="only read"):
        palladion.compare(good, x, y, 2.0, grid=1, wanted={"x": x})


def test_what_is_given_to_be_read_is_not_written(good, arrays):
    """What a kernel wrote there was lost without a word."""
    x, y = arrays
    before = y.copy()
    with pytest.raises(palladion.Error, match="the kernel writes `y`"):
        palladion.run(good, x, palladion.In(y), 1.0, grid=1)
    for options in {}, {"schedule": "latest"}, {"seeds": 3, "explore": 100}:
        with pytest.raises(palladion.Error, match="the kernel writes `y`"):
            palladion.check(good, x, palladion.In(y), 1.0, grid=1, **options)
    frozen = y.copy()
    frozen.flags.writeable = False
    with pytest.raises(palladion.Error, match="the kernel writes `y`"):
        palladion.run(good, x, frozen, 1.0, grid=1)
    with pytest.raises(palladion.Error, match="the kernel writes `y`"):
        palladion.check(good, x, frozen, 1.0, grid=1)
    with pytest.raises(palladion.Error, match="read only"):
        palladion.run(good, x, palladion.Out(frozen), 1.0, grid=1)
    assert np.array_equal(y, before) and np.array_equal(frozen, before)
    z = x.copy()
    palladion.run(good, palladion.In(z), palladion.Out(z), 1.0, grid=1)  # one memory, which is read and written
    assert np.array_equal(z, x + x[::-1])


def test_elements_are_what_lies_in_memory(good, arrays):
    x, y = arrays
    for strange in (x.astype(">f4"), np.ma.array(x, mask=x > 3)):
        with pytest.raises(palladion.Error, match="as they lie in memory"):
            palladion.run(good, strange, y, 1.0, grid=1)
    torch = pytest.importorskip("torch")
    for strange in (torch.complex(torch.ones(64), torch.ones(64)).conj().imag, torch.ones(64).to_sparse(),
                    torch.ones(64, device="meta")):
        with pytest.raises(palladion.Error, match="a tensor"):
            palladion.run(good, strange, y, 1.0, grid=1)


def test_torch_tensors_on_the_host(good):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(64, dtype=torch.float32), torch.ones(64)
    assert palladion.run(good, x, y, 2.0, grid=1).ok
    assert torch.equal(y, 2 * x.flip(0) + 1)


def test_dlpack_arrays(good, arrays):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **how):
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x, y = arrays
    assert palladion.run(good, palladion.In(Foreign(x)), y, 2.0, grid=1).ok
    assert np.array_equal(y, 2 * x[::-1] + 1)


def test_a_recorded_launch(tmp_path):
    (tmp_path / "good.ptx").write_text(REVERSED.replace("BARRIER", "bar.sync 0;"))
    program = str(palladion._home.home().program)
    done = subprocess.run([program, "exec", "--", program, "capture", "-o", str(tmp_path / "bundles"), "--", sys.executable,
                           str(pathlib.Path(__file__).parent / "write_bundle.py"), str(tmp_path / "good.ptx")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "bundles").iterdir()
    compared = palladion.compare(folder)
    assert compared.ok and len(compared.comparisons) == 2 and all(c.bits_equal for c in compared.comparisons)
    assert palladion.check(palladion.load(folder)).expect_clean().verdict.decided
    assert palladion.time(folder).cycles > 100


def test_machine_code_that_carries_its_ptx(arrays, tmp_path):
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("no ptxas")
    x, y = arrays
    (tmp_path / "good.ptx").write_text(REVERSED.replace("BARRIER", "bar.sync 0;"))
    subprocess.run([ptxas, "-lineinfo", "-arch=sm_90", "good.ptx", "-o", "good.cubin"], cwd=tmp_path, check=True)
    assert palladion.run(palladion.load(tmp_path / "good.cubin")["reversed"], x, y, 2.0, grid=1).ok
    assert np.array_equal(y, 2 * x[::-1] + 1)
    subprocess.run([ptxas, "-arch=sm_90", "good.ptx", "-o", "bare.cubin"], cwd=tmp_path, check=True)
    with pytest.raises(palladion.Error, match="line"):
        palladion.load(tmp_path / "bare.cubin")


def test_an_endless_kernel_ends_by_its_limit(arrays):
    endless = palladion.load("""
.version 8.0
.target sm_90
.address_size 64
.visible .entry endless() { .reg .u32 %r; mov.u32 %r, 0; L: add.u32 %r, %r, 1; bra L; }
""")
    result = palladion.run(endless, grid=1, block=32, max_instructions=100_000)
    assert not result.ok and not result.completed and result.findings[0].fatal


ENDLESS = """
import sys
sys.path.insert(0, sys.argv[1])
import palladion
HEAD = ".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry "
print("begins", flush=True)
try:
    palladion.run(HEAD + "endless() { .reg .u32 %r; mov.u32 %r, 0; L: add.u32 %r, %r, 1; bra L; }", grid=1, block=32,
                  max_instructions=0)
except KeyboardInterrupt:
    print("ended", flush=True)
print(palladion.run(HEAD + "nothing() { ret; }", grid=1, block=32).ok)
"""


def test_ctrl_c_ends_a_run():
    running = subprocess.Popen([sys.executable, "-c", ENDLESS, pathlib.Path(palladion.__file__).parents[1]],
                               stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "begins\n"
    time.sleep(1)  # until it runs
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60)[0] == "ended\nTrue\n" and running.returncode == 0


def test_a_tensor_map_is_a_parameter():
    ptx = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry corner(.param .align 64 .b8 map[128], .param .u64 out)
.reqntid 32
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  .reg .pred %p<3>;
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 full;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r2, tile;
  mov.u32 %r3, full;
  @%p1 bra WAIT;
  mbarrier.init.shared.b64 [%r3], 1;
  fence.proxy.async.shared::cta;
  mov.b64 %rd1, map;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
  mov.u32 %r4, 8;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r4, %r4}], [%r3];
WAIT:
  bar.sync 0;
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
  @!%p2 bra AGAIN;
  ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd2, %rd3;
  shl.b32 %r5, %r1, 2;
  add.u32 %r5, %r5, %r2;
  ld.shared.u32 %r4, [%r5];
  st.global.u32 [%rd2], %r4;
  ret;
}
"""
    matrix = np.arange(32 * 32, dtype=np.int32).reshape(32, 32)
    out = np.zeros(32, np.int32)
    result = palladion.run(ptx, palladion.TensorMap(palladion.In(matrix), box=(8, 8)), palladion.Out(out), grid=1)
    assert result.ok, str(result)
    assert np.array_equal(out.reshape(4, 8), matrix[8:12, 8:16])
    with pytest.raises(palladion.Error, match="box"):
        palladion.run(ptx, palladion.TensorMap(matrix, box=(8,)), out, grid=1)
