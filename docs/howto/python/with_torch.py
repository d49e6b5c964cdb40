import palladion

palladion.activate()  # before torch is imported
import palladion.torch

palladion.torch.install()
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, factor, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * factor)


x = torch.ones(1000, device="cuda")
scale[(8,)](x, 2.0, 1000, B=128)
for finding in palladion.findings():
    print(finding.code, finding.severity, "line", finding.line, finding.message)
palladion.clear_fault()
