// cuLink*: PTX from several places becomes one image. What is complete is given back as PTX text, which is
// what the library loads.
#include <fstream>
#include <iterator>

#include "cuda/driver/modules/images.h"
#include "cuda/fatbin/fatbin.h"
#include "isa/text/print.h"

using namespace palladion::cuda::driver;

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

// The fatbins in a host object or an archive of them: they begin at their magic number.
Status add_host_code(Link& link, std::string_view bytes) {
  constexpr std::string_view magic = "P\xED\x55\xBA";
  bool found = false;
  for (size_t at = bytes.find(magic); at != std::string_view::npos; at = bytes.find(magic, at + 4)) {
    if (bytes.size() - at < 16 || palladion::cuda::fatbin::bytes_of(bytes.data() + at) > bytes.size() - at)
      continue;
    auto text = ptx_of_fatbin(bytes.data() + at);
    if (!text) return unsupported("linking of objects without PTX");
    link.texts.push_back(std::move(*text));
    found = true;
  }
  return found ? success : invalid_image;
}

Status add(Link* link, Input type, std::string_view bytes) {
  if (!exist(link)) return invalid_handle;
  if (bytes.empty()) return invalid_value;
  switch (type) {
    case Input::ptx:
      while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
      link->texts.emplace_back(bytes);
      return success;
    case Input::fatbin: {
      if (palladion::cuda::fatbin::image_of(bytes.data()) != palladion::cuda::fatbin::Image::fatbin)
        return invalid_image;
      auto text = ptx_of_fatbin(bytes.data());
      if (!text) return unsupported("linking of fatbins without PTX");
      return link->texts.push_back(std::move(*text)), success;
    }
    case Input::object:
    case Input::library:
      return add_host_code(*link, bytes);
    case Input::cubin:  // what cuLinkComplete or NVRTC gave under exec is PTX
      if (palladion::cuda::fatbin::image_of(bytes.data()) == palladion::cuda::fatbin::Image::ptx)
        return add(link, Input::ptx, bytes);
      return unsupported("linking of machine code (cubins)");
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
  link->image = palladion::isa::print(*module);
  *image = link->image.data();
  if (bytes != nullptr) *bytes = link->image.size() + 1;
  return success;
}
PLD_CUDA cuLinkDestroy(void* handle) {
  const Guard guard(state().lock);
  auto* const link = static_cast<Link*>(handle);
  if (!exist(link)) return invalid_handle;
  return delete link, success;
}
