#pragma once
// What the libraries that stand in place of NVIDIA's have in common: each has the functions with which
// programs start, and one that tells its name for every other (absent.txt).

extern "C" int palladion_exec_unsupported(const char* what);  // libcuda.so.1

#define PLD_STAND_IN extern "C" __attribute__((visibility("default")))
