#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t rows = 4, n = 512, clusters = 2;
};

plgpu::Kernel row_sums(const Config& c) {
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const pl::Scalar cluster = pl::axis_index("cluster"), rank = pl::axis_index("cta");
        const int64_t half = c.n / 2;
        const plgpu::Ref part = s["part"].at(0), theirs = plgpu::cluster_ref(part, "cta", 1 - rank);
        const auto meet = [&](int64_t number) {  //! not starter
          plgpu::barrier_arrive(s.barrier("meeting").at(number));  //! not starter
          plgpu::barrier_wait(s.barrier("meeting").at(number));  //! not starter
        };  //! not starter
        pl::fori_loop(0, c.rows / c.clusters, [&](const pl::Scalar& i) {
          const pl::Scalar row = cluster + i * c.clusters;
          part.store(x.at(row, pl::ds(rank * half, half)).load().sum_all());
          meet(0);  //! not starter only-after
          const pl::Scalar total = part.load_scalar() + theirs.load_scalar();
          meet(1);  //! not starter only-before
          pl::when(rank == 0, [&] { out.at(row).store(total); });
        });
      },
      {.in_types = {{pl::f32, {c.rows, c.n}}},
       .out_type = {{pl::f32, {c.rows}}},
       .scratch_types = {{"part", plgpu::SMEM({1}, pl::f32)}},  // TODO  //! starter
       .scratch_types = {{"part", plgpu::SMEM({1}, pl::f32)},  //! not starter
                         {"meeting", plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {2}, .orders_memory = true})}},  //! not starter relaxed own-cta
                         {"meeting", plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {2}})}},  //! relaxed
                         {"meeting", plgpu::Barrier({.num_barriers = {2}})}},  //! own-cta
       .grid = {c.clusters},
       .grid_names = {"cluster"},
       .cluster = {2},
       .cluster_names = {"cta"},
       .name = "row_sums"});
}

PALLADION_KERNELS(Spec("row_sums", "out = sums of the rows", row_sums)
                      .size("rows", &Config::rows, "rows, a multiple of the clusters")
                      .size("n", &Config::n, "elements of a row")
                      .setting("clusters", &Config::clusters, "pairs of CTAs")
                      .arrays({"x"}, {"out"}));
