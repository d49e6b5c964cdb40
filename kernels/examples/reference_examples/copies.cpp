// Asynchronous copies: which barrier or wait signals that they are complete.
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;
using Values = std::vector<double>;

std::vector<SizeParam> sizes() {
  return {{"rows", 2, "rows, at most 256"}, {"n", 128, "elements of a row, at most 256"}};
}

KernelSpec copy() {
  return {.name = "ref_copy",
          .doc = "GMEM to SMEM and back: the barrier completes when the copy in has landed",
          .sizes = sizes(),
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& in, const Ref& out, Scratch& s) {
                      plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("barrier"));
                      plgpu::barrier_wait(s.barrier("barrier"));
                      plgpu::copy_smem_to_gmem(s["smem"], out);
                      plgpu::wait_smem_to_gmem(0);
                    },
                    {.in_types = rows(c),
                     .out_type = rows(c),
                     .scratch_types = {{"smem", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"barrier", plgpu::Barrier()}},
                     .name = "ref_copy"});
              },
          .make_inputs = random_arrays({rows}),
          .reference = [](const Choice&, const std::vector<Array>& in) { return in; }};
}

KernelSpec copy_two_arrivals() {
  return {.name = "ref_copy_two_arrivals",
          .doc = "One barrier of two arrivals awaits two copies",
          .sizes = sizes(),
          .inputs = {"x", "y"},
          .outputs = {"sum"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& in, const Ref& in2, const Ref& out, Scratch& s) {
                      plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("barrier"));
                      plgpu::copy_gmem_to_smem(in2, s["smem2"], s.barrier("barrier"));
                      plgpu::barrier_wait(s.barrier("barrier"));  // both copies
                      out.store(s["smem"].load() + s["smem2"].load());
                    },
                    {.in_types = {rows(c), rows(c)},
                     .out_type = rows(c),
                     .scratch_types = {{"smem", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"smem2", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"barrier", plgpu::Barrier({.num_arrivals = 2})}},
                     .name = "ref_copy_two_arrivals"});
              },
          .make_inputs = random_arrays({rows, rows}),
          .reference = elementwise([](const Values& v) { return v[0] + v[1]; })};
}

// All CTAs of a cluster get all of x and each its own row of y.
KernelSpec collective_copy() {
  const auto of_cluster = [](const Choice& c) {
    return pl::ShapeDtype{pl::f32, {c.number("cluster"), c.size("n")}};
  };
  return {.name = "ref_collective_copy",
          .doc = "A multicast copy and a copy of one's own, on one barrier",
          .sizes = {{"n", 256, "elements of a row"}},
          .settings = {{"cluster", "2", "CTAs", {"2", "4"}}},
          .inputs = {"x", "y"},
          .outputs = {"sum"},
          .build =
              [=](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& in, const Ref& in2, const Ref& out, Scratch& s) {
                      const pl::Scalar block = pl::axis_index("cluster");
                      plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("barrier"),
                                               {.collective_axes = {"cluster"}});
                      plgpu::copy_gmem_to_smem(in2.at(block), s["smem2"], s.barrier("barrier"));
                      plgpu::barrier_wait(s.barrier("barrier"));
                      out.at(block).store(s["smem"].load() + s["smem2"].load());
                    },
                    {.in_types = {row(c), of_cluster(c)},
                     .out_type = of_cluster(c),
                     .scratch_types = {{"smem", plgpu::SMEM({c.size("n")}, pl::f32)},
                                       {"smem2", plgpu::SMEM({c.size("n")}, pl::f32)},
                                       {"barrier", plgpu::Barrier({.num_arrivals = 2})}},
                     .cluster = {c.number("cluster")},
                     .cluster_names = {"cluster"},
                     .name = "ref_collective_copy"});
              },
          .make_inputs = random_arrays({row, of_cluster}),
          .reference =
              [](const Choice&, const std::vector<Array>& in) {
                Values x = to_doubles(in[0]), sum = to_doubles(in[1]);
                for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[i % x.size()];
                return std::vector{from_doubles(in[1].type, sum)};
              }};
}

// What each wait permits: after the first, x_smem may be overwritten; after the second, x_gmem may be read.
KernelSpec copy_out() {
  return {.name = "ref_copy_out",
          .doc = "wait_smem_to_gmem: read only, then up to one copy left, then none",
          .sizes = sizes(),
          .inputs = {"x", "y"},
          .outputs = {"x_out", "y_out", "seen"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, const Ref& x_out, const Ref& y_out, const Ref& seen,
                       Scratch& s) {
                      const Ref x_smem = s["x"], y_smem = s["y"];
                      x_smem.store(x.load());
                      y_smem.store(y.load());
                      plgpu::commit_smem();
                      plgpu::copy_smem_to_gmem(x_smem, x_out);
                      plgpu::copy_smem_to_gmem(y_smem, y_out);
                      plgpu::wait_smem_to_gmem(1, true);
                      x_smem.store(plgpu::zeros(x_smem.shape(), pl::f32));
                      plgpu::wait_smem_to_gmem(1);
                      seen.store(x_out.load());
                      plgpu::wait_smem_to_gmem(0);
                    },
                    {.in_types = {rows(c), rows(c)},
                     .out_type = {rows(c), rows(c), rows(c)},
                     .scratch_types = {{"x", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"y", plgpu::SMEM(rows(c).shape, pl::f32)}},
                     .name = "ref_copy_out"});
              },
          .make_inputs = random_arrays({rows, rows}),
          .reference = [](const Choice&,
                          const std::vector<Array>& in) { return std::vector{in[0], in[1], in[0]}; }};
}

KernelSpec commit_group() {
  return {.name = "ref_commit_group",
          .doc = "Two copies out that are awaited as one",
          .sizes = sizes(),
          .settings = {{"commit",
                        "implicit",
                        "what commits the group: the second copy, or commit_smem_to_gmem_group",
                        {"implicit", "explicit"}}},
          .inputs = {"x", "y"},
          .outputs = {"x_out", "y_out", "seen"},
          .build =
              [](const Choice& c) {
                const bool by_hand = c.word("commit") == "explicit";
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& y, const Ref& x_out, const Ref& y_out, const Ref& seen,
                        Scratch& s) {
                      s["x"].store(x.load());
                      s["y"].store(y.load());
                      plgpu::commit_smem();
                      plgpu::copy_smem_to_gmem(s["x"], x_out, {.commit_group = false});
                      plgpu::copy_smem_to_gmem(s["y"], y_out, {.commit_group = !by_hand});
                      if (by_hand) plgpu::commit_smem_to_gmem_group();
                      plgpu::wait_smem_to_gmem(1);  // only these two are in flight
                      plgpu::wait_smem_to_gmem(0);  // now they are done
                      seen.store(x_out.load() + y_out.load());
                    },
                    {.in_types = {rows(c), rows(c)},
                     .out_type = {rows(c), rows(c), rows(c)},
                     .scratch_types = {{"x", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"y", plgpu::SMEM(rows(c).shape, pl::f32)}},
                     .name = "ref_commit_group"});
              },
          .make_inputs = random_arrays({rows, rows}),
          .reference =
              [](const Choice&, const std::vector<Array>& in) {
                return std::vector{in[0], in[1],
                                   map_elements(in, [](const Values& v) { return v[0] + v[1]; })};
              }};
}

}  // namespace

std::vector<KernelSpec> copies() {
  return {copy(), copy_two_arrivals(), collective_copy(), copy_out(), commit_group()};
}

}  // namespace palladion::kernels::reference_examples
