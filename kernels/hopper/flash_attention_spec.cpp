// How flash_attention is chosen, and what it computes.
#include "kernels/frame/attention_gradients.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/flash_attention.h"

namespace palladion::kernels {

KernelSpec flash_attention_spec() {
  using C = FlashAttention;
  KernelSpec spec =
      Spec("flash_attention", "O = softmax(Q K^T / sqrt(d)) V as FlashAttention-3: warpgroups in ping-pong",
           flash_attention)
          .size("batch", &C::batch, "independent problems")
          .size("heads", &C::heads, "of Q and O")
          .size("kv_heads", &C::kv_heads, "of K and V: divides heads")
          .size("q", &C::q, "rows of Q and O", {.multiple_of = 8})
          .size("kv", &C::kv, "rows of K and V", {.multiple_of = 8})
          .size("head_dim", &C::head_dim, "columns of a head: 64, 128 or 256", {.multiple_of = 64})
          .setting("dtype", &C::dtype, "of all arrays", {pl::f16, pl::bf16})
          .setting("causal", &C::causal, "1: row i of Q sees rows of K up to i + kv - q")
          .setting("consumers", &C::consumers,
                   "warpgroups that multiply, each 64 rows of Q; 0: the fastest on an H200")
          .setting("block_kv", &C::block_kv, "rows of K and V a step; 0: the fastest on an H200",
                   {.multiple_of = 16})
          .setting("stages", &C::stages, "steps of K and of V on their way")
          .setting("lse", &C::lse, "1: a second output, the log-sum-exp of each row of scores")
          .arrays({"q", "k", "v"}, {"o", "lse"})
          .inputs([](const C& c, uint64_t seed) {
            return normal_inputs({c.q_type(), c.kv_type(), c.kv_type()}, 3 * seed);
          })
          .reference([](const C& c, const std::vector<Array>& in) {
            std::vector<Array> out = {attention_reference(in[0], in[1], in[2], c.causal, true)};
            if (c.lse) out.push_back(attention_rows(in[0], in[1], in[2], in[0], c.causal, true).lse);
            return out;
          });
  spec.tolerance = [](const Choice& choice) { return attention_tolerance(choice.dtype("dtype")); };
  return spec;
}

}  // namespace palladion::kernels
