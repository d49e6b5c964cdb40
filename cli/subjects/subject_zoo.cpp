// A twin of the zoo as a subject: zoo/NAME is the broken one, zoo/NAME:good the right one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/subjects/subject.h"
#include "cli/support/program_name.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

constexpr std::string_view prefix = "zoo/";

Outcome<void> refuse_settings(const Options& o) {
  if (o.sizes.empty() && o.settings.empty() && o.in.empty()) return {};
  return user_error("--shape, --set and --in belong to kernels by name",
                    "kernels of the zoo have no sizes and settings");
}

}  // namespace

bool names_twin(std::string_view kernel) { return kernel.starts_with(prefix); }

Outcome<void> take_twin(Subject& subject, const Options& options) {
  if (const auto ok = refuse_settings(options); !ok) return ok;
  const std::string_view text = std::string_view(options.kernel).substr(prefix.size());
  const size_t colon = text.find(':');
  const std::string_view which = colon == std::string_view::npos ? "broken" : text.substr(colon + 1);
  const std::string name(text.substr(0, colon));
  if (which != "broken" && which != "good")
    return user_error(fmt::format("`{}` has no twin `{}`", name, which), "the twins are `broken` and `good`");
  subject.pair = kernels::zoo::find_pair(name);
  if (subject.pair == nullptr) {
    std::vector<std::string> names;
    for (const auto& pair : kernels::zoo::all_pairs()) names.push_back(pair.name);
    const std::string near = nearest(name, names);
    return user_error(fmt::format("there is no pair `{}` in the zoo", name),
                      near.empty() ? fmt::format("`{} list` names them", program_name())
                                   : fmt::format("did you mean `zoo/{}`?", near));
  }
  kernels::zoo::Specimen specimen = subject.pair->make(which == "broken");
  if (!options.names_arch) subject.arch = &kernels::zoo::chip_of(specimen);
  subject.name = fmt::format("zoo/{}{}", name, which == "good" ? ":good" : "");
  subject.specimen = std::move(specimen.owner);
  subject.job = std::move(specimen.job);
  subject.ptx_name = subject.job.ptx.empty() ? "" : subject.name;
  subject.contents.assign(subject.job.buffers.size(), "of the pair");
  return {};
}

}  // namespace palladion::cli
