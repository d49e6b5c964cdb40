#pragma once
// Pallas' words for Blackwell (sm_100) that are not there yet. They are refused by name; this file alone says
// so.
#include "frontend/core/refused.h"

namespace palladion::plgpu {

namespace detail {
inline constexpr const char* scales =
    "block scales, sparse operands and copies to tensor memory are not supported";
constexpr frontend::Refused of_tmem(const char* name) { return {name, scales}; }
}  // namespace detail

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
                                       detail::of_tmem("plgpu::async_copy_sparse_metadata_to_tmem");
inline constexpr frontend::Refused format_tcgen05_sparse_metadata =
    detail::of_tmem("plgpu::format_tcgen05_sparse_metadata");

}  // namespace palladion::plgpu
