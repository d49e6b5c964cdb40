import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def mean(x, out, n, B: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0)
    if ATOMIC:
        tl.atomic_add(out, s / n)
    else:
        tl.store(out, tl.load(out) + s / n)


def run(n, atomic):
    x, out = torch.ones(n, device="cuda"), torch.zeros(1, device="cuda")
    mean[(triton.cdiv(n, 128),)](x, out, n, B=128, ATOMIC=atomic)
    return out


def test_mean():
    torch.testing.assert_close(run(1024, atomic=True).cpu(), torch.ones(1))


def test_without_atomics():
    run(1024, atomic=False)


@pytest.mark.palladion(expect="PLD6001")
def test_that_the_race_is_found():
    run(1024, atomic=False)
