#pragma once
// Pallas' public names without a meaning here, whatever the chip: those of several devices, of other
// back ends, of Python. tests/frontend/pallas_names_test.cpp lists every name; frontend/pallas_names.md shows
// the list.
#include "frontend/core/refused.h"

namespace palladion::plgpu {

inline constexpr frontend::Refused multicast_ref{
    "plgpu::multicast_ref", "NVLink multicast needs several devices, the machine has one"},
    multimem_load_reduce{"plgpu::multimem_load_reduce", multicast_ref.reason()},
    multimem_store{"plgpu::multimem_store", multicast_ref.reason()},
    semaphore_signal_multicast{"plgpu::semaphore_signal_multicast", multicast_ref.reason(),
                               "semaphores of one device: plgpu::semaphore_signal"},
    remote_ref{"plgpu::remote_ref", "memory of a peer device; the machine has one device",
               "SMEM of another CTA of the cluster: plgpu::cluster_ref"},
    PeerMemRef{"plgpu::PeerMemRef", remote_ref.reason(), remote_ref.instead()},
    as_torch_kernel{"plgpu::as_torch_kernel", "it wraps a Python function for torch",
                    "palladion run and the library palladion::run call kernels on arrays"},
    format_tcgen05_sparse_metadata{"plgpu::format_tcgen05_sparse_metadata",
                                   "a function of JAX arrays: a kernel gets its metadata in order",
                                   "tile_sparse_metadata of verify/arrays/tensor_core.h, on the host"},
    inline_mgpu{"plgpu::inline_mgpu", "its body is Python that builds MLIR", "write PTX: plgpu::inline_ptx"},
    transform_ref{"plgpu::transform_ref", "transforms belong to an allocation",
                  "plgpu::SMEM(shape, dtype, {.transforms = {...}}); views are ref.at, .transpose, .reshape"},
    wait_gmem_to_smem{
        "plgpu::wait_gmem_to_smem",
        "it waits for cp.async, the copies of chips before Hopper; in JAX a ValueError on sm_90",
        "copy_gmem_to_smem arrives at a barrier: plgpu::barrier_wait(barrier)"};

}  // namespace palladion::plgpu

namespace palladion::pl {

inline constexpr frontend::Refused HOST{"pl::HOST", "kernels do not reach the host's memory",
                                        "inputs and outputs are in GMEM: pl::ANY"},
    Buffered{"pl::Buffered", "JAX's Mosaic GPU takes no pipeline_mode either",
             "the number of buffers is .max_concurrent_steps of the pipeline"},
    RevisitMode{"pl::RevisitMode", "an option of pl::Buffered, which JAX's Mosaic GPU does not take"},
    BoundedSlice{"pl::BoundedSlice", "a TMA box has a fixed size; JAX's Mosaic GPU does not take it either",
                 "pl::Element(n) starts anywhere, and what lies outside of the array is zeros"},
    Indirect{"pl::Indirect", "a BlockSpec with an array of indices is TPU's",
             "index rows one by one, or load with an array of indices"},
    select_ref{"pl::select_ref", "which reference is meant is decided while recording; JAX has it for TPUs",
               "index one array with a pl::Scalar: x.at(slot)"},
    enable_poison_buffers{"pl::enable_poison_buffers",
                          "the machine knows which bytes were never written, and reports reads of them"},
    estimate_cost{"pl::estimate_cost", "it analyses a Python function",
                  "palladion run counts what a kernel does"},
    lower_as_mlir{"pl::lower_as_mlir", "there is no MLIR here", "palladion ptx prints a kernel"},
    pallas_export_experimental{"pl::pallas_export_experimental", "it exports a JAX function",
                               "palladion ptx prints a kernel"},
    pallas_call_p{"pl::pallas_call_p", "a primitive of JAX's tracer", "pl::pallas_call"},
    dot{"pl::dot", "deprecated in JAX: it is jnp.dot", "plgpu::wgmma, or plgpu::mma"};

}  // namespace palladion::pl
