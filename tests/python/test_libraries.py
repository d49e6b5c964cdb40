"""Calls of NVIDIA's libraries that are machine code alone, as CuPy makes them, under a plain `palladion exec`."""
import pytest
from test_exec import run

pytest.importorskip("cupy")


def test_products_and_transforms_are_computed_on_the_host_and_counted(tmp_path):
    out = run(tmp_path, """
    import cupy as cp, numpy as np
    rng = np.random.default_rng(1)
    for kind, bound in ((np.float16, 2e-2), (np.float32, 1e-5), (np.float64, 1e-12), (np.complex64, 1e-5), (np.complex128, 1e-12)):
        a, b = rng.random((3, 17, 13)).astype(kind), rng.random((3, 13, 11)).astype(kind)
        got = (cp.asarray(a) @ cp.asarray(b)).get()
        assert np.allclose(got, a @ b, rtol=0, atol=bound), kind
        assert np.allclose((cp.asarray(a[0]) @ cp.asarray(b[0])).get(), a[0] @ b[0], rtol=0, atol=bound), kind
    x = rng.random((6, 10, 15))
    for f in ("fft", "ifft", "rfft", "fft2", "rfft2", "fftn", "rfftn", "ifftn", "hfft", "ihfft"):
        assert np.allclose(getattr(cp.fft, f)(cp.asarray(x)).get(), getattr(np.fft, f)(x), rtol=0, atol=1e-11), f
    for axis in (0, 1):
        assert np.allclose(cp.fft.fft(cp.asarray(x), axis=axis).get(), np.fft.fft(x, axis=axis), rtol=0, atol=1e-11), axis
    assert np.allclose(cp.fft.irfftn(cp.asarray(np.fft.rfftn(x)), x.shape).get(), x)
    print("equal")
    """, "--json", str(tmp_path / "exec.json"))
    assert out == "equal\n"
    import json
    counted = {row["call"]: row["count"] for row in json.loads((tmp_path / "exec.json").read_text())["computed_on_host"]}
    assert counted["cublasGemmStridedBatchedEx"] >= 4 and counted["cufftExecZ2Z"] >= 6


def test_linear_algebra_is_computed_on_the_host(tmp_path):
    out = run(tmp_path, """
    import cupy as cp, numpy as np
    rng = np.random.default_rng(1)
    for kind, bound in ((np.float32, 1e-3), (np.float64, 1e-10), (np.complex64, 1e-3), (np.complex128, 1e-10)):
        a = (rng.standard_normal((7, 7)) + 1j * rng.standard_normal((7, 7))).astype(kind)
        p, b = a @ a.conj().T + 7 * np.eye(7, dtype=kind), rng.random((7, 3)).astype(kind)
        same = lambda got, wanted: np.testing.assert_allclose(got.get(), wanted, rtol=bound, atol=bound)
        same(cp.linalg.cholesky(cp.asarray(p)), np.linalg.cholesky(p))
        same(cp.linalg.solve(cp.asarray(a), cp.asarray(b)), np.linalg.solve(a, b))
        same(cp.linalg.eigvalsh(cp.asarray(p)), np.linalg.eigvalsh(p))
        q, r = cp.linalg.qr(cp.asarray(a[:, :4]))
        same(q @ r, a[:, :4])
        u, s, v = cp.linalg.svd(cp.asarray(a[:, :4]), full_matrices=False)
        same(u * s @ v, a[:, :4])
    print("equal")
    """, "--json", str(tmp_path / "exec.json"))
    assert out == "equal\n"
    import json
    counted = {row["call"]: row["count"] for row in json.loads((tmp_path / "exec.json").read_text())["computed_on_host"]}
    assert counted["cusolverDnSpotrf"] == 1 and counted["cusolverDnZgesvd"] == 1


def test_sparse_matrices_are_computed_on_the_host(tmp_path):
    out = run(tmp_path, """
    import cupy as cp, numpy as np, cupyx.scipy.sparse as sparse, cupyx.scipy.sparse.linalg as linalg
    rng = np.random.default_rng(1)
    def matrix(rows, columns, kind):
        return (rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.4) * (1 + 1j * np.issubdtype(kind, np.complexfloating))).astype(kind)
    for kind, bound in ((np.float32, 1e-5), (np.float64, 1e-12), (np.complex64, 1e-5), (np.complex128, 1e-12)):
        a, b, c, x = matrix(5, 7, kind), matrix(7, 4, kind), matrix(5, 7, kind), matrix(7, 3, kind)
        same = lambda got, wanted: np.testing.assert_allclose(cp.asnumpy(got.toarray() if sparse.issparse(got) else got), wanted, rtol=bound, atol=bound)
        for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            s = form(sparse.csr_matrix(cp.asarray(a)))
            same(s, a), same(s.tocsr(), a), same(s.tocsc(), a), same(s.tocoo(), a), same(s.T, a.T)
            same(s @ cp.asarray(x), a @ x), same(s @ cp.asarray(x[:, 0]), a @ x[:, 0]), same(s.H @ cp.asarray(a), a.conj().T @ a)
            same(s @ sparse.csr_matrix(cp.asarray(b)), a @ b), same(s + sparse.csr_matrix(cp.asarray(c)), a + c)
        lower = np.tril(matrix(6, 6, kind)) + 3 * np.eye(6, dtype=kind)
        same(linalg.spsolve_triangular(sparse.csr_matrix(cp.asarray(lower)), cp.asarray(lower[:, :2].copy())), np.eye(6)[:, :2])
    print("equal")
    """, "--json", str(tmp_path / "exec.json"))
    assert out == "equal\n"
    import json
    counted = {row["call"]: row["count"] for row in json.loads((tmp_path / "exec.json").read_text())["computed_on_host"]}
    assert counted["cusparseSpMM"] >= 24 and counted["cusparseSpGEMM_copy"] == 12 and counted["cusparseSpSM_solve"] == 4


def test_random_numbers_of_a_seed_are_the_same(tmp_path):
    out = run(tmp_path, """
    import cupy as cp
    def numbers():
        cp.random.seed(3)
        return [cp.random.rand(1000), cp.random.normal(1.0, 2.0, 1001), cp.random.randint(0, 10, 1000), cp.random.poisson(4.0, 1000)]
    first, second = numbers(), numbers()
    assert all((a == b).all() for a, b in zip(first, second))
    for values, mean, deviation in zip(first, (0.5, 1.0, 4.5, 4.0), (0.29, 2.0, 2.87, 2.0)):
        assert abs(float(values.mean()) - mean) < 0.25 and abs(float(values.std()) - deviation) < 0.25
    print("the same")
    """)
    assert out == "the same\n"
