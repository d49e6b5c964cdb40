// Records what instructions answer to special operands, as csv files by kind. See special_values.py.
#include <map>

#include "hash.cuh"

struct Test {
  const char* instruction;
  const char* file;
  void (*kernel)(const U64* in, U64* out, ulonglong2* scratch, int count);
  int result_digits;
  std::vector<int> operand_digits;
  std::vector<std::vector<U64>> operands;
};

#include "special_values.inc"

/// Every combination of the operands, three words each.
std::vector<U64> combinations(const Test& test) {
  static const std::vector<U64> nothing = {0};
  const auto set = [&](std::size_t k) -> const std::vector<U64>& {
    return k < test.operands.size() ? test.operands[k] : nothing;
  };
  std::vector<U64> all;
  for (U64 a : set(0)) {
    for (U64 b : set(1)) {
      for (U64 c : set(2)) all.insert(all.end(), {a, b, c});
    }
  }
  return all;
}

std::vector<U64> run(const Test& test, const std::vector<U64>& in) {
  const int count = static_cast<int>(in.size() / 3);
  U64 *device_in = nullptr, *device_out = nullptr;
  ulonglong2* scratch = nullptr;
  check(cudaMalloc(&device_in, in.size() * sizeof(U64)), "cudaMalloc");
  check(cudaMalloc(&device_out, count * sizeof(U64)), "cudaMalloc");
  check(cudaMalloc(&scratch, 2 * count * sizeof(ulonglong2)), "cudaMalloc");
  check(cudaMemcpy(device_in, in.data(), in.size() * sizeof(U64), cudaMemcpyHostToDevice), "cudaMemcpy");
  test.kernel<<<(count + 31) / 32, 32>>>(device_in, device_out, scratch, count);
  check(cudaDeviceSynchronize(), test.instruction);
  std::vector<U64> out(count);
  check(cudaMemcpy(out.data(), device_out, count * sizeof(U64), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (void* p : {static_cast<void*>(device_in), static_cast<void*>(device_out), static_cast<void*>(scratch)}) cudaFree(p);
  return out;
}

int main(int count, char** argument) {
  if (count != 3) return 2;
  std::map<std::string, std::FILE*> files;
  for (const Test& test : tests) {
    std::FILE*& file = files[test.file];
    if (file == nullptr) {
      file = std::fopen((std::string(argument[2]) + "/special_values_" + test.file + ".csv").c_str(), "w");
      write_provenance(file, argument[1]);
      std::fprintf(file, "instruction,a,b,c,result\n");
    }
    const std::vector<U64> in = combinations(test), out = run(test, in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::fprintf(file, "%s", test.instruction);
      for (std::size_t k = 0; k < 3; ++k) {
        std::fputc(',', file);
        if (k < test.operand_digits.size()) std::fprintf(file, "%0*llx", test.operand_digits[k], (unsigned long long)in[3 * i + k]);
      }
      std::fprintf(file, ",%0*llx\n", test.result_digits, (unsigned long long)out[i]);
    }
  }
  for (const auto& [name, file] : files) std::fclose(file);
}
