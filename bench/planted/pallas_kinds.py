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


@kind("half-filled", [TILE, plgpu.Barrier()])
def half_filled(a, b, d, tile, full):
    rows = pl.ds(0, 64 if RIGHT else 32)
    plgpu.copy_gmem_to_smem(a.at[rows], tile.at[rows], full)
    plgpu.barrier_wait(full)
    d[pl.ds(0, 64)] = tile[...]  # MISTAKE half-filled


@kind("one-store-left", [TILE, TILE])
def one_store_left(a, b, d, x, y):
    for k, tile in enumerate((x, y)):
        tile[...] = jnp.full((64, 64), k, jnp.float16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(64 * k, 64)])  # MISTAKE one-store-left
    plgpu.wait_smem_to_gmem(0 if RIGHT else 1)
    y[...] = jnp.full((64, 64), 3, jnp.float16)  # MISTAKE one-store-left
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(y, d.at[pl.ds(0, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("store-not-committed", [TILE])
def store_not_committed(a, b, d, tile):
    tile[...] = jnp.full((64, 64), 1, jnp.float16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)], commit_group=RIGHT)  # MISTAKE store-not-committed
    plgpu.wait_smem_to_gmem(0)
    tile[...] = jnp.full((64, 64), 2, jnp.float16)  # MISTAKE store-not-committed
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(64, 64)])
    plgpu.wait_smem_to_gmem(0)


@kind("operand-stored", [TILED, TILED, plgpu.Barrier(num_arrivals=2), plgpu.ACC((64, 64), jnp.float32)])
def operand_stored(a, b, d, x, y, full, acc):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], x, full)
    plgpu.copy_gmem_to_smem(b.at[pl.ds(0, 64)], y, full)
    plgpu.barrier_wait(full)
    plgpu.wgmma(acc, x, y)  # MISTAKE operand-stored
    if RIGHT:
        plgpu.wgmma_wait(0)
    x[...] = plgpu.layout_cast(jnp.full((64, 64), 2, jnp.float16), plgpu.Layout.WGMMA)  # MISTAKE operand-stored
    plgpu.commit_smem()
    plgpu.wgmma(acc, x, y)
    d[pl.ds(0, 64)] = acc[...].astype(jnp.float16)


@kind("pipeline-released-early", [plgpu.ACC((64, 64), jnp.float32)])
def pipeline_released_early(a, b, d, acc):
    def step(_, x, y):
        plgpu.wgmma(acc, x, y)  # MISTAKE pipeline-released-early
        plgpu.wgmma_wait(1)

    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    spec = plgpu.BlockSpec((64, 64), lambda k: (k % 2, 0), transforms=transforms, delay_release=1 if RIGHT else 0)
    plgpu.emit_pipeline(step, grid=(6,), in_specs=[spec, spec], max_concurrent_steps=2)(a, b)  # MISTAKE pipeline-released-early
    d[pl.ds(0, 64)] = acc[...].astype(jnp.float16)


@kind("two-copies-one-arrival", [TILE, TILE, plgpu.Barrier(num_arrivals=2 if RIGHT else 1)])
def two_copies_one_arrival(a, b, d, x, y, full):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], x, full)
    plgpu.copy_gmem_to_smem(b.at[pl.ds(0, 64)], y, full)  # MISTAKE two-copies-one-arrival
    plgpu.barrier_wait(full)
    d[pl.ds(0, 64)] = x[...] + y[...]  # MISTAKE two-copies-one-arrival


@kind("wrong-slot", [plgpu.SMEM((2, 64, 64), jnp.float16), plgpu.Barrier(num_barriers=2)])
def wrong_slot(a, b, d, tiles, full):
    for k in range(2):
        plgpu.copy_gmem_to_smem(a.at[pl.ds(64 * k, 64)], tiles.at[k], full.at[k])  # MISTAKE wrong-slot
    for k in range(2):
        plgpu.barrier_wait(full.at[k])
        slot = k if RIGHT else 1 - k
        d[pl.ds(64 * k, 64)] = tiles[slot]  # MISTAKE wrong-slot


@kind("one-consumer-frees", [TILE, plgpu.Barrier(), plgpu.Barrier(num_arrivals=2 if RIGHT else 1)], num_threads=3, thread_name="wg")
def one_consumer_frees(a, b, d, tile, full, empty):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def _produce():
        plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
        plgpu.barrier_wait(empty)
        plgpu.copy_gmem_to_smem(a.at[pl.ds(64, 64)], tile, full)  # MISTAKE one-consumer-frees

    @pl.when(wg > 0)
    def _consume():
        half = pl.ds((wg - 1) * 32, 32)
        plgpu.barrier_wait(full)
        d[half] = tile[half]  # MISTAKE one-consumer-frees
        plgpu.commit_smem()
        if RIGHT:
            plgpu.barrier_arrive(empty)
        else:
            pl.when(wg == 1)(lambda: plgpu.barrier_arrive(empty))
        plgpu.barrier_wait(full)
        d[pl.ds(64 + (wg - 1) * 32, 32)] = tile[half]


@kind("two-ctas-one-tile", [], grid=(2,), grid_names=("m",))
def two_ctas_one_tile(a, b, d):
    m = jax.lax.axis_index("m")
    where = pl.ds(m * 64, 64) if RIGHT else pl.ds(0, 64)
    d[where] = jnp.full((64, 64), 1, jnp.float16) * m.astype(jnp.float16)  # MISTAKE two-ctas-one-tile


@kind("global-past-end", [], grid=(3,), grid_names=("m",))
def global_past_end(a, b, d):
    m = jax.lax.axis_index("m")

    @pl.when(m < (2 if RIGHT else 3))
    def _():
        x = a[pl.ds(m * 64, 64)]  # MISTAKE global-past-end
        d[pl.ds(m * 64, 64)] = x + x


@kind("signal-forgotten", [], grid=(2,), grid_names=("m",))
def signal_forgotten(a, b, d):
    m, ready = jax.lax.axis_index("m"), pl.get_global(plgpu.SemaphoreType.REGULAR)

    @pl.when(m == 0)
    def _signal():
        d[pl.ds(0, 64)] = a[pl.ds(0, 64)]
        if RIGHT:
            pl.semaphore_signal(ready)

    @pl.when(m == 1)
    def _wait():
        pl.semaphore_wait(ready)  # MISTAKE signal-forgotten
        d[pl.ds(64, 64)] = d[pl.ds(0, 64)]


@kind("signal-not-waited", [], grid=(2,), grid_names=("m",))
def signal_not_waited(a, b, d):
    m, ready = jax.lax.axis_index("m"), pl.get_global(plgpu.SemaphoreType.REGULAR)

    @pl.when(m == 0)
    def _signal():
        d[pl.ds(0, 64)] = a[pl.ds(0, 64)]  # MISTAKE signal-not-waited
        pl.semaphore_signal(ready)

    @pl.when(m == 1)
    def _wait():
        if RIGHT:
            pl.semaphore_wait(ready)
        d[pl.ds(64, 64)] = d[pl.ds(0, 64)]  # MISTAKE signal-not-waited
        if not RIGHT:
            pl.semaphore_wait(ready)


@kind("remote-store-not-waited", [TILED, plgpu.Barrier()], cluster=(2,), cluster_names=("c",))
def remote_store_not_waited(a, b, d, tile, full):
    c = jax.lax.axis_index("c")
    x = plgpu.load(a.at[pl.ds(c * 64, 64)], (), layout=plgpu.Layout.WGMMA, optimized=False)
    plgpu.async_store_smem(x, tile, full, cluster_idx=1 - c, cluster_dim="c")  # MISTAKE remote-store-not-waited
    if RIGHT:
        plgpu.barrier_wait(full)
    d[pl.ds(c * 64, 64)] = plgpu.load(tile, (), layout=plgpu.Layout.WGMMA)  # MISTAKE remote-store-not-waited
    if not RIGHT:
        plgpu.barrier_wait(full)


@kind("half-stored", [TILE, plgpu.Barrier()])
def half_stored(a, b, d, tile, full):
    tile[pl.ds(0, 64 if RIGHT else 32)] = jnp.full((64 if RIGHT else 32, 64), 1, jnp.float16)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(tile, d.at[pl.ds(0, 64)])  # MISTAKE half-stored
    plgpu.wait_smem_to_gmem(0)


@kind("refill-without-fence", [TILE, plgpu.Barrier()])
def refill_without_fence(a, b, d, tile, full):
    plgpu.copy_gmem_to_smem(a.at[pl.ds(0, 64)], tile, full)
    plgpu.barrier_wait(full)
    d[pl.ds(0, 64)] = tile[...]  # MISTAKE refill-without-fence
    if RIGHT:
        plgpu.commit_smem()
    plgpu.copy_gmem_to_smem(a.at[pl.ds(64, 64)], tile, full)  # MISTAKE refill-without-fence
    plgpu.barrier_wait(full)
    d[pl.ds(64, 64)] = tile[...]


if __name__ == "__main__":
    body, scratch, options = KINDS[sys.argv[1]]
    numbers = np.random.default_rng(1)
    a, b = (jnp.asarray(numbers.random((128, 64)), jnp.float16) for _ in range(2))
    kernel = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128, 64), jnp.float16), scratch_types=scratch, **options)
    jax.block_until_ready(jax.jit(kernel)(a, b))
