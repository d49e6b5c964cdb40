// Registers to the shared memory of another CTA of the cluster (st.async, red.async).
#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "frontend/memory/copies.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

// st.async moves words of 32 and 64 bits; red.async has integer types only.
std::string_view word_type(const Array& a, const std::string& atomic) {
  const DType d = a.dtype();
  if (atomic.empty()) {
    if (pl::bits(d) == 64) return "b64";
    return pl::bits(d) == 32 || a.pack() * pl::bits(d) == 32 ? "b32" : "";
  }
  if (atomic == "and" || atomic == "or" || atomic == "xor")
    return pl::is_integer(d) && pl::bits(d) == 32 ? "b32" : "";
  if (atomic == "inc" || atomic == "dec") return d == DType::u32 ? "u32" : "";
  if (atomic == "min" || atomic == "max") return d == DType::u32 ? "u32" : d == DType::s32 ? "s32" : "";
  if (atomic == "add")
    return d == DType::u32   ? "u32"
           : d == DType::s32 ? "s32"
           : d == DType::u64 ? "u64"
           : d == DType::s64 ? "s64"
                             : "";
  return "";
}

}  // namespace

void async_store_smem(const Array& src, const Ref& ref, const BarrierRef& barrier,
                      const AsyncStoreOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (ref.space() != MemorySpace::smem)
    fail(Code::bad_space, fmt::format("async_store_smem stores to SMEM, this is {}", to_string(ref)));
  if (src.shape() != ref.shape() || src.dtype() != ref.dtype()) {
    fail(Code::copy_mismatch, fmt::format("async_store_smem of an {} into {}: shape and dtype must match",
                                          to_string(src), to_string(ref)));
  }
  Array v = src;
  if (v.layout().is_splat()) v = layout_cast(v, default_layout(v.shape(), v.dtype(), loc), loc);
  const std::string_view type = word_type(v, options.atomic);
  if (type.empty()) {
    fail(Code::unsupported_dtype,
         fmt::format("async_store_smem{}{} of an {}: words of 32 or 64 bits are moved",
                     options.atomic.empty() ? "" : " with ", options.atomic, to_string(src)));
  }
  const int64_t conflicts =
      options.optimized && v.layout().is_tiled() && v.layout().misfit(ref.shape()).empty()
          ? frontend::bank_conflicts(ref, v.layout())
          : 1;
  if (conflicts > 1) {
    fail(Code::bank_conflicts,
         fmt::format("async_store_smem of an {} into {}: {} lanes of a warp want the same bank", to_string(v),
                     to_string(ref), conflicts),
         "tile and swizzle the array, choose another layout, or accept it with .optimized = false");
  }
  const Ref peer = cluster_ref(ref, options.cluster_dim, options.cluster_idx, loc);
  int64_t offset = 0;
  const Operand own = barrier.address("async_store_smem", &offset);
  const Operand local = offset == 0 ? own : r.pure("add.s32", {own, Operand::imm(offset)}, Type::b32);
  const Operand remote =
      r.pure("mapa.shared::cluster.u32", {local, peer.base().cluster_rank->operand()}, Type::b32);
  barrier.state().remote_arrivals(r, remote, pl::volume(ref.shape()) * pl::bytes(ref.dtype()));
  const int pack = v.pack();
  const std::string mnemonic =
      options.atomic.empty()
          ? fmt::format("st.async.shared::cluster.mbarrier::complete_tx::bytes.{}", type)
          : fmt::format("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{}.{}",
                        options.atomic, type);
  std::string_view space;
  frontend::walk_elements(
      r, peer, v.layout(),
      [&](int64_t e, const auto& where, int64_t width) {
        if (width < pack)
          fail(Code::bad_transform,
               fmt::format("async_store_smem into {}: neighbours of a vector are not contiguous",
                           to_string(ref)));
        const Operand guard = frontend::one_of_the_copies(r, v.layout(), e);
        for (int64_t k = 0; k < v.layout().vector_length(); k += pack) {
          r.emit(mnemonic,
                 {where(k).operand(), v.registers()[static_cast<size_t>((e + k) / pack)],
                  Operand::address(remote)},
                 guard);
        }
      },
      &space);
}

}  // namespace palladion::plgpu
