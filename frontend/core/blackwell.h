#pragma once
// Pallas' words for Blackwell (sm_100): tensor memory, tcgen05, cluster launch control. They are refused by
// name; this file alone says so.
#include "frontend/core/refused.h"

namespace palladion::plgpu {

namespace detail {
inline constexpr const char *tensor_memory = "tensor memory is Blackwell's (sm_100), this chip has none",
                            *tcgen05 = "an instruction of Blackwell's tensor cores (sm_100)",
                            *launch_control = "cluster launch control is Blackwell's (sm_100)";
inline constexpr const char *use_acc = "Hopper's accumulators are registers: plgpu::ACC and plgpu::wgmma",
                            *use_loop = "deal the steps of a fixed grid with plgpu::nd_loop";
constexpr frontend::Refused of_tmem(const char* name) { return {name, tensor_memory, use_acc}; }
constexpr frontend::Refused of_tcgen05(const char* name) { return {name, tcgen05, use_acc}; }
constexpr frontend::Refused of_launch_control(const char* name) { return {name, launch_control, use_loop}; }
}  // namespace detail

inline constexpr frontend::Refused TMEM = detail::of_tmem("plgpu::TMEM");
struct TMEMLayout {
  static constexpr frontend::Refused SCALES_LAYOUT = detail::of_tmem("plgpu::TMEMLayout::SCALES_LAYOUT"),
                                     SPARSE_METADATA_LAYOUT =
                                         detail::of_tmem("plgpu::TMEMLayout::SPARSE_METADATA_LAYOUT"),
                                     M64_COLLECTIVE_LAYOUT =
                                         detail::of_tmem("plgpu::TMEMLayout::M64_COLLECTIVE_LAYOUT"),
                                     SCALES_M64_COLLECTIVE_LAYOUT =
                                         detail::of_tmem("plgpu::TMEMLayout::SCALES_M64_COLLECTIVE_LAYOUT");
};
inline constexpr frontend::Refused async_copy_scales_to_tmem =
                                       detail::of_tmem("plgpu::async_copy_scales_to_tmem"),
                                   async_copy_smem_to_tmem =
                                       detail::of_tmem("plgpu::async_copy_smem_to_tmem"),
                                   async_copy_sparse_metadata_to_tmem =
                                       detail::of_tmem("plgpu::async_copy_sparse_metadata_to_tmem"),
                                   async_load_tmem = detail::of_tmem("plgpu::async_load_tmem"),
                                   async_store_tmem = detail::of_tmem("plgpu::async_store_tmem"),
                                   commit_tmem = detail::of_tmem("plgpu::commit_tmem"),
                                   wait_load_tmem = detail::of_tmem("plgpu::wait_load_tmem");
inline constexpr frontend::Refused tcgen05_mma = detail::of_tcgen05("plgpu::tcgen05_mma"),
                                   tcgen05_commit_arrive = detail::of_tcgen05("plgpu::tcgen05_commit_arrive"),
                                   format_tcgen05_sparse_metadata =
                                       detail::of_tcgen05("plgpu::format_tcgen05_sparse_metadata");
inline constexpr frontend::Refused try_cluster_cancel =
                                       detail::of_launch_control("plgpu::try_cluster_cancel"),
                                   query_cluster_cancel =
                                       detail::of_launch_control("plgpu::query_cluster_cancel"),
                                   TryClusterCancelResult =
                                       detail::of_launch_control("plgpu::TryClusterCancelResult"),
                                   dynamic_scheduling_loop =
                                       detail::of_launch_control("plgpu::dynamic_scheduling_loop");

// Of copies into both CTAs of a pair (cta_group::2).
struct CopyPartition {
  static constexpr frontend::Refused PARTITIONED{
      "plgpu::CopyPartition::PARTITIONED",
      "copies that the leader of a pair of CTAs tracks are Blackwell's (sm_100)",
      "a collective copy (.collective_axes) arrives at each CTA's own barrier"},
      REPLICATED{"plgpu::CopyPartition::REPLICATED", PARTITIONED.reason(), PARTITIONED.instead()};
};

}  // namespace palladion::plgpu
