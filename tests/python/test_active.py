"""`activate`: programs of CUDA in a process of their own, for a driver is loaded once a process."""
import pathlib
import subprocess
import sys
import textwrap

import palladion
import pytest
from conftest import REVERSED

here = pathlib.Path(__file__).resolve().parent

GOOD = REVERSED.replace("BARRIER", "bar.sync 0;")
RACY = REVERSED.replace("BARRIER", "")
FAR = REVERSED.replace("BARRIER", "add.u64 %rd5, %rd5, 1000000; bar.sync 0;")


def program(text, expect=0, *words, environment=None):
    """What a program prints that begins with the package and the driver's helper."""
    head = f"""
    import sys
    sys.path[:0] = [{str(here)!r}, {str(here.parents[1] / 'python')!r}]
    import numpy as np, palladion
    """
    done = subprocess.run([*words, sys.executable, "-W", "ignore", "-c", textwrap.dedent(head) + textwrap.dedent(text)],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


PREPARE = f"""
    GOOD, RACY, FAR = {GOOD!r}, {RACY!r}, {FAR!r}
    palladion.activate(quiet=True)
    from driver import Device
    device = Device()
    x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
    dx, dy = device.array(x), device.array(y)
"""


def test_findings_are_objects_and_given_once():
    done = program(PREPARE + """
    device.launch(GOOD, "reversed", 1, 64, dx, dy, 2.0)
    assert np.array_equal(device.values(dy, y), 2 * x[::-1] + 1)
    assert palladion.findings() == []
    device.launch(RACY, "reversed", 1, 64, dx, dy, 2.0)
    found = palladion.findings()
    (race,) = (f for f in found if len(f.sites) == 2)
    assert (race.code, race.severity, race.kernel) == ("PLD4001", "error", "reversed") and "tile" in race.text
    assert palladion.findings() == []
    device.launch(RACY, "reversed", 1, 64, dx, dy, 2.0)  # again: found again
    assert [f.code for f in palladion.findings()] == [f.code for f in found]
    (row,) = palladion.launches()
    assert row["launches"] == 3 and row["kernel"]["name"] == "reversed"
    """)
    assert done.stderr == ""


def test_a_fault_is_cleared():
    program(PREPARE + """
    try:
        device.launch(FAR, "reversed", 1, 64, dx, dy, 2.0)
        raise AssertionError("no error")
    except RuntimeError as e:
        assert "700" in str(e)
    assert [f.fatal for f in palladion.findings()] == [True]
    assert palladion.clear_fault() == 700 and palladion.clear_fault() == 0
    device.launch(GOOD, "reversed", 1, 64, dx, dy, 2.0)
    assert np.array_equal(device.values(dy, y), 2 * x[::-1] + 1)
    """)


def test_findings_are_printed_unless_quiet():
    done = program(PREPARE.replace("quiet=True", "") + """
    device.launch(RACY, "reversed", 1, 64, dx, dy, 2.0)
    assert palladion.findings()
    """)
    assert "error[PLD4001]" in done.stderr


def test_the_order_of_operations_is_judged():
    program(PREPARE + """
    import ctypes
    streams = [ctypes.c_void_p() for _ in range(2)]
    for stream in streams:
        device.call("cuStreamCreate", ctypes.byref(stream), 1)
    for stream in streams:
        device.call("cuMemsetD32Async", dy, 7, ctypes.c_size_t(64), stream)
    assert [f.code for f in palladion.findings()] == ["PLD7001"]
    """)


def test_the_schedule_changes_and_the_rest_does_not():
    program(PREPARE + """
    palladion.activate(schedule="hardware", quiet=True)
    device.launch(GOOD, "reversed", 1, 64, dx, dy, 2.0)
    assert palladion.launches()[0]["cycles"] > 100
    for wrong in (dict(arch="b200"), dict(check="none"), dict(schedule="fastest")):
        try:
            palladion.activate(**wrong)
            raise AssertionError(wrong)
        except palladion.Error as e:
            assert list(wrong)[0] in str(e)
    """)


def test_under_exec_it_attaches_to_its_driver(tmp_path):
    report = tmp_path / "exec.json"
    done = program(PREPARE + """
    device.launch(RACY, "reversed", 1, 64, dx, dy, 2.0)
    assert "PLD4001" in [f.code for f in palladion.findings()]
    """, 1, str(palladion._home.home().program), "exec", "--check", "all", "--json", str(report), "--")
    assert "verdict: errors" in done.stderr and '"PLD4001"' in report.read_text()


def test_without_activation_nothing_is_said_to_be_clean():
    program("""
    assert not palladion.active()
    for function in (palladion.findings, palladion.launches, palladion.clear_fault):
        try:
            function()
            raise AssertionError(function)
        except palladion.Error as e:
            assert "not active" in str(e)
    """)


TORCH = """
    palladion.activate(quiet=True)
    import palladion.torch
    palladion.torch.install()
    import torch
"""


def test_operators_of_torch_are_computed_on_the_host():
    pytest.importorskip("torch")
    done = program(TORCH + """
    a = torch.randn(33, 65, device="cuda", requires_grad=True)
    b = torch.randn(65, 17, device="cuda")
    torch.testing.assert_close((a @ b).cpu(), a.cpu() @ b.cpu())
    (a @ b).relu().sum().backward()
    torch.testing.assert_close(a.grad.cpu(), ((a @ b) > 0).float().cpu() @ b.cpu().T)
    layer = torch.nn.Sequential(torch.nn.Linear(17, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)).cuda()
    optimiser = torch.optim.Adam(layer.parameters())
    before = layer[0].weight.clone()
    torch.nn.functional.mse_loss(layer(b), torch.zeros(65, 8, device="cuda")).backward()
    optimiser.step()
    assert layer[0].weight.is_cuda and not torch.equal(before, layer[0].weight)
    out = torch.empty(0, device="cuda")
    torch.mm(b.T, b, out=out)
    assert out.shape == (17, 17) and torch.equal(out, b.T @ b)
    view = b[::2, 1]
    view += 1
    assert torch.equal(b[::2, 1], view) and b.t().data_ptr() == b.data_ptr()
    numbers = torch.arange(600, device="cuda")
    assert torch.equal((numbers >> 1 & 255).cpu(), numbers.cpu() >> 1 & 255)  # a number in a tensor's place
    c = torch.view_as_complex(torch.randn(4, 2, device="cuda"))
    torch.testing.assert_close((c.conj() * c).real.cpu(), c.cpu().abs() ** 2)
    bits = torch.arange(8, dtype=torch.int8, device="cuda") & 3  # a number in place of a tensor gives no type
    assert bits.dtype == torch.int8 and bits.cpu().tolist() == [0, 1, 2, 3] * 2
    assert palladion.torch.computed()["aten::mm"] >= 4 and "aten::t" not in palladion.torch.computed()
    assert palladion.findings() == []
    """)
    assert "computed on the host, not checked" in done.stderr


def test_fused_attention_is_computed_on_the_host():
    """By plain operators, where a program chooses a kernel that the device alone has."""
    pytest.importorskip("torch")
    program(TORCH + """
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend
    host = [torch.randn(2, 4, 24, 16, requires_grad=True) for _ in range(3)]
    device = [t.detach().cuda().requires_grad_() for t in host]
    for causal in (False, True):
        with sdpa_kernel(SDPBackend.MATH):
            wanted = attend(*host, is_causal=causal)
        out, sums = torch.ops.aten._scaled_dot_product_flash_attention(*device, 0.0, causal)[:2]
        torch.testing.assert_close(out.cpu(), wanted)
        gradients = torch.autograd.grad(out, device, torch.ones_like(out))
        for got, want in zip(gradients, torch.autograd.grad(wanted, host, torch.ones_like(wanted))):
            torch.testing.assert_close(got.cpu(), want)
        efficient = torch.ops.aten._scaled_dot_product_efficient_attention(*device, None, True, 0.0, causal)
        torch.testing.assert_close(efficient[0].cpu(), wanted)
        torch.testing.assert_close(efficient[1], sums)
    q, k, v = (t.detach().transpose(1, 2) for t in device)  # positions before heads
    k, v = k[:, :20, :2], v[:, :20, :2]  # fewer keys, and heads that share them
    out = torch.ops.aten._flash_attention_forward(q, k, v, None, None, 24, 20, 0.0, True, False, window_size_left=3)[0]
    ahead = torch.arange(20) - (torch.arange(24)[:, None] - 4)
    kept = (ahead <= 0) & (ahead >= -3)
    with sdpa_kernel(SDPBackend.MATH):
        plain = attend(host[0], *(t.cpu().transpose(1, 2).repeat_interleave(2, 1) for t in (k, v)), attn_mask=kept)
    torch.testing.assert_close(out.cpu().transpose(1, 2), plain.detach().nan_to_num(0))
    try:
        torch.ops.aten._flash_attention_forward(q, k, v, None, None, 24, 20, 0.5, True, False)
        raise AssertionError("dropout")
    except NotImplementedError as e:
        assert "aten::_flash_attention_forward" in str(e) and "dropout" in str(e.__cause__)
    """)


def test_tensors_of_host_and_device_do_not_mix():
    """As on a GPU; numbers in a tensor of the host do, and indices."""
    pytest.importorskip("torch")
    program(TORCH + """
    a, b = torch.ones(4, device="cuda"), torch.ones(4)
    for mixed in (lambda: a + b, lambda: torch.stack([a, b]), lambda: b.mul_(a), lambda: torch.where(a > 0, a, b)):
        try:
            mixed()
            raise AssertionError(mixed)
        except RuntimeError as e:
            assert "same device" in str(e) and "cuda:0" in str(e)
    assert (a + torch.tensor(2.0)).tolist() == [3] * 4 and a[torch.tensor([0, 3])].is_cuda
    a.copy_(b)
    """)


def test_random_numbers_follow_the_generator_of_the_device():
    pytest.importorskip("torch")
    program(TORCH + """
    torch.manual_seed(3)
    host = torch.rand(4)
    torch.manual_seed(3)
    first, second = torch.rand(4, device="cuda"), torch.rand(4, device="cuda")
    assert torch.equal(torch.rand(4), host)  # the host's own are not used up
    assert not torch.equal(first, second)
    torch.cuda.manual_seed(3)
    state = torch.cuda.get_rng_state()
    assert torch.equal(torch.rand(4, device="cuda"), first)
    assert torch.equal(torch.rand(4, device="cuda"), second)
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="cuda"), first)
    own = torch.Generator("cuda").manual_seed(3)
    assert torch.equal(torch.rand(4, device="cuda", generator=own), first)
    """)


def test_fused_cells_and_halves_are_computed_by_plain_operators():
    pytest.importorskip("torch")
    program(TORCH + """
    def both(make, shape, **options):
        x = torch.randn(shape, requires_grad=True)
        layer = make()
        y = x.detach().cuda().requires_grad_()
        wanted, got = layer(x), None
        (wanted[0] if isinstance(wanted, tuple) else wanted).square().sum().backward()
        gradients = [p.grad.clone() for p in layer.parameters()]
        layer.zero_grad()
        layer.cuda()
        got = layer(y)
        (got[0] if isinstance(got, tuple) else got).square().sum().backward()
        for p, want in zip(layer.parameters(), gradients):
            torch.testing.assert_close(p.grad.cpu(), want)
        torch.testing.assert_close(y.grad.cpu(), x.grad)

    both(lambda: torch.nn.LSTMCell(5, 7), (3, 5))
    both(lambda: torch.nn.LSTMCell(5, 7, bias=False), (3, 5))
    both(lambda: torch.nn.GRUCell(5, 7), (3, 5))
    both(lambda: torch.nn.GRUCell(5, 7, bias=False), (3, 5))
    both(lambda: torch.nn.Conv2d(4, 8, 3, groups=4), (2, 4, 6, 6))  # depthwise
    x = torch.randn(3, 9, device="cuda").half().requires_grad_()
    out = torch.softmax(x, 1, dtype=torch.float32)
    torch.testing.assert_close(out.cpu(), torch.softmax(x.detach().cpu().float(), 1))
    out.square().sum().backward()
    assert x.grad.dtype == torch.float16
    """)


def test_tensors_of_the_device_share_memory_as_they_do_there():
    """A launch has copies of them: each had a memory of its own."""
    pytest.importorskip("torch")
    program(TORCH + f"""
    GOOD = palladion.load({GOOD!r})["reversed"]
    """ + """
    x = torch.arange(64.0, device="cuda")
    assert palladion.run(GOOD, x, x, 1.0, grid=1).ok and x.tolist() == [63.0] * 64
    whole = torch.arange(96.0, device="cuda")
    for refused, why in (((whole[:64], whole[32:]), "share memory"), ((whole[::2], whole[1::2]), "share memory"),
                         ((torch.ones(64), x), "one device"), ((x, np.ones(64, np.float32)), "one device")):
        try:
            palladion.run(GOOD, *refused, 1.0, grid=1)
        except palladion.Error as e:
            assert why in str(e), e
        else:
            raise AssertionError(why)
    assert whole.tolist() == list(range(96))
    """)


def test_sparse_tensors_are_computed_by_their_parts():
    pytest.importorskip("torch")
    program(TORCH + """
    host = torch.where(torch.rand(5, 7) > 0.5, torch.randn(5, 7), torch.zeros(5, 7))
    x = torch.randn(7, 3)
    same = lambda got, want: (torch.testing.assert_close((got.to_dense() if got.layout != torch.strided else got).cpu(), want), got)[1]
    for form in ("to_sparse", "to_sparse_csr", "to_sparse_csc"):
        s = same(getattr(host.cuda(), form)(), host)
        assert s.is_cuda and s.values().is_cuda and s.layout == getattr(host, form)().layout
        same(s @ x.cuda(), host @ x), same(s * 2, host * 2), same(s.cpu().cuda(), host)
    s = torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [2, 0, 2]], device="cuda"), torch.tensor([3.0, 4.0, 5.0], device="cuda"), (5, 7))
    assert s._nnz() == 3 and s.coalesce()._nnz() == 2 and s.coalesce().is_coalesced()
    whole = s.cpu().to_dense()
    same(torch.sparse.mm(s, host.t().cuda().to_sparse()), whole @ host.t()), same(s + host.cuda().to_sparse(), whole + host), same(s.t(), whole.t())
    kept = s.coalesce()
    values = kept.values()
    same(kept.neg_(), -whole)
    assert values.tolist() == [-8, -4]  # the same memory
    same(kept.add_(host.cuda().to_sparse()), host - whole)  # other places than before
    values, dense = torch.ones(2, device="cuda", requires_grad=True), x.cuda().requires_grad_()
    (torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]], device="cuda"), values, (5, 7)) @ dense).sum().backward()
    assert torch.allclose(values.grad.cpu(), torch.stack([x[2].sum(), x[0].sum()])) and dense.grad.cpu()[:3, 0].tolist() == [1, 0, 1]
    layer = torch.nn.Embedding(6, 3, sparse=True, device="cuda")
    before = layer.weight.detach().clone()
    layer(torch.tensor([1, 4], device="cuda")).sum().backward()
    torch.optim.SparseAdam(layer.parameters()).step()
    assert (layer.weight != before).any(1).tolist() == [False, True, False, False, True, False]
    for mixed in (lambda: s @ x, lambda: s.cpu() @ x.cuda()):
        try:
            mixed()
        except RuntimeError as e:
            assert "device" in str(e)
        else:
            raise AssertionError("no error")
    assert palladion.torch.computed()["aten::_coalesce"] >= 2 and palladion.findings() == []
    """)


def test_a_program_may_give_operators_of_its_own():
    """As FlagGems does, for a while."""
    pytest.importorskip("torch")
    program(TORCH + """
    x = torch.ones(4, device="cuda")
    own = torch.library.Library("aten", "IMPL", "CUDA")
    own.impl("abs", lambda t: torch.full_like(t, 7))
    assert x.abs().tolist() == [7] * 4
    own._destroy()
    assert x.abs().tolist() == [1] * 4
    """)


def test_tensors_of_torch_go_after_a_fault():
    """A tensor frees its memory in a destructor, where an error would end the process."""
    pytest.importorskip("torch")
    program(f"""
    FAR = {FAR!r}
    """ + TORCH + """
    import ctypes
    from driver import Device
    device = Device()
    x, y = (torch.ones(64, device="cuda") for _ in range(2))
    try:
        device.launch(FAR, "reversed", 1, 64, *(ctypes.c_uint64(t.data_ptr()) for t in (x, y)), 2.0)
        raise AssertionError("the fault gave no error")
    except RuntimeError:
        pass
    del x, y
    palladion.clear_fault()
    assert torch.ones(3, device="cuda").sum() == 3
    """)


def test_a_triton_kernel_of_torch_tensors_in_the_process(tmp_path):
    pytest.importorskip("torch"), pytest.importorskip("triton")
    kernels = tmp_path / "kernels.py"
    kernels.write_text(textwrap.dedent("""
        import triton, triton.language as tl
        @triton.jit
        def add(x, y, z, n, B: tl.constexpr):
            i = tl.program_id(0) * B + tl.arange(0, B)
            tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
        @triton.jit
        def lost_update(x, total, B: tl.constexpr):
            s = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
            tl.store(total, tl.load(total) + s)
    """))
    program(TORCH + f"""
    sys.path.insert(0, {str(tmp_path)!r})
    import triton.testing
    from kernels import add, lost_update
    x = torch.randn(1000, device="cuda")
    z = torch.empty_like(x)
    add[(4,)](x, x, z, 1000, B=256)
    torch.testing.assert_close(z, x + x)
    assert palladion.findings() == []
    lost_update[(7,)](x, torch.zeros(1, device="cuda"), B=128)
    (race, *_) = palladion.findings()
    assert (race.code, race.file.endswith("kernels.py"), race.line) == ("PLD6001", True, 10), race.text
    launches = lambda: sum(row["launches"] for row in palladion.launches())
    before = launches()
    triton.testing.do_bench(lambda: add[(4,)](x, x, z, 1000, B=256))
    assert launches() == before + 2  # the schedule is functional
    palladion.activate(schedule="hardware", quiet=True)
    ms = triton.testing.do_bench(lambda: add[(4,)](x, x, z, 1000, B=256))
    assert 0.001 < ms < 0.1 and triton.testing.do_bench(lambda: add[(4,)](x, x, z, 1000, B=256)) == ms
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    add[(4,)](x, x, z, 1000, B=256)
    end.record()
    torch.cuda.synchronize()
    assert abs(begin.elapsed_time(end) - ms) < 1e-4
    """)
