// Copies of one Pallas thread, and the waits for their groups.
#include <fmt/format.h>

#include "tests/pallas/race_sets.h"

namespace palladion::test {

using plgpu::Ref;
using plgpu::Scratch;

const pl::Shape one = {128};

pl::Shape with_one(std::vector<int64_t> leading) {
  leading.insert(leading.end(), one.begin(), one.end());
  return leading;
}

Array filled_with(const pl::Shape& shape, int32_t value) {
  Array a({pl::s32, shape});
  for (int32_t& x : a.as<int32_t>()) x = value;
  return a;
}

Array counted(const pl::Shape& leading) {
  Array a({pl::s32, with_one(leading)});
  const auto values = a.as<int32_t>();
  const auto row = static_cast<size_t>(pl::volume(one));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i / row);
  return a;
}

std::string letters(std::string_view names, unsigned mask) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}{}={}", i == 0 ? "" : " ", names[i], mask >> i & 1);
  return out;
}

namespace {

void set_to(const Ref& ref, int32_t value) { ref.store(plgpu::full(ref.shape(), value, pl::s32)); }
void commit_if(bool yes) {
  if (yes) plgpu::commit_smem();
}

plgpu::KernelOptions scalar_options(int inputs, int outputs = 1) {
  plgpu::KernelOptions o{
      .scratch_types = {{"smem", plgpu::SMEM(one, pl::s32)}, {"barrier", plgpu::Barrier()}}};
  std::vector<pl::ShapeDtype> in(static_cast<size_t>(inputs), {pl::s32, one}),
      out(static_cast<size_t>(outputs), {pl::s32, one});
  o.in_types = in;
  o.out_type = out;
  return o;
}

void add_visibility(std::vector<RaceSet>& sets) {
  for (const bool wait : {true, false}) {
    const auto body = [wait](Ref out, Scratch& s) {
      plgpu::copy_gmem_to_smem(out, s["smem"], s.barrier("barrier"));
      if (wait) plgpu::barrier_wait(s.barrier("barrier"));
      plgpu::commit_smem();
      set_to(out, 42);
    };
    sets.push_back({fmt::format("async_gmem_ops_not_visible_unless_synchronized wait={:d}", wait),
                    wait ? Theirs::clean : Theirs::skipped,
                    [body] { return plgpu::kernel(body, scalar_options(0)); },
                    {},
                    {{42}},
                    true});
  }
}

void add_later_copy(std::vector<RaceSet>& sets) {
  for (unsigned mask = 0; mask < 16; ++mask) {
    const auto body = [mask](Ref in, Ref out, Scratch& s) {
      commit_if(mask & 1);
      set_to(s["smem"], 100);
      commit_if(mask & 2);
      plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("barrier"));
      commit_if(mask & 4);
      plgpu::barrier_wait(s.barrier("barrier"));
      commit_if(mask & 8);
      out.store(s["smem"].load());
    };
    sets.push_back({"single_thread_later_gmem_to_smem_copy " + letters("abcd", mask),
                    (mask & 2) != 0 ? Theirs::clean : Theirs::race,
                    [body] { return plgpu::kernel(body, scalar_options(1)); },
                    {filled_with(one, 42)},
                    {{42}}});
  }
}

void add_earlier_copy(std::vector<RaceSet>& sets) {
  for (const bool wait : {false, true}) {
    const auto body = [wait](Ref gmem, Ref out, Scratch& s) {
      plgpu::copy_gmem_to_smem(gmem, s["smem"], s.barrier("barrier"));
      if (wait) plgpu::barrier_wait(s.barrier("barrier"));
      set_to(s["smem"], 42);
      out.store(s["smem"].load());
    };
    sets.push_back({fmt::format("single_thread_earlier_gmem_to_smem_copy wait={:d}", wait),
                    wait ? Theirs::clean : Theirs::race,
                    [body] { return plgpu::kernel(body, scalar_options(1)); },
                    {filled_with(one, 0)},
                    {{42}}});
  }
}

void add_copy_out(std::vector<RaceSet>& sets) {
  for (unsigned mask = 0; mask < 8; ++mask) {
    const auto body = [mask](Ref out, Ref gmem, Scratch& s) {
      commit_if(mask & 1);
      set_to(s["smem"], 42);
      commit_if(mask & 2);
      plgpu::copy_smem_to_gmem(s["smem"], gmem);
      commit_if(mask & 4);
      plgpu::wait_smem_to_gmem(0);
      out.store(gmem.load());
    };
    sets.push_back({"single_thread_smem_to_gmem_copy " + letters("abc", mask),
                    (mask & 2) != 0 ? Theirs::clean : Theirs::race,
                    [body] { return plgpu::kernel(body, scalar_options(0, 2)); },
                    {},
                    {{42}}});
  }
}

void add_twice(std::vector<RaceSet>& sets) {
  for (const bool wait : {false, true}) {
    const auto body = [wait](Ref gmem, Ref, Scratch& s) {
      plgpu::commit_smem();
      plgpu::copy_gmem_to_smem(gmem, s["smem"], s.barrier("barrier"));
      if (wait) plgpu::barrier_wait(s.barrier("barrier"));
      plgpu::copy_gmem_to_smem(gmem, s["smem"], s.barrier("barrier"));
      plgpu::barrier_wait(s.barrier("barrier"));
    };
    auto options = scalar_options(1);
    options.scratch_types[1] = {"barrier", plgpu::Barrier({.num_arrivals = wait ? 1 : 2})};
    sets.push_back({fmt::format("gmem_to_smem_visible_in_async_if_awaited wait={:d}", wait),
                    wait ? Theirs::clean : Theirs::race,
                    [body, options] { return plgpu::kernel(body, options); },
                    {filled_with(one, 7)},
                    {}});
  }
}

}  // namespace

void add_copy_sets(std::vector<RaceSet>& sets) {
  add_visibility(sets);
  add_later_copy(sets);
  add_earlier_copy(sets);
  add_copy_out(sets);
  add_twice(sets);
}

// --- groups of copies out ---------------------------------------------------------------------------

namespace {

plgpu::KernelOptions rows_options(int64_t rows, bool with_input, bool scalar_output, bool scratch_output) {
  plgpu::KernelOptions o{.scratch_types = {{"smem", plgpu::SMEM(with_one({rows}), pl::s32)}}};
  if (with_input) o.in_types = std::vector<pl::ShapeDtype>{{pl::s32, with_one({rows})}};
  std::vector<pl::ShapeDtype> out{{pl::s32, scalar_output ? one : with_one({rows})}};
  if (scratch_output) out.push_back({pl::s32, with_one({rows})});
  o.out_type = out;
  return o;
}

void add_partial_wait(std::vector<RaceSet>& sets) {
  const auto body = [](Ref out, Ref gmem, Scratch& s) {
    set_to(s["smem"].at(0), 1);
    set_to(s["smem"].at(1), 2);
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(s["smem"].at(0), gmem.at(0));
    plgpu::copy_smem_to_gmem(s["smem"].at(1), gmem.at(1));
    plgpu::wait_smem_to_gmem(1);
    out.store(gmem.at(0).load() + gmem.at(1).load());
    plgpu::wait_smem_to_gmem(0);
  };
  sets.push_back({"non_fully_waited_smem_to_gmem_copy",
                  Theirs::race,
                  [body] { return plgpu::kernel(body, rows_options(2, false, true, true)); },
                  {},
                  {}});
}

void add_second_wait(std::vector<RaceSet>& sets) {
  const auto body = [](Ref in, Ref out, Ref gmem, Scratch& s) {
    s["smem"].store(in.load());
    plgpu::commit_smem();
    for (int i = 0; i < 3; ++i) plgpu::copy_smem_to_gmem(s["smem"].at(i), gmem.at(i));
    plgpu::wait_smem_to_gmem(1);
    plgpu::wait_smem_to_gmem(2);
    out.store(gmem.at(0).load() + gmem.at(1).load());
    plgpu::wait_smem_to_gmem(0);
    out.store(gmem.at(0).load() + gmem.at(1).load() + gmem.at(2).load());
  };
  sets.push_back({"allows_rewaiting_smem_to_gmem_copies",
                  Theirs::clean,
                  [body] { return plgpu::kernel(body, rows_options(3, true, true, true)); },
                  {counted({3})},
                  {{3}}});
}

void add_read_only_wait(std::vector<RaceSet>& sets) {
  for (const bool once : {false, true}) {
    for (int location = 0; location < 4; ++location) {
      const auto body = [once, location](Ref in, Ref out, Scratch& s) {
        const Ref smem = s["smem"];
        smem.store(in.load());
        plgpu::commit_smem();
        for (int i = 0; i < 2; ++i) plgpu::copy_smem_to_gmem(smem.at(i), out.at(i));
        plgpu::wait_smem_to_gmem(1, true);
        if (!once) plgpu::wait_smem_to_gmem(1);
        set_to((location % 2 == 0 ? smem : out).at(location / 2), 3);
        plgpu::wait_smem_to_gmem(0, true);
      };
      const bool correct = location == 0 || (!once && location == 1);
      sets.push_back({fmt::format("smem_to_gmem_copy_waits_read_only once={:d} location={}", once, location),
                      once && location == 1 ? Theirs::skipped
                      : correct             ? Theirs::clean
                                            : Theirs::race,
                      [body] { return plgpu::kernel(body, rows_options(2, true, false, false)); },
                      {counted({2})},
                      {}});
    }
  }
}

void add_unwaited(std::vector<RaceSet>& sets) {
  const auto add = [&](const std::string& name, Theirs theirs,
                       const std::function<void(Ref, Scratch&)>& body) {
    RaceSet set{name, theirs, [body] { return plgpu::kernel(body, scalar_options(0)); }};
    set.reads_unwritten = true;
    sets.push_back(std::move(set));
  };
  add("race_in_double_smem_to_gmem", Theirs::race, [](const Ref& out, Scratch& s) {
    plgpu::commit_smem();
    plgpu::copy_smem_to_gmem(s["smem"], out);
    plgpu::copy_smem_to_gmem(s["smem"], out);
    plgpu::wait_smem_to_gmem(0);
  });
  add("exception_in_unawaited_smem_to_gmem", Theirs::stops,
      [](const Ref& out, Scratch& s) { plgpu::copy_smem_to_gmem(s["smem"], out); });
  add("unawaited_smem_to_gmem_write_side_ok", Theirs::clean, [](const Ref& out, Scratch& s) {
    plgpu::copy_smem_to_gmem(s["smem"], out);
    plgpu::wait_smem_to_gmem(0, true);
  });
}

}  // namespace

void add_group_sets(std::vector<RaceSet>& sets) {
  add_partial_wait(sets);
  add_second_wait(sets);
  add_read_only_wait(sets);
  add_unwaited(sets);
}

}  // namespace palladion::test
