"""The plugin of pytest, on suites of its own processes."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
from conftest import REVERSED

here = pathlib.Path(__file__).resolve().parent

SUITE = f"""
import numpy as np, palladion, pytest
from driver import Device

GOOD = {REVERSED.replace("BARRIER", "bar.sync 0;")!r}
RACY = {REVERSED.replace("BARRIER", "")!r}
UNWRITTEN = {REVERSED.replace("st.shared.f32 [%r2], %f2;", "").replace("BARRIER", "")!r}
FAR = {REVERSED.replace("BARRIER", "add.u64 %rd5, %rd5, 1000000; bar.sync 0;")!r}
x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)

def launch(ptx):
    device = Device()
    dx, dy = device.array(x), device.array(y)
    device.launch(ptx, "reversed", 1, 64, dx, dy, 2.0)
    return device.values(dy, y)

"""
TESTS = """
def test_good(): assert np.array_equal(launch(GOOD), 2 * x[::-1] + 1)
def test_racy(): launch(RACY)
def test_far(): launch(FAR)
def test_good_after_far(): launch(GOOD)
@pytest.mark.palladion(expect=["PLD4001", "PLD6101"])
def test_expected(): launch(RACY); launch(UNWRITTEN)
@pytest.mark.palladion(expect="PLD4001")
def test_one_of_two_expected(): launch(RACY); launch(UNWRITTEN)
@pytest.mark.palladion(expect="PLD4001")
def test_expected_but_clean(): launch(GOOD)
@pytest.mark.palladion(expect="PLD3022")
def test_expected_fault(): launch(FAR)
@pytest.mark.palladion(expect="PLD3022")
def test_wrong_beside_an_expected_fault():
    try: launch(FAR)
    except RuntimeError: pass
    assert False, "its own failure"
"""
PASSED = {"test_good", "test_good_after_far", "test_expected", "test_expected_fault"}
FAILED = {"test_racy", "test_far", "test_one_of_two_expected", "test_expected_but_clean", "test_wrong_beside_an_expected_fault"}


def suite(folder, tests, *words):
    (folder / "test_suite.py").write_text(SUITE + textwrap.dedent(tests))
    paths = [str(here), str(here.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "palladion.pytest_plugin", "-p", "no:cacheprovider", "-rA",
                           *words, str(folder)], capture_output=True, text=True, cwd=folder,
                          env=dict(os.environ, PYTHONPATH=":".join(paths)))


def results(done):
    lines = [line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("PASSED ", "FAILED "))]
    names = {word: {rest.split("::")[1].split(" ")[0] for kind, rest in lines if kind == word} for word in ("PASSED", "FAILED")}
    return names["PASSED"], names["FAILED"]


def test_findings_fail_the_test_whose_launches_have_them(tmp_path):
    done = suite(tmp_path, TESTS, "--palladion")
    assert results(done) == (PASSED, FAILED), done.stdout
    racy = done.stdout.split(" test_racy ___")[1].split(" test_far ___")[0]
    assert "palladion: a finding in the launches of this test" in racy and "error[PLD4001]" in racy
    assert "expected PLD4001, found nothing" in done.stdout and "its own failure" in done.stdout
    assert "11 launches ran in a simulated h200" in done.stdout


def test_it_works_with_xdist(tmp_path):
    pytest.importorskip("xdist")
    done = suite(tmp_path, TESTS, "--palladion", "-n", "2")
    assert results(done) == (PASSED, FAILED), done.stdout
    assert "11 launches ran in a simulated h200" in done.stdout, done.stdout[-900:]


def test_a_schedule_is_of_one_test_or_of_all(tmp_path):
    tests = """
    def cycles():
        rows = palladion.launches()
        return sum(row["cycles"] for row in rows)
    def test_first():
        before = cycles(); launch(GOOD); assert cycles() == before
    @pytest.mark.palladion(schedule="hardware")
    def test_clock():
        before = cycles(); launch(GOOD); assert cycles() > before
    def test_last():
        before = cycles(); launch(GOOD); assert cycles() == before
    """
    assert suite(tmp_path, tests, "--palladion").returncode == 0
    done = suite(tmp_path, tests, "--palladion", "--palladion-schedule", "hardware")
    assert results(done) == ({"test_clock"}, {"test_first", "test_last"})


# A spin on memory, for which the host waits without a call that says so; and a loop that stores for ever.
SPIN, STORES = ["""
.version 8.0
.target sm_90
.address_size 64
.visible .entry hang(.param .u64 flag) {
  .reg .u64 %rd; .reg .u32 %r, %n; .reg .pred %p;
  mov.u32 %n, 0;
  ld.param.u64 %rd, [flag];
again:
  BODY
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  ret;
}""".replace("BODY", body) for body in ("ld.relaxed.gpu.global.u32 %r, [%rd];",
                                        "add.u32 %n, %n, 1; mov.u32 %r, 0; st.volatile.global.u32 [%rd], %n;")]


def test_a_test_that_hangs_ends_at_its_limit(tmp_path):
    done = suite(tmp_path, f"""
    import time
    def test_it():
        device = Device()
        device.start({SPIN!r}, "hang", 1, 32, device.array(np.zeros(1, np.uint32)))
        while device.cuda.cuStreamQuery(None) == 600: time.sleep(0.01)
    def test_loop():
        device = Device()
        device.launch({STORES!r}, "hang", 1, 32, device.array(np.zeros(1, np.uint32)))
    def test_next(): assert np.array_equal(launch(GOOD), 2 * x[::-1] + 1)
    """, "--palladion", "--palladion-limit", "2")
    assert results(done) == ({"test_next"}, {"test_it", "test_loop"}), done.stdout
    assert done.stdout.count("the test took longer than 2 s: its launches were ended") >= 2, done.stdout
    assert "error[PLD3080]" in done.stdout and "PLD3002" in done.stdout, done.stdout


def test_without_the_option_it_does_nothing(tmp_path):
    done = suite(tmp_path, "def test_it(): assert not palladion.active()\n")
    assert done.returncode == 0 and "simulated" not in done.stdout
