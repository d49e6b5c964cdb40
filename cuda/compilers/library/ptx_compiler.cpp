// The PTX compiler's library (nvPTXCompiler*), which programs contain: the text becomes a cubin that carries
// it.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/compilers/assemble.h"
#include "cuda/compilers/tool.h"

namespace palladion::cuda::compilers {
namespace {

enum Assembled : int {  // nvPTXCompileResult
  assembled = 0,
  no_compiler = 1,
  wrong_input = 2,
  not_assembled = 3,
  not_assembled_yet = 6
};

struct Compiler {
  std::string ptx, cubin, error;
};

int make(Compiler** out, size_t bytes, const char* ptx) {
  if (out == nullptr || ptx == nullptr) return wrong_input;
  const std::string_view text(ptx, bytes);
  *out = new Compiler{std::string(text.substr(0, text.find('\0'))), {}, {}};
  return assembled;
}

int unmake(Compiler** compiler) {
  if (compiler == nullptr || *compiler == nullptr) return no_compiler;
  delete std::exchange(*compiler, nullptr);
  return assembled;
}

int compile(Compiler* c, int count, const char* const* words) {
  if (c == nullptr) return no_compiler;
  if (count < 0 || (count > 0 && words == nullptr)) return wrong_input;
  const std::string ends = "ptxas fatal   : Ptx assembly aborted due to errors\n";
  c->cubin.clear();
  const auto options = options_of({words, words + count});
  if (!options) return c->error = "ptxas fatal   : " + options.error() + '\n', not_assembled;
  const Source source{"application ptx input", c->ptx};
  auto cubin = assemble({&source, 1}, *options);
  c->error = cubin ? "" : text_of(cubin.error(), "ptxas") + ends;
  if (!cubin) return not_assembled;
  c->cubin = std::move(*cubin);
  return assembled;
}

int size_of(const Compiler* c, const std::string& text, size_t* bytes) {
  if (c == nullptr) return no_compiler;
  return bytes == nullptr ? wrong_input : (*bytes = text.size(), assembled);
}
int copy(const Compiler* c, const std::string& text, void* out) {
  if (c == nullptr) return no_compiler;
  return out == nullptr ? wrong_input : (std::memcpy(out, text.c_str(), text.size()), assembled);
}

}  // namespace
}  // namespace palladion::cuda::compilers

#define PLD_STAND_IN extern "C" __attribute__((visibility("default"))) int
using namespace palladion::cuda::compilers;
PLD_STAND_IN nvPTXCompilerGetVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) return wrong_input;
  *major = newest_major;
  *minor = newest_minor;
  return assembled;
}
PLD_STAND_IN nvPTXCompilerCreate(Compiler** out, size_t bytes, const char* ptx) {
  return make(out, bytes, ptx);
}
PLD_STAND_IN nvPTXCompilerDestroy(Compiler** c) { return unmake(c); }
PLD_STAND_IN nvPTXCompilerCompile(Compiler* c, int count, const char* const* words) {
  return compile(c, count, words);
}
PLD_STAND_IN nvPTXCompilerGetCompiledProgramSize(Compiler* c, size_t* bytes) {
  if (c != nullptr && c->cubin.empty()) return not_assembled_yet;
  return size_of(c, c->cubin, bytes);
}
PLD_STAND_IN nvPTXCompilerGetCompiledProgram(Compiler* c, void* out) {
  if (c != nullptr && c->cubin.empty()) return not_assembled_yet;
  return copy(c, c->cubin, out);
}
PLD_STAND_IN nvPTXCompilerGetErrorLogSize(Compiler* c, size_t* bytes) { return size_of(c, c->error, bytes); }
PLD_STAND_IN nvPTXCompilerGetErrorLog(Compiler* c, char* out) { return copy(c, c->error, out); }
PLD_STAND_IN nvPTXCompilerGetInfoLogSize(Compiler* c, size_t* bytes) { return size_of(c, {}, bytes); }
PLD_STAND_IN nvPTXCompilerGetInfoLog(Compiler* c, char* out) { return copy(c, {}, out); }
// It could only stop a compilation, which takes no time here.
PLD_STAND_IN nvPTXCompilerSetFlowCallback(Compiler* c, void*, void*) {
  return c == nullptr ? no_compiler : assembled;
}
