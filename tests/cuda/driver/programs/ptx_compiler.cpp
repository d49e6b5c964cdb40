// A program that contains functions of the PTX compiler's names, as one that is linked with NVIDIA's static
// library: they fail. What it compiles it loads; "wrong": a text with a fault, whose log it prints.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

struct Compiler;
volatile int calls = 0;
// Far from empty, as a function needs room for a jump.
#define FAIL calls = calls + 1, std::puts("its own library"), 4
extern "C" {
__attribute__((noipa)) int nvPTXCompilerCreate(Compiler**, size_t, const char*) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerDestroy(Compiler**) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerCompile(Compiler*, int, const char* const*) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerGetCompiledProgramSize(Compiler*, size_t*) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerGetCompiledProgram(Compiler*, void*) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerGetErrorLogSize(Compiler*, size_t*) { return FAIL; }
__attribute__((noipa)) int nvPTXCompilerGetErrorLog(Compiler*, char*) { return FAIL; }
}

#define CHECK(call) \
  if (const int e = call) return std::printf("%s: %d\n", #call, e), 3

int main(int count, char** words) {
  const bool wrong = count > 1 && std::strcmp(words[1], "wrong") == 0;
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string ptx =
      head + (wrong ? ".visible .entry k() { reverse; }\n" : ".visible .entry k() { ret; }\n");
  const char* const options[] = {"--gpu-name=sm_90", "-O3"};
  Compiler* compiler = nullptr;
  size_t bytes = 0;
  CHECK(nvPTXCompilerCreate(&compiler, ptx.size(), ptx.c_str()));
  const int compiled = nvPTXCompilerCompile(compiler, 2, options);
  CHECK(nvPTXCompilerGetErrorLogSize(compiler, &bytes));
  std::string log(bytes, '\0');
  CHECK(nvPTXCompilerGetErrorLog(compiler, log.data()));
  if (wrong) return std::printf("%d %s", compiled, log.c_str()), 0;
  CHECK(nvPTXCompilerGetCompiledProgramSize(compiler, &bytes));
  std::string image(bytes, '\0');
  CHECK(nvPTXCompilerGetCompiledProgram(compiler, image.data()));
  CHECK(nvPTXCompilerDestroy(&compiler));
  CUcontext context;
  CUdevice device;
  CUmodule module;
  CUfunction function;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, image.data()));
  CHECK(cuModuleGetFunction(&function, module, "k"));
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  return cuCtxSynchronize();
}
