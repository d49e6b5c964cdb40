"""Python under a plain `palladion exec`, which knows nothing of the package."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

root = pathlib.Path(__file__).resolve().parents[2]
HOME = pathlib.Path(os.environ.get("PALLADION_HOME", root / "build"))
PALLADION = next((p for p in (HOME / "palladion", HOME / "bin" / "palladion") if p.is_file()), None)


def program_under_exec(folder, text, *options, **environment):
    program = folder / "program.py"
    program.write_text(textwrap.dedent(text))
    if PALLADION is None or not any(HOME.rglob("libpalladion_exec.so")):
        pytest.skip("NOT TESTED: palladion or its libpalladion_exec.so is not built")
    return subprocess.run([PALLADION, "exec", *options, "--", sys.executable, "-W", "ignore", program], capture_output=True,
                          text=True, env=dict(os.environ, **environment), timeout=300)


def run(folder, text, *options, **environment):
    done = program_under_exec(folder, text, *options, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_measurement_by_repetition_ends(tmp_path):
    for module in ("torch", "triton"):
        pytest.importorskip(module)
    out = run(tmp_path, """
    import numpy as np, torch, triton, triton.language as tl
    from triton.testing import do_bench

    @triton.jit
    def add(x, out, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    x = torch.from_numpy(np.arange(1000, dtype=np.float32)).cuda()
    out = torch.empty_like(x)
    launch = lambda: add[(4,)](x, out, 1000, B=256)
    ms = do_bench(launch)
    assert 0.001 < ms < 0.1 and do_bench(launch, quantiles=[0.2, 0.8]) == [ms, ms]
    assert (out.cpu().numpy() == np.arange(1, 1001)).all()
    print("measured")
    """, "--schedule", "hardware")
    assert out == "measured\n"


def test_what_python_does_first_hides_nothing(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import sys; sys.own = 1\n")
    text = "import sys, sitecustomize; print(sys.own, sitecustomize.__file__, 'palladion._bench' in sys.modules)"
    for options, with_part in ((["--schedule", "hardware"], True), ([], False)):
        out = run(tmp_path, text, *options, PYTHONPATH=str(tmp_path / "own"))
        assert out.split() == ["1", str(tmp_path / "own" / "sitecustomize.py"), str(with_part)]


def test_without_another_file_of_that_name_python_starts(tmp_path):
    assert run(tmp_path, "import json; print(json.dumps(1))", "--schedule", "hardware", PYTHONPATH="") == "1\n"


# The host waits where no call says so, for a kernel that waits for ever; its own limit ends the process at once.
def test_a_process_that_leaves_reports_what_waits(tmp_path):
    if PALLADION is None or not any(HOME.rglob("libpalladion_exec.so")):
        pytest.skip("NOT TESTED: palladion or its libpalladion_exec.so is not built")
    (tmp_path / "program.py").write_text(textwrap.dedent(f"""
    import os, sys
    sys.path.insert(0, {str(root / "tests" / "python")!r})
    import numpy as np
    from driver import Device
    from test_plugin import SPIN
    device = Device()
    device.start(SPIN, "hang", 1, 32, device.array(np.zeros(1, np.uint32)))
    os._exit(5)
    """))
    done = subprocess.run([PALLADION, "exec", "--", sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "PLD3080" in done.stderr and "the program ends while hang waits" in done.stderr, done.stderr


def test_who_asks_nvidia_smi_for_a_gpu_finds_it(tmp_path):
    """FlagGems does so, and ended with "No device were detected on your machine"."""
    if shutil.which("nvidia-smi", path="/usr/bin:/bin"):
        pytest.skip("NOT TESTED: the machine has its own nvidia-smi")
    out = run(tmp_path, """
    import subprocess
    listed = subprocess.run(["nvidia-smi"], capture_output=True, text=True)
    print(listed.returncode, listed.stdout)
    asked = subprocess.run(["nvidia-smi", "--query-gpu=power.draw"], capture_output=True, text=True)
    print(asked.returncode, asked.stderr)
    """, "--arch", "b200", PATH="/usr/bin:/bin")
    assert out == ("0 GPU 0: NVIDIA B200 (simulated by palladion exec)\n\n"
                   "2 palladion exec: unsupported: nvidia-smi --query-gpu=power.draw\n\n")


def test_an_unmodified_program_of_pytorch_gets_its_operators(tmp_path):
    for module in ("torch", "triton"):
        pytest.importorskip(module)
    text = """
    import sys, torch, triton, triton.language as tl

    @triton.jit
    def add(x, y, out, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    x, y = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    add[(4,)](x, y, out, 1000, B=256)
    end.record()
    torch.cuda.synchronize()
    torch.testing.assert_close(out, x + y)
    print(0 < begin.elapsed_time(end) < 0.1, file=sys.stderr)
    """
    done = program_under_exec(tmp_path, text, "--torch", "--schedule", "hardware", PYTHONPATH=str(root / "python"))
    assert done.returncode == 0, done.stderr
    assert "True\n" in done.stderr, "the schedule stays that of exec"
    assert "operations of PyTorch were computed on the host, not checked" in done.stderr
    refused = program_under_exec(tmp_path, text)
    assert refused.returncode == 1 and "exec --torch" in refused.stderr, refused.stderr
