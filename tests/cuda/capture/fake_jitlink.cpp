// A libnvJitLink.so.13 for tests: linking gives an ELF file of no sections.
#include <cstdint>
#include <cstring>

namespace {

char elf[64] = "\177ELF\2\1\1";

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the library's own names
int __nvJitLinkCreate_13_0(void** link, uint32_t, const char**) { return *link = elf, 0; }
int __nvJitLinkAddData_13_0(void*, int, const void*, size_t, const char*) { return 0; }
int __nvJitLinkComplete_13_0(void*) { return 0; }
int __nvJitLinkGetLinkedCubinSize_13_0(void*, size_t* bytes) { return *bytes = sizeof elf, 0; }
int __nvJitLinkGetLinkedCubin_13_0(void*, void* cubin) {
  elf[40] = 64;  // the table of sections begins behind the header
  elf[8] = 'j';
  return std::memcpy(cubin, elf, sizeof elf), 0;
}
int __nvJitLinkDestroy_13_0(void** link) { return *link = nullptr, 0; }
// NOLINTEND(bugprone-reserved-identifier)
}
