#include "cuda/fatbin/program.h"

#include <algorithm>

#include "cuda/cubin/carried_ptx.h"

namespace palladion::cuda::fatbin {
namespace {

using Found = tl::expected<Program, std::string>;

Found as_program(tl::expected<std::string, std::string> text, bool newer = false) {
  if (!text) return tl::unexpected(std::move(text.error()));
  return Program{{std::move(*text)}, newer};
}

Found of_cubin(std::string_view bytes) {
  auto texts = cubin::ptx_of(bytes);
  if (!texts) return tl::unexpected(std::move(texts.error()));
  return Program{std::move(*texts), false};
}

// What the machine code for the chip carries.
Found of_code(const std::vector<Entry>& all, uint32_t compute) {
  Found out = tl::unexpected<std::string>("there is no machine code for this chip, and no PTX");
  for (const Entry& e : all) {
    if (e.kind != Kind::cubin || !runs_code(compute, e.arch)) continue;
    const auto bytes = contents(e);
    if (!bytes) return tl::unexpected(bytes.error());
    out = of_cubin({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (out) return out;
  }
  return out;
}

// For all chips from its target on: without `a` and `f`.
bool is_general(const Entry& e) {
  const auto ptx = text(e);
  return ptx && !is_for_one_chip(*ptx) && !is_for_family(*ptx);
}

}  // namespace

bool runs_code(uint32_t compute, uint32_t arch) { return arch / 10 == compute / 10 && arch <= compute; }

Found program_for(Bytes bytes, uint32_t compute) {
  const auto all = entries(bytes);
  if (!all) return tl::unexpected(all.error());
  const std::vector<Entry> usable = usable_ptx(*all, compute);
  if (!usable.empty() && usable.front().arch == compute) return as_program(text(usable.front()));
  Found carried = of_code(*all, compute);
  if (carried || (usable.empty() && all->empty())) return carried;
  if (!usable.empty()) return as_program(text(usable.front()));
  const Entry* oldest = nullptr;
  for (const Entry& e : *all)
    if (e.kind == Kind::ptx && (oldest == nullptr || e.arch < oldest->arch) && is_general(e)) oldest = &e;
  return oldest != nullptr ? as_program(text(*oldest), true) : carried;
}

cubin::Registers registers_for(Bytes bytes, uint32_t compute) {
  cubin::Registers out;
  const auto all = entries(bytes);
  if (!all) return out;
  for (const Entry& e : *all) {
    if (e.kind != Kind::cubin || !runs_code(compute, e.arch)) continue;
    if (const auto code = contents(e))
      out.merge(cubin::registers_of({reinterpret_cast<const char*>(code->data()), code->size()}));
  }
  return out;
}

Found program_in(std::string_view file, uint32_t compute) {
  constexpr size_t least = 64;  // its first bytes tell what it is
  std::string first(file.substr(0, least));
  first.resize(least);
  switch (image_of(first.data())) {
    case Image::elf:
      return of_cubin(file);
    case Image::fatbin:
      return program_for({reinterpret_cast<const std::byte*>(file.data()), file.size()}, compute);
    default:
      if (file.find(".version") == std::string_view::npos)
        return tl::unexpected<std::string>("neither PTX, nor a cubin or fatbin that holds it");
      return as_program(std::string(file.substr(0, file.find('\0'))));
  }
}

}  // namespace palladion::cuda::fatbin
