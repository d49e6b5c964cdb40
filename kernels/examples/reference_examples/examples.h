#pragma once
// The examples of Pallas' GPU reference, design note and quickstart as small kernels, one file a
// theme.
#include <functional>
#include <string>
#include <vector>

#include "kernels/frame/spec.h"

namespace palladion::kernels::reference_examples {

std::vector<KernelSpec> quickstart();       // references, indexing, masks, higher-order kernels
std::vector<KernelSpec> block_specs();      // pallas_call, BlockSpecs, activations, vmap
std::vector<KernelSpec> matrix_products();  // wgmma: transforms, accumulators, operands, buffers
std::vector<KernelSpec> meshes();           // kernels, threads, clusters, semaphores
std::vector<KernelSpec> synchronisation();  // commit_smem, queues, cluster barriers
std::vector<KernelSpec> copies();           // barriers of copies, waits, groups
std::vector<KernelSpec> layouts();          // arrays in registers
std::vector<KernelSpec> tensor_memory();    // Blackwell: TMEM, tcgen05, pairs of CTAs
std::vector<KernelSpec> gathers();          // Blackwell: rows picked by their numbers

// --- for the themes
// Inputs of these types: normal numbers, integers from -100 to 99.
std::function<std::vector<Array>(const Choice&, uint64_t)> random_inputs(
    std::function<std::vector<pl::ShapeDtype>(const Choice&)> types);
// One input for each of these types.
using TypeOf = std::function<pl::ShapeDtype(const Choice&)>;
std::function<std::vector<Array>(const Choice&, uint64_t)> random_arrays(std::vector<TypeOf> types);
// f32 arrays of the sizes n, and rows x n.
pl::ShapeDtype row(const Choice& choice);
pl::ShapeDtype rows(const Choice& choice);

// Element i of the output is f(element i of each input), computed in f64 and rounded once.
using ElementFunction = std::function<double(const std::vector<double>&)>;
Array map_elements(const std::vector<Array>& inputs, const ElementFunction& f);
// A reference of one output that map_elements computes.
std::function<std::vector<Array>(const Choice&, const std::vector<Array>&)> elementwise(ElementFunction f);

}  // namespace palladion::kernels::reference_examples
