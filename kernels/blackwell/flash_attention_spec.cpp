// How blackwell_flash_attention is chosen, and what it computes.
#include "kernels/blackwell/flash_attention.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels::blackwell {
namespace {

Array reference(const AttentionConfig& c, const std::vector<Array>& in) {
  return attention_reference(in[0], in[1], in[2], c.causal);
}

}  // namespace

KernelSpec flash_attention_spec() {
  using C = AttentionConfig;
  KernelSpec spec =
      Spec("blackwell_flash_attention",
           "O = softmax(Q K^T / sqrt(d)) V on Blackwell, O and the scores in tensor memory", flash_attention)
          .size("batch", &C::batch, "independent problems")
          .size("heads", &C::heads, "of Q and O")
          .size("kv_heads", &C::kv_heads, "of K and V: divides heads")
          .size("q", &C::q_seq, "rows of Q and O: a multiple of 256")
          .size("kv", &C::kv_seq, "rows of K and V: a multiple of 128")
          .setting("head_dim", &C::head_dim, "columns of a head: 64 or 128")
          .setting("dtype", &C::dtype, "of all arrays", {pl::f16, pl::bf16})
          .setting("causal", &C::causal, "1: row i of Q sees rows of K up to i + kv - q")
          .setting("stages", &C::stages, "tiles of K and of V on their way")
          .arrays({"q", "k", "v"}, {"o"})
          .inputs([](const C& c, uint64_t seed) {
            return normal_inputs({c.q_type(), c.kv_type(), c.kv_type()}, 3 * seed);
          })
          .reference(reference);
  spec.tolerance = [](const Choice& choice) { return attention_tolerance(choice.dtype("dtype")); };
  spec.chip = "b200";
  return spec;
}

}  // namespace palladion::kernels::blackwell
