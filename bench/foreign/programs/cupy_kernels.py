"""Kernels that CuPy generates and compiles with NVRTC: elementwise, reductions, scans, images, signals."""
import common
import cupy as cp
import cupyx.scipy.ndimage as images
import cupyx.scipy.signal as signals
import cupyx.scipy.special as special

# No pool: each array is an allocation of its own.
cp.cuda.set_allocator(None)
R = cp.random.RandomState(3)


def numbers(*shape, kind='f4'):
    return (R.standard_normal(shape) * 4).astype(kind)


CASES = []


def case(function):
    CASES.append(function)
    return function


def elementwise(name, function, *kinds):
    def body():
        function(*[numbers(37, 129, kind=k) for k in kinds])
        cp.cuda.Device().synchronize()
    body.__name__ = name
    CASES.append(body)


for operator in 'add multiply divide arctan2 fmod hypot logaddexp power maximum copysign nextafter'.split():
    elementwise(operator, getattr(cp, operator), 'f4', 'f4')
for operator in 'exp log1p sin cos tan tanh arcsin sqrt cbrt floor rint sinc i0 square'.split():
    elementwise(operator + '_f4', getattr(cp, operator), 'f4')
for operator in 'exp sin log1p'.split():
    elementwise(operator + '_f8', getattr(cp, operator), 'f8')
elementwise('exp_f2', cp.exp, 'f2')
for operator in 'gcd left_shift bitwise_xor floor_divide remainder'.split():
    elementwise(operator + '_i4', getattr(cp, operator), 'i4', 'i4')
for operator in 'gamma gammaln erf erfinv digamma j0 ndtr zeta'.split():
    kinds = ['f4'] * (2 if operator == 'zeta' else 1)
    elementwise('special_' + operator, getattr(special, operator), *kinds)
for operator in 'sum prod max argmin mean var any nansum ptp'.split():
    elementwise('reduce_' + operator, lambda x, f=operator: getattr(cp, f)(x, axis=1), 'f4')
    elementwise('all_' + operator, getattr(cp, operator), 'f4')
elementwise('complex_exp', cp.exp, 'c8')
elementwise('half_sum', cp.sum, 'f2')
elementwise('clip', lambda x: cp.clip(x, -1, 1), 'f4')
elementwise('where', lambda x, y: cp.where(x > 0, x, y), 'f4', 'f4')
elementwise('take', lambda x: cp.take(x, cp.arange(7), axis=1), 'f4')
elementwise('roll', lambda x: cp.roll(x, 3, axis=1), 'f4')
elementwise('tril', cp.tril, 'f4')
elementwise('cumsum', lambda x: cp.cumsum(x.ravel()), 'f4')
elementwise('cumprod', lambda x: cp.cumprod(x, axis=1), 'f8')
elementwise('nonzero', cp.nonzero, 'f4')
elementwise('bincount', lambda x: cp.bincount(cp.abs(x.ravel()), minlength=64), 'i4')
elementwise('histogram', lambda x: cp.histogram(x, 17), 'f4')
elementwise('searchsorted', lambda x, y: cp.searchsorted(cp.arange(100, dtype='f4'), y), 'f4', 'f4')
elementwise('interp', lambda x: cp.interp(x, cp.arange(9.0), cp.arange(9.0) ** 2), 'f8')
elementwise('scatter_add', lambda x: cp.add.at(cp.zeros(50, 'f4'), cp.arange(37) % 9, x[:, 0]), 'f4')
elementwise('packbits', lambda x: cp.packbits(x > 0), 'f4')
elementwise('matmul_i4', lambda x: cp.matmul(x, x.T), 'i4')
elementwise('convolve', lambda x: cp.convolve(x[0], x[1, :9]), 'f4')
elementwise('percentile', lambda x: cp.percentile(x, 30), 'f4')
elementwise('gaussian', lambda x: images.gaussian_filter(x, 1.5), 'f4')
elementwise('median', lambda x: images.median_filter(x, 3), 'f4')
elementwise('uniform', lambda x: images.uniform_filter(x, 5), 'f4')
elementwise('dilation', lambda x: images.grey_dilation(x, 3), 'f4')
elementwise('erosion', lambda x: images.binary_erosion(x > 0), 'f4')
elementwise('zoom', lambda x: images.zoom(x, 1.5, order=1), 'f4')
elementwise('spline', lambda x: images.rotate(x, 20, order=3), 'f4')
elementwise('affine', lambda x: images.affine_transform(x, cp.eye(2)), 'f4')
elementwise('label', lambda x: images.label(x > 0), 'f4')
elementwise('distance', lambda x: images.distance_transform_edt(x > 0), 'f4')
elementwise('correlate2d', lambda x: signals.correlate2d(x, x[:5, :5]), 'f4')
elementwise('sosfilt', lambda x: signals.sosfilt(cp.array([[1, .5, .2, 1, .1, .1]]), x), 'f8')
elementwise('upfirdn', lambda x: signals.upfirdn(x[0, :7], x[1], 2, 3), 'f4')


@case
def random_numbers():
    g = cp.random.Generator(cp.random.Philox4x3210(5))
    for draw in (g.random, g.standard_normal, g.standard_exponential):
        draw(1000, dtype='f4')
    g.integers(0, 100, 1000)
    g.gamma(2.0, size=500)
    g.poisson(3.0, 500)


@case
def fused():
    @cp.fuse()
    def f(x, y):
        return cp.sum(cp.exp(x) * cp.tanh(y) + 1, axis=1)
    f(numbers(20, 65), numbers(20, 65))


@case
def own_kernels():
    k = cp.ElementwiseKernel('T x, T y', 'T z', 'z = x > y ? rsqrt(x * x + y) : fabs(y)', 'foreign_elementwise')
    k(numbers(1000), numbers(1000))
    r = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'foreign_norm')
    r(numbers(30, 100), axis=1)
    s = cp.RawKernel('extern "C" __global__ void foreign_raw(const float* x, float* y, int n) {'
                     ' __shared__ float t[128]; int i = blockIdx.x * 128 + threadIdx.x;'
                     ' t[threadIdx.x] = i < n ? x[i] : 0; __syncthreads();'
                     ' if (i < n) y[i] = t[127 - threadIdx.x]; }', 'foreign_raw')
    s((8,), (128,), (numbers(1000), cp.zeros(1000, 'f4'), 1000))


if __name__ == '__main__':
    common.main(CASES)
