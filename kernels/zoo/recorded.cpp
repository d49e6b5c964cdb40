#include "kernels/zoo/recorded.h"

#include <utility>

#include "kernels/zoo/entry.h"

namespace palladion::kernels::zoo {

Pair recorded_pair(RecordedPair pair) {
  const auto [entry, place] = parse_entry(pair.entry);
  return {.name = pair.name,
          .entry = entry,
          .place = place,
          .title = pair.title,
          .code = pair.code,
          .also = {},
          .severity = pair.severity,
          .on_device = pair.on_device,
          .make = [record = std::move(pair.record), inputs = std::move(pair.inputs)](bool broken) {
            const auto kernel = std::make_shared<const plgpu::Kernel>(record(broken));
            return Specimen{kernel, job_of(*kernel, inputs())};
          }};
}

}  // namespace palladion::kernels::zoo
