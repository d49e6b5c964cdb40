"""Functions that torch.compile turns into Triton kernels."""
import common
import torch
import torch.nn.functional as F

torch.manual_seed(1)
CASES = []


def compiled(*shapes, kind=torch.float32, gradient=False):
    def with_function(function):
        def body():
            inputs = [torch.randn(s, device='cuda', dtype=kind, requires_grad=gradient) for s in shapes]
            out = torch.compile(function)(*inputs)
            if gradient:
                out.float().sum().backward()
            torch.cuda.synchronize()
        body.__name__ = function.__name__
        CASES.append(body)
        return function
    return with_function


@compiled((64, 300))
def softmax(x): return torch.softmax(x, -1)
@compiled((64, 300), kind=torch.bfloat16)
def softmax_bf16(x): return torch.softmax(x, -1)
@compiled((64, 256), (256,), (256,), gradient=True)
def layer_norm(x, w, b): return F.layer_norm(x, (256,), w, b)
@compiled((64, 256), (256,), kind=torch.float16)
def rms_norm(x, w): return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5).half() * w
@compiled((50, 90), gradient=True)
def gelu(x): return F.gelu(x)
@compiled((50, 90), (50, 90), kind=torch.bfloat16)
def swiglu(x, y): return F.silu(x) * y
@compiled((32, 500), gradient=True)
def cross_entropy(x): return F.cross_entropy(x, torch.arange(32, device='cuda'))
@compiled((40, 60), (60, 40))
def transposed_sum(x, y): return (x + y.t()).sum(0)
@compiled((4, 8, 16, 16), gradient=True)
def batch_norm(x): return F.batch_norm(x, None, None, training=True)
@compiled((2, 8, 16, 16))
def pooling(x): return F.max_pool2d(F.relu(x), 2)
@compiled((2, 8, 16, 16))
def upsample(x): return F.interpolate(x, scale_factor=2, mode='bilinear')
@compiled((64, 128))
def cumulative(x): return torch.cumsum(x, -1)
@compiled((64, 128))
def sorted_rows(x): return torch.sort(x[:, :64], -1)[0]
@compiled((64, 128))
def arg_max(x): return torch.argmax(x, -1)
@compiled((64, 128))
def variance(x): return torch.var_mean(x, -1)
@compiled((10000,))
def large_sum(x): return (x * x).sum()
@compiled((64, 128), (64, 128))
def wave(x, y): return torch.sin(x) * torch.exp(-y * y) + torch.atan2(x, y) + torch.erf(x) + torch.lgamma(y.abs() + 1)
@compiled((64, 128))
def dropout(x): return F.dropout(x, 0.3, True)
@compiled((100, 32))
def embedding(x): return x[torch.arange(0, 100, 3, device='cuda')] * 2
@compiled((100, 32))
def scatter(x): return torch.zeros(10, 32, device='cuda').index_add(0, torch.arange(100, device='cuda') % 10, x)
@compiled((2, 4, 64, 32), kind=torch.float16)
def rotary(x):
    a, b = x.chunk(2, -1)
    t = torch.arange(64, device='cuda')[:, None] * torch.exp(-torch.arange(16, device='cuda') / 4)
    return torch.cat([a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()], -1).half()
@compiled((64, 64), (64, 64), (64, 64))
def adam(p, g, m):
    n = 0.9 * m + 0.1 * g
    return p - 0.01 * n / (torch.sqrt(g * g * 0.01) + 1e-8)
@compiled((64, 128))
def quantize(x):
    s = x.abs().amax(-1, keepdim=True) / 127
    return torch.clamp(torch.round(x / s), -128, 127).to(torch.int8)
@compiled((64, 128))
def to_fp8(x): return x.to(torch.float8_e4m3fn)
@compiled((128, 128))
def logsumexp(x): return torch.logsumexp(x, 0)
@compiled((3, 3, 32, 32))
def padded(x): return F.pad(x, (1, 2, 3, 4), 'reflect')
@compiled((32, 32), kind=torch.float64)
def doubles(x): return torch.tanh(x) / (1 + torch.exp(x)) + torch.log1p(x.abs())


if __name__ == '__main__':
    common.main(CASES)
