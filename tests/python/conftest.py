"""Kernels that several tests run."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

numpy = pytest.importorskip("numpy")

# One CTA of 64 threads: y[i] = a * x[63 - i] + y[i], with x exchanged through shared memory.
REVERSED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry reversed(.param .u64 x, .param .u64 y, .param .f32 a)
.reqntid 64
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile;
  add.u32 %r2, %r2, %r3;
  st.shared.f32 [%r2], %f2;
  BARRIER
  mov.u32 %r4, 252;
  add.u32 %r4, %r4, %r3;
  sub.u32 %r4, %r4, %r2;
  add.u32 %r4, %r4, %r3;
  ld.shared.f32 %f3, [%r4];
  ld.global.f32 %f4, [%rd5];
  fma.rn.f32 %f4, %f1, %f3, %f4;
  st.global.f32 [%rd5], %f4;
  ret;
}
"""


@pytest.fixture
def good():
    import palladion
    return palladion.load(REVERSED.replace("BARRIER", "bar.sync 0;"), name="good.ptx")["reversed"]


@pytest.fixture
def racy():
    import palladion
    return palladion.load(REVERSED.replace("BARRIER", ""), name="racy.ptx")["reversed"]


@pytest.fixture
def arrays():
    return numpy.arange(64, dtype=numpy.float32), numpy.ones(64, numpy.float32)
