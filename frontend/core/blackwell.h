#pragma once
// Pallas' words for Blackwell (sm_100) that are not there yet. They are refused by name; this file alone says
// so.
#include "frontend/core/refused.h"

namespace palladion::plgpu {

namespace detail {
inline constexpr const char *sparse_on_host =
                                "a function of JAX arrays: a kernel gets its metadata in the layout already",
                            *launch_control = "cluster launch control is not supported";
inline constexpr const char* use_loop = "deal the steps of a fixed grid with plgpu::nd_loop";
constexpr frontend::Refused of_launch_control(const char* name) { return {name, launch_control, use_loop}; }
}  // namespace detail

inline constexpr frontend::Refused format_tcgen05_sparse_metadata = {
    "plgpu::format_tcgen05_sparse_metadata", detail::sparse_on_host,
    "tile_sparse_metadata of arrays/tensor_core.h, on the host"};
inline constexpr frontend::Refused try_cluster_cancel =
                                       detail::of_launch_control("plgpu::try_cluster_cancel"),
                                   query_cluster_cancel =
                                       detail::of_launch_control("plgpu::query_cluster_cancel"),
                                   TryClusterCancelResult =
                                       detail::of_launch_control("plgpu::TryClusterCancelResult"),
                                   dynamic_scheduling_loop =
                                       detail::of_launch_control("plgpu::dynamic_scheduling_loop");

}  // namespace palladion::plgpu
