#include "frontend/core/lifetime.h"

#include <fmt/format.h>

#include <filesystem>

#include "frontend/core/recorder.h"

namespace palladion::frontend {

constinit thread_local RegionId current_region = 0, current_scope = 0;

namespace {

std::string_view type_name(Handle kind) {
  switch (kind) {
    case Handle::scalar:
      return "pl::Scalar";
    case Handle::array:
      return "plgpu::Array";
    case Handle::ref:
      return "plgpu::Ref";
    case Handle::barrier:
      return "plgpu::BarrierRef";
  }
  return "";
}

bool is_loop(std::string_view verb) { return verb.find("loop") != std::string_view::npos; }
bool is_warp_code(std::string_view verb) { return verb.ends_with("warp_map") || verb.ends_with("core_map"); }
bool is_pipeline(std::string_view verb) { return verb.find("pipeline") != std::string_view::npos; }

// What an assignment in the body, recorded once, would not do.
std::string_view not_done(std::string_view verb) {
  if (is_loop(verb) || is_pipeline(verb)) return "no later round would see the assignment";
  if (is_warp_code(verb)) return "each warp has its own value";
  return "the condition would not matter";
}

// How the author gets a value out of a body, or changes one from within.
std::string way_out(Handle kind, std::string_view verb) {
  if (kind == Handle::ref || kind == Handle::barrier)
    return "which one is meant is decided while recording: index one array with a pl::Scalar, x.at(slot), or "
           "take "
           "the view where it is used";
  if (is_loop(verb))
    return fmt::format(
        "carry it: x = {}(..., [&](..., auto x) {{ return next_x; }}, x); what one round alone needs "
        "is declared in the body",
        verb);
  if (is_warp_code(verb))
    return "each warp has a value of its own: store it, and load it when the warps have joined";
  if (is_pipeline(verb))
    return "give the pipeline a carry: its body takes the value last and returns the next one";
  return "x = pl::where(condition, new_x, x), or x = pl::cond(condition, [&] { return new_x; }, [&] { return "
         "x; })";
}

std::string in_words(const RegionInfo& region) {
  return fmt::format("the body of {} ({})", region.verb, short_place(region.loc));
}

[[noreturn]] void fail_at(Code code, std::string message, const Loc* loc, std::string help) {
  fail(code, std::move(message), loc != nullptr ? author_line(*loc) : last_verb(), std::move(help));
}

}  // namespace

std::string short_place(const Loc& loc) {
  return fmt::format("{}:{}", std::filesystem::path(loc.file_name()).filename().string(), loc.line());
}

void check_made(Handle kind, RegionId made, bool constant, const Loc* loc) {
  const Recorder* r = Recorder::current_or_null();
  if (r == nullptr || made == 0) return;
  if (!r->regions.owns(made)) {
    if (constant) return;
    fail_at(Code::other_kernel, fmt::format("a {} of another kernel is used", type_name(kind)), loc,
            "values belong to the kernel whose body made them: pass data through arguments and results");
  }
  const RegionInfo& region = r->regions.info(made);
  if (kind == Handle::array && r->warp)
    fail_at(Code::bad_warp, "warp-level code can only close over scalars and references, not over an Array",
            loc, "store it to SMEM before the warps fork");
  if (region.open) return;
  fail_at(Code::left_region,
          fmt::format("a {} made in {} is used after that body has ended", type_name(kind), in_words(region)),
          loc, way_out(kind, region.verb));
}

RegionId check_assignment(Handle kind, RegionId declared) {
  const Recorder* r = Recorder::current_or_null();
  if (r == nullptr || current_region == r->regions.root()) return declared;
  if (r->regions.owns(declared) && !r->regions.info(declared).open)
    return current_region;  // left in a container by an earlier body
  const RegionInfo& region = r->regions.info(current_region);
  fail(Code::outer_assigned,
       fmt::format("a {} declared outside of {} is assigned in it: the body is recorded once, {}",
                   type_name(kind), in_words(region), not_done(region.verb)),
       way_out(kind, region.verb));
}

void check_alive(RegionId scope, std::string_view what, std::string_view name) {
  const Recorder* r = Recorder::current_or_null();
  if (r == nullptr || scope == current_scope) return;
  if (!r->regions.owns(scope))
    fail(Code::other_kernel, fmt::format("{} \"{}\" of another kernel is used", what, name),
         "references and barriers belong to the kernel that allocated them");
  const RegionInfo& region = r->regions.info(scope);
  if (region.open) return;
  fail(Code::bad_scope,
       fmt::format(
           "{} \"{}\" is used after {}, which allocated it, has ended: its memory may be another array's",
           what, name, in_words(region)),
       "use it in the body, and return arrays: x = pl::run_scoped([&](plgpu::Ref r) { ...; return r.load(); "
       "}, ...)");
}

}  // namespace palladion::frontend
