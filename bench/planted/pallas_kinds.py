"""Planted mistakes in Pallas' Mosaic GPU: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

RIGHT = sys.argv[2] == "right"
KINDS = {}
TILE = plgpu.SMEM((64, 64), jnp.float16)
TILED = plgpu.SMEM((64, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)))


def kind(name, scratch, **options):
    def take(body):
        KINDS[name] = (body, scratch, options)
        return body
    return take


@kind("copy-not-waited", [TILE, plgpu.Barrier()])
def copy_not_waited(a, b, d, tile, full):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)  # MISTAKE copy-not-waited
    if RIGHT:
        plgpu.barrier_wait(full)
    values = tile[...]  # MISTAKE copy-not-waited
    if not RIGHT:
        plgpu.barrier_wait(full)
    tile[...] = values + values
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("store-without-fence", [TILE])
def store_without_fence(a, b, d, tile):
    tile[...] = jnp.full((64, 64), 1, jnp.float16)  # MISTAKE store-without-fence
    if RIGHT:
        plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])  # MISTAKE store-without-fence
    plgpu.wait_smem_to_gmem(0)


@kind("store-not-waited", [TILE])
def store_not_waited(a, b, d, tile):
    tile[...] = jnp.full((64, 64), 1, jnp.float16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])  # MISTAKE store-not-waited
    if RIGHT:
        plgpu.wait_smem_to_gmem(0)
    tile[...] = jnp.full((64, 64), 2, jnp.float16)  # MISTAKE store-not-waited
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(64, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("mbarrier-count", [TILE, plgpu.Barrier(num_arrivals=1 if RIGHT else 2)])
def mbarrier_count(a, b, d, tile, full):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
    plgpu.barrier_wait(full)  # MISTAKE mbarrier-count
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("one-wait-too-many", [TILE, plgpu.Barrier()])
def one_wait_too_many(a, b, d, tile, full):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
    plgpu.barrier_wait(full)
    if not RIGHT:
        plgpu.barrier_wait(full)  # MISTAKE one-wait-too-many
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("operand-overwritten", [TILED, TILED, plgpu.Barrier(num_arrivals=2), plgpu.Barrier(), plgpu.ACC((64, 64), jnp.float32)])
def operand_overwritten(a, b, d, x, y, full, again, acc):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], x, full)
    plgpu.copy_gmem_to_smem(b.at[pl.ds(0, 64)], y, full)
    plgpu.barrier_wait(full)
    plgpu.wgmma(acc, x, y)  # MISTAKE operand-overwritten
    if RIGHT:
        plgpu.wgmma_wait(0)
    plgpu.copy_gmem_to_smem(a.at[pl.ds(64, 64)], x, again)  # MISTAKE operand-overwritten
    plgpu.barrier_wait(again)
    plgpu.wgmma(acc, x, y)
    d[pl.ds(0, 64)] = acc[...].astype(jnp.float16)


@kind("tiles-overlap", [TILE, plgpu.Barrier()], grid=(2,), grid_names=("m",))
def tiles_overlap(a, b, d, tile, full):
    m = jax.lax.axis_index("m")
    plgpu.copy_gmem_to_smem(a.at[pl.ds(m * 64, 64)], tile, full)
    plgpu.barrier_wait(full)
    step = 64 if RIGHT else 32
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(m * step, 64)])  # MISTAKE tiles-overlap
    plgpu.wait_smem_to_gmem(0)


@kind("never-arrives", [TILE, plgpu.Barrier(), plgpu.Barrier(num_arrivals=1)], num_threads=2, thread_name="wg")
def never_arrives(a, b, d, tile, full, empty):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _produce():
        plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
        plgpu.barrier_wait(empty)  # MISTAKE never-arrives
        plgpu.copy_gmem_to_smem(a.at[pl.ds(64, 64)], tile, full)

    @pl.when(wg == 1)
    def _consume():
        plgpu.barrier_wait(full)
        d[pl.ds(0, 64)] = tile[...]
        if RIGHT:
            plgpu.commit_smem()  # the copy that refills is of another proxy than these loads
            plgpu.barrier_arrive(empty)
        plgpu.barrier_wait(full)
        d[pl.ds(64, 64)] = tile[...]


@kind("slot-refilled", [TILE, plgpu.Barrier(), plgpu.Barrier(num_arrivals=1)], num_threads=2, thread_name="wg")
def slot_refilled(a, b, d, tile, full, empty):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _produce():
        plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
        plgpu.barrier_wait(empty)
        plgpu.copy_gmem_to_smem(a.at[pl.ds(64, 64)], tile, full)  # MISTAKE slot-refilled

    @pl.when(wg == 1)
    def _consume():
        plgpu.barrier_wait(full)
        if not RIGHT:
            plgpu.commit_smem()
            plgpu.barrier_arrive(empty)
        d[pl.ds(0, 64)] = tile[...]  # MISTAKE slot-refilled
        if RIGHT:
            plgpu.commit_smem()  # the copy that refills is of another proxy than these loads
            plgpu.barrier_arrive(empty)
        plgpu.barrier_wait(full)
        d[pl.ds(64, 64)] = tile[...]


@kind("two-warpgroups-no-barrier", [TILE], num_threads=2, thread_name="wg")
def two_warpgroups_no_barrier(a, b, d, tile):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _store():
        tile[...] = jnp.full((64, 64), 1, jnp.float16)  # MISTAKE two-warpgroups-no-barrier

    @pl.when(wg == (0 if RIGHT else 1))
    def _load():
        d[pl.ds(0, 64)] = tile[...]  # MISTAKE two-warpgroups-no-barrier


if __name__ == "__main__":
    body, scratch, options = KINDS[sys.argv[1]]
    numbers = np.random.default_rng(1)
    a, b = (jnp.asarray(numbers.random((128, 64)), jnp.float16) for _ in range(2))
    kernel = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128, 64), jnp.float16), scratch_types=scratch, **options)
    jax.block_until_ready(jax.jit(kernel)(a, b))
