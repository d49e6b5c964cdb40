"""Functions of JAX as subjects: recorded under `palladion exec`, each launch judged."""
import functools
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # of this process
import numpy as np  # noqa: E402
import palladion  # noqa: E402
import pytest  # noqa: E402
from test_exec import run  # noqa: E402

jax = pytest.importorskip("jax")
pytest.importorskip("jax_cuda13_plugin")
import jax.numpy as jnp  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import mosaic_gpu as plgpu  # noqa: E402

X = np.arange(256, dtype=np.float32)


def through_shared_memory(racy):
    """Each CTA stores through shared memory; a racy one copies before all threads have written."""
    @functools.partial(plgpu.kernel, out_type=jax.ShapeDtypeStruct((256,), jnp.float32),
                       scratch_types=dict(tile=plgpu.SMEM((128,), jnp.float32)), grid=(2,), grid_names=("i",))
    def kernel(x, out, *, tile):
        at = pl.ds(jax.lax.axis_index("i") * 128, 128)
        tile[...] = x[at] * 2
        if not racy:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(tile, out.at[at])
        plgpu.wait_smem_to_gmem(0)
    return kernel


def test_a_function_has_a_result_for_each_launch_and_its_outputs():
    @jax.jit
    def f(x, scale):
        return {"y": through_shared_memory(False)(x) + scale["by"]}
    result = palladion.run(f, jnp.asarray(X), {"by": np.float32(1)})
    assert result.ok and result.verdict.word == "clean" and not result.findings, result
    assert np.array_equal(result.outputs["y"], 2 * X + 1)
    assert [r.json["kernel"].startswith("0001-kernel") for r in result.launches] == [True, False]  # XLA adds


def test_a_mistake_is_found_at_its_line():
    result = palladion.check(through_shared_memory(True), X)
    assert not result.ok and result.verdict.word == "errors"
    (race, *_) = result.findings
    assert race.code == "PLD4309" and race.file.endswith("test_jax.py"), race
    line = pathlib.Path(race.file).read_text().splitlines()[race.line - 1]
    assert "copy_smem_to_gmem" in line
    with pytest.raises(palladion.FindingsError, match="PLD4309"):
        result.expect_clean()
    assert "copy_smem_to_gmem" in result.report()


def test_outputs_are_compared_and_launches_timed():
    kernel = through_shared_memory(False)
    assert palladion.compare(kernel, X, wanted=2 * X).ok
    wrong = palladion.compare(kernel, X, wanted=2 * X + np.eye(1, 256, 7, dtype=np.float32)[0])
    assert not wrong.ok and wrong.comparisons[0].differing == 1 and wrong.comparisons[0].first["index"] == [7]
    with pytest.raises(TypeError):
        palladion.compare(kernel, X)
    timed = palladion.time(kernel, X)
    assert timed.cycles > 1000 and timed.microseconds > 0.5 and len(timed.launches) == 1


def test_a_launch_that_faults_is_a_finding():
    @functools.partial(plgpu.kernel, out_type=jax.ShapeDtypeStruct((128,), jnp.float32))
    def far(x, begin, out):
        out[...] = plgpu.load(x, (pl.ds(begin[0], 128),), optimized=False)
    result = palladion.check(far, X, np.array([1 << 29], np.int32))
    assert result.verdict.word == "errors" and result.outputs is None
    assert result.findings[0].fatal and result.findings[0].code == "PLD3022"


def test_what_is_no_function_of_jax_says_so():
    with pytest.raises(palladion.Error, match="is no kernel"):
        palladion.run(3, X)


def test_convolutions_are_computed_on_the_host_and_counted(tmp_path):
    """In place of cuDNN. The values are those of JAX on the host."""
    out = run(tmp_path, """
    import jax, jax.numpy as jnp, numpy as np
    from jax import lax
    host, rng = jax.devices("cpu")[0], np.random.default_rng(1)
    some = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    convolve = lax.conv_general_dilated
    loss = lambda x, w, **more: jnp.sum(jnp.square(convolve(x, w, (1, 1), "SAME", **more)))
    x, w, b = some(2, 4, 7, 6), some(8, 4, 3, 3), some(8)
    for f, arguments in (
            (lambda x, w: convolve(x, w, (2, 1), ((0, 3), (1, 0)), rhs_dilation=(1, 2)), (x, w)),
            (lambda x, w, b: jax.nn.relu(convolve(x, w, (1, 1), "SAME") + b[None, :, None, None]), (x, w, b)),
            (lambda x, w: convolve(x, w, (1, 1), "SAME", feature_group_count=2), (x, w[:, :2])),
            (lambda x, w: convolve(x, w, (1, 1), "SAME", batch_group_count=2), (x, w)),
            (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")), (x, w)),
            (lambda x, w: convolve(x, w, (1,), "SAME"), (some(2, 3, 9), some(5, 3, 4))),
            (lambda x, w: convolve(x, w, (1, 2, 1), "SAME"), (some(1, 2, 4, 5, 3), some(3, 2, 2, 3, 2))),
            (jax.grad(loss, (0, 1)), (x, w)),
            (jax.grad(lambda x, w: loss(x, w, feature_group_count=2), (0, 1)), (x, w[:, :2]))):
        with jax.default_device(host):
            wanted = jax.tree.leaves(jax.jit(f)(*(jax.device_put(a, host) for a in arguments)))
        for g, v in zip(jax.tree.leaves(jax.jit(f)(*map(jnp.asarray, arguments))), wanted):
            assert np.allclose(g, v, rtol=1e-4, atol=1e-3), abs(np.asarray(g) - np.asarray(v)).max()
    print("equal")
    """, "--check", "all", "--json", str(tmp_path / "exec.json"), JAX_PLATFORMS="cuda,cpu", XLA_PYTHON_CLIENT_PREALLOCATE="false")
    assert out == "equal\n"
    import json
    counted = {row["call"]: row["count"] for row in json.loads((tmp_path / "exec.json").read_text())["computed_on_host"]}
    assert counted["cudnnBackendExecute"] >= 9
