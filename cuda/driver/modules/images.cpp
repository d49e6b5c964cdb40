#include "cuda/driver/modules/images.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "cuda/driver/modules/grid_functions.h"
#include "cuda/driver/sources.h"
#include "isa/arch/target.h"
#include "isa/core/link.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"

namespace palladion::cuda::driver {
namespace {

// What an image is made of, of one or several objects.
struct Parts {
  std::vector<std::string> texts, newer;  // PTX; PTX for newer chips
  std::string why;                        // an object has none
  std::vector<const void*> fatbins;
  cubin::Registers registers;

  void take(tl::expected<fatbin::Program, std::string> program) {
    if (!program) {
      why = std::move(program.error());
      return;
    }
    std::ranges::move(program->texts, std::back_inserter(program->newer ? newer : texts));
  }
  // Newer PTX where nothing else fits.
  void give(Image& image) && {
    image.newer = texts.empty();
    image.ptx = std::move(image.newer ? newer : texts);
    image.why = std::move(why);
    image.fatbins = std::move(fatbins);
    image.registers = std::move(registers);
  }
};

// As many bytes as can be read: the header of the image may lie.
std::string readable(const void* data, uint64_t bytes) {
  constexpr uint64_t part = uint64_t{64} << 10;
  std::string out;
  while (out.size() < bytes) {
    const size_t before = out.size(), wanted = std::min(part, bytes - before);
    out.resize(before + wanted);
    iovec to{out.data() + before, wanted};
    iovec from{const_cast<char*>(static_cast<const char*>(data)) + before, wanted};
    const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (got < 0 && errno != EFAULT) {  // not allowed here
      std::memcpy(to.iov_base, from.iov_base, wanted);
      continue;
    }
    if (got == static_cast<ssize_t>(wanted)) continue;
    out.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    break;
  }
  return out;
}

uint32_t chip_number() { return static_cast<uint32_t>(state().arch->sm); }

void take_cubin(Parts& parts, const void* data) {
  constexpr uint64_t header = 64;
  const std::string file = readable(data, std::max(header, fatbin::bytes_of(data)));
  parts.take(fatbin::program_in(file, chip_number()));
  parts.registers = cubin::registers_of(file);
}

cubin::Registers registers_in(const void* fatbin) {
  const std::string all = readable(fatbin, fatbin::bytes_of(fatbin));
  return fatbin::registers_for(std::as_bytes(std::span(all)), chip_number());
}

// A program linked from relocatable objects holds the linked machine code, and the fatbins that it was made
// of.
void take_wrapper(Parts& parts, const void* wrapper) {
  struct Wrapper {
    uint32_t magic, version;
    const void* data;
    const void* const* objects;  // version 2: ended by null
  };
  const auto& w = *static_cast<const Wrapper*>(wrapper);
  if (w.data != nullptr) parts.fatbins.push_back(w.data);
  if (w.version != 2 || w.objects == nullptr) {
    if (w.data != nullptr) parts.take(program_of(w.data));
    return;
  }
  for (const void* const* object = w.objects; *object != nullptr; ++object) parts.take(program_of(*object));
}

// A managed variable is managed memory: the host reaches it at the address that the device has.
void place_variables(const isa::Module& module) {
  sim::Placed placed;
  for (const isa::Symbol& s : module.symbols) {
    if (s.kind != isa::Symbol::Kind::variable || !s.variable.managed) continue;
    Pointer at = 0;
    if (allocate(at, s.variable.size(), Origin::managed, s.name.c_str()) != success) continue;
    state().blocks.at(at).variable = true;
    std::copy(s.variable.init.begin(), s.variable.init.end(), reinterpret_cast<uint8_t*>(at));
    placed[s.name] = sim::Address(at);
  }
  sim::Machine& machine = *state().machine;
  machine.load(module, placed);
  for (const isa::Symbol& s : module.symbols) {
    if (!placed.contains(s.name)) continue;
    for (const isa::Relocation& r : s.variable.relocations) {
      const Pointer value =
          machine.symbol(module, module.symbols[r.symbol].name) + static_cast<uint64_t>(r.addend);
      std::memcpy(reinterpret_cast<uint8_t*>(uint64_t{placed[s.name]}) + r.at, &value, r.size);
    }
  }
}

}  // namespace

tl::expected<fatbin::Program, std::string> program_of(const void* start) {
  return fatbin::program_for({static_cast<const std::byte*>(start), fatbin::bytes_of(start)}, chip_number());
}

// A library may be large and unused: its machine code is read when it is asked for.
std::optional<int> counted_registers(Image& image, const std::string& kernel) {
  for (const void* const fatbin : std::exchange(image.fatbins, {}))
    image.registers.merge(registers_in(fatbin));
  const auto found = image.registers.find(kernel);
  return found == image.registers.end() ? std::nullopt : std::optional(static_cast<int>(found->second));
}

Status load_image(Image*& out, const void* data) {
  if (data == nullptr) return invalid_value;
  if (state().sticky != success) return state().sticky;
  Parts parts;
  switch (fatbin::image_of(data)) {
    case fatbin::Image::wrapper:
      take_wrapper(parts, data);
      break;
    case fatbin::Image::fatbin:
      parts.take(program_of(data));
      parts.registers = registers_in(data);
      break;
    case fatbin::Image::elf:
      take_cubin(parts, data);
      break;
    case fatbin::Image::ptx:
      if (std::string_view(static_cast<const char*>(data)).find(".version") == std::string_view::npos)
        return invalid_image;  // some other text
      parts.texts.emplace_back(static_cast<const char*>(data));
      break;
    case fatbin::Image::unknown:
      return invalid_image;
  }
  out = new Image;
  std::move(parts).give(*out);
  state().images.insert(out);
  return success;
}

Status load_file(Image*& out, const char* name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) return file_not_found;
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.push_back('\0');
  constexpr size_t header = 64;
  if (text.size() < header) text.resize(header);
  const auto kind = fatbin::image_of(text.data());
  const bool whole = kind == fatbin::Image::ptx || fatbin::bytes_of(text.data()) <= text.size();
  if (kind == fatbin::Image::wrapper || !whole) return invalid_image;
  return load_image(out, text.data());
}

int64_t constant_bytes(const isa::Module& module) {
  int64_t bytes = 0;
  for (const isa::Symbol& symbol : module.symbols)
    if (symbol.kind == isa::Symbol::Kind::variable && symbol.variable.space == isa::Space::const_)
      bytes += static_cast<int64_t>(symbol.variable.size());
  return bytes;
}

std::unique_ptr<isa::Module> compile(std::span<const std::string> texts, std::string& log, bool newer) {
  std::vector<isa::Module> parts;
  for (const std::string& text : texts) {
    auto parsed = isa::parse(text);
    if (!parsed) return log += isa::render(parsed.error(), text), nullptr;
    parts.push_back(std::move(*parsed));
  }
  for (const isa::Module& part : parts)
    if (auto functions = grid_functions_for(part)) {
      parts.push_back(std::move(*functions));
      break;
    }
  std::vector<const isa::Module*> pointers;
  for (const isa::Module& part : parts) pointers.push_back(&part);
  auto linked = isa::link(pointers);
  if (!linked) return log += isa::render(linked.error()), nullptr;
  if (newer) linked->target = state().arch->ptx_target;
  constexpr int64_t most_constants = 64 * 1024;
  if (const int64_t bytes = constant_bytes(*linked); bytes > most_constants)
    return log += fmt::format("{} bytes of .const, more than {}", bytes, most_constants), nullptr;
  const isa::Diagnostics errors = isa::verify(*linked, *state().arch);
  if (errors.empty()) return std::make_unique<isa::Module>(std::move(*linked));
  log += texts.size() == 1 ? isa::render(errors, texts.front()) : isa::render(errors);
  return nullptr;
}

isa::Module* module_of(Image& image) {
  if (image.tried) return image.module.get();
  image.tried = true;
  if (image.ptx.empty()) return nullptr;
  image.module = compile(image.ptx, image.log, image.newer);
  if (image.module == nullptr) {
    fmt::print(stderr, "palladion exec: PTX of the program is refused:\n{}\n", image.log);
    count_missing("PTX that is refused");
    return nullptr;
  }
  image.ptx_chip = isa::parse_target(fatbin::target_of(image.ptx.front())).number;
  if (image.newer)
    fmt::print(stderr,
               "palladion exec: PTX for compute_{} alone runs on {}, which a driver would refuse: it uses "
               "nothing newer\n",
               image.ptx_chip, state().arch->name);
  for (const std::string& text : image.ptx) keep_sources(text);
  place_variables(*image.module);
  return image.module.get();
}

void say_no_ptx(Image& image, const std::string& what) {
  if (!image.ptx.empty() || count_missing(what + " without PTX") != 0) return;
  fmt::print(stderr, "palladion exec: unsupported: {} without PTX{}{}\n", what, image.why.empty() ? "" : ": ",
             image.why);
  image.why.clear();  // it is said once
}

void write_logs(const int* options, void** values, unsigned count, std::string_view errors) {
  using enum cuda::JitOption;
  char* buffers[2] = {};
  void** sizes[2] = {};
  for (unsigned i = 0; i < count; ++i) {
    const auto option = static_cast<cuda::JitOption>(options[i]);
    if (option == info_log) buffers[0] = static_cast<char*>(values[i]);
    if (option == info_log_bytes) sizes[0] = &values[i];
    if (option == error_log) buffers[1] = static_cast<char*>(values[i]);
    if (option == error_log_bytes) sizes[1] = &values[i];
  }
  for (int log = 0; log < 2; ++log) {
    if (buffers[log] == nullptr || sizes[log] == nullptr) continue;
    const auto room = static_cast<size_t>(reinterpret_cast<uintptr_t>(*sizes[log]));
    if (room == 0) continue;
    const std::string_view text = log == 1 ? errors.substr(0, room - 1) : std::string_view();
    std::copy(text.begin(), text.end(), buffers[log]);
    buffers[log][text.size()] = '\0';
    *sizes[log] = reinterpret_cast<void*>(text.size() + (text.empty() ? 0 : 1));
  }
}

}  // namespace palladion::cuda::driver
