// A twin of the zoo as a subject: zoo/NAME is the broken one, zoo/NAME:good the right one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/subjects/subject.h"
#include "cli/support/program_name.h"
#include "verify/arrays/words.h"

namespace palladion::cli {

Outcome<void> take_twin(Subject& subject, const TwinWord& twin, bool keep_arch) {
  const std::string& name = twin.pair;
  if (twin.which != "broken" && twin.which != "good")
    return user_error(fmt::format("`{}` has no twin `{}`", name, twin.which),
                      "the twins are `broken` and `good`");
  subject.pair = kernels::zoo::find_pair(name);
  if (subject.pair == nullptr) {
    std::vector<std::string> names;
    for (const auto& pair : kernels::zoo::all_pairs()) names.push_back(pair.name);
    const std::string near = nearest(name, names);
    return user_error(fmt::format("there is no pair `{}` in the zoo", name),
                      near.empty() ? fmt::format("`{} list` names them", program_name())
                                   : fmt::format("did you mean `zoo/{}`?", near));
  }
  kernels::zoo::Specimen specimen = subject.pair->make(twin.which == "broken");
  if (!keep_arch) subject.arch = &kernels::zoo::chip_of(specimen);
  subject.name = fmt::format("zoo/{}{}", name, twin.which == "good" ? ":good" : "");
  subject.specimen = std::move(specimen.owner);
  subject.job = std::move(specimen.job);
  subject.ptx_name = subject.job.ptx.empty() ? "" : subject.name;
  subject.contents.assign(subject.job.buffers.size(), "of the pair");
  return {};
}

}  // namespace palladion::cli
