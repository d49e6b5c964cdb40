// cuLink*: PTX from several places becomes one image. What is complete is given back as a cubin that carries
// it.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "cuda/cubin/carried_ptx.h"
#include "cuda/driver/modules/images.h"
#include "isa/text/print.h"

using namespace palladion::cuda::driver;
namespace fatbin = palladion::cuda::fatbin;

namespace {

enum class Input : int {
  cubin = 0,
  ptx = 1,
  fatbin = 2,
  object = 3,
  library = 4,
  nvvm = 5
};  // CUjitInputType

struct Link : Handled<Link> {
  std::vector<std::string> texts;
  std::string image;
  std::vector<int> options;
  void** values = nullptr;
};

Status add_program(Link& link, tl::expected<fatbin::Program, std::string> program) {
  if (!program) return unsupported("linking: " + program.error());
  std::ranges::move(program->texts, std::back_inserter(link.texts));
  return success;
}

// The fatbins in a host object or an archive of them: they begin at their magic number.
Status add_host_code(Link& link, std::string_view bytes) {
  constexpr std::string_view magic = "P\xED\x55\xBA";
  bool found = false;
  for (size_t at = bytes.find(magic); at != std::string_view::npos; at = bytes.find(magic, at + 4)) {
    if (bytes.size() - at < 16 || fatbin::bytes_of(bytes.data() + at) > bytes.size() - at) continue;
    if (const Status status = add_program(link, program_of(bytes.data() + at)); status != success)
      return status;
    found = true;
  }
  return found ? success : invalid_image;
}

Status add(Link* link, Input type, std::string_view bytes) {
  if (!exist(link)) return invalid_handle;
  if (bytes.empty()) return invalid_value;
  const auto chip = static_cast<uint32_t>(state().arch->sm);
  switch (type) {
    case Input::ptx:
      while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
      link->texts.emplace_back(bytes);
      return success;
    case Input::fatbin:
      if (bytes.size() < sizeof(uint32_t) || fatbin::image_of(bytes.data()) != fatbin::Image::fatbin)
        return invalid_image;
      return add_program(*link, fatbin::program_in(bytes, chip));
    case Input::object:
    case Input::library:
      return add_host_code(*link, bytes);
    case Input::cubin:
      return add_program(*link, fatbin::program_in(bytes, chip));
    case Input::nvvm:
      return unsupported("linking of NVVM IR");
  }
  return invalid_value;
}

}  // namespace

PLD_CUDA cuLinkCreate_v2(unsigned count, int* options, void** values, void** out) {
  const Guard guard(state().lock);
  if (out == nullptr || (count != 0 && (options == nullptr || values == nullptr))) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  auto* const link = new Link;
  link->options.assign(options, options + count);
  link->values = values;
  return *out = link, success;
}
PLD_CUDA cuLinkAddData_v2(void* link, int type, void* data, size_t bytes, const char*, unsigned, int*,
                          void**) {
  const Guard guard(state().lock);
  return data == nullptr
             ? invalid_value
             : add(static_cast<Link*>(link), Input{type}, {static_cast<const char*>(data), bytes});
}
PLD_CUDA cuLinkAddFile_v2(void* link, int type, const char* path, unsigned, int*, void**) {
  const Guard guard(state().lock);
  if (path == nullptr) return invalid_value;
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_not_found;
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  return add(static_cast<Link*>(link), Input{type}, bytes);
}
PLD_CUDA cuLinkComplete(void* handle, void** image, size_t* bytes) {
  const Guard guard(state().lock);
  auto* const link = static_cast<Link*>(handle);
  if (!exist(link)) return invalid_handle;
  if (image == nullptr || link->texts.empty()) return invalid_value;
  std::string log;
  const auto module = compile(link->texts, log);
  write_logs(link->options.data(), link->values, static_cast<unsigned>(link->options.size()), log);
  if (module == nullptr) return invalid_ptx;
  link->image = palladion::cuda::cubin::carry(link->texts.size() == 1 ? link->texts.front() : print(*module));
  *image = link->image.data();
  if (bytes != nullptr) *bytes = link->image.size();
  return success;
}
PLD_CUDA cuLinkDestroy(void* handle) {
  const Guard guard(state().lock);
  auto* const link = static_cast<Link*>(handle);
  if (!exist(link)) return invalid_handle;
  return delete link, success;
}
