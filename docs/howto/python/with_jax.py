import functools

import jax
import jax.numpy as jnp
import numpy as np
import palladion
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


@functools.partial(plgpu.kernel, out_type=jax.ShapeDtypeStruct((256,), jnp.float32),
                   scratch_types=dict(tile=plgpu.SMEM((128,), jnp.float32)), grid=(2,), grid_names=("i",))
def double(x, out, *, tile):
    here = pl.ds(jax.lax.axis_index("i") * 128, 128)
    tile[...] = x[here] * 2
    plgpu.copy_smem_to_gmem(tile, out.at[here])  # commit_smem() is missing
    plgpu.wait_smem_to_gmem(0)


print(palladion.check(jax.jit(lambda x: double(x) + 1), np.ones(256, np.float32)))
