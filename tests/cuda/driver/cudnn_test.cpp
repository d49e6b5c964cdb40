// cuDNN's backend interface: graphs of convolutions and functions behind them, against their definition.
#include <algorithm>
#include <array>
#include <functional>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver::cudnn_graphs {
namespace {

using Sizes = std::vector<int64_t>;
using Object = void*;  // cudnnBackendDescriptor_t
enum Kind : int {
  pointwise = 0,
  convolution,
  engine,
  config,
  heuristics,
  plan,
  forward = 10,
  filter_gradient,
  image_gradient,
  function,
  matmul = 19,
  graph = 15,
  pack = 16,
  tensor = 17
};
enum Type : int {
  handle_type = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  real = 4,
  address = 6,
  mode_type = 7,
  heuristic_type = 8,
  function_type = 14,
  object = 15
};
constexpr int f32 = 0, f16 = 2;
constexpr Status bad_param = 2000, unsupported_graph = 3001, execution_failed = 5000;

// A convolution of two spatial dimensions.
struct Shape {
  Sizes image, filter, response, strides = {1, 1}, dilations = {1, 1}, before = {1, 1};
  bool mirrored = false;

  // visit(image element, filter element, response element) for each product.
  void each(const std::function<void(int64_t, int64_t, int64_t)>& visit) const {
    const int64_t groups = image[1] / filter[1], outputs = filter[0] / groups;
    for (int64_t n = 0; n < response[0]; ++n)
      for (int64_t k = 0; k < response[1]; ++k)
        for (int64_t p = 0; p < response[2]; ++p)
          for (int64_t q = 0; q < response[3]; ++q)
            for (int64_t c = 0; c < filter[1]; ++c)
              for (int64_t r = 0; r < filter[2]; ++r)
                for (int64_t s = 0; s < filter[3]; ++s) {
                  const int64_t h = p * strides[0] + r * dilations[0] - before[0],
                                w = q * strides[1] + s * dilations[1] - before[1];
                  if (h < 0 || w < 0 || h >= image[2] || w >= image[3]) continue;
                  const int64_t row = mirrored ? filter[2] - 1 - r : r,
                                column = mirrored ? filter[3] - 1 - s : s;
                  visit(at(image, {n, k / outputs * filter[1] + c, h, w}), at(filter, {k, c, row, column}),
                        at(response, {n, k, p, q}));
                }
  }
  static int64_t at(const Sizes& sizes, const Sizes& index) {
    int64_t out = 0;
    for (size_t d = 0; d < sizes.size(); ++d) out = out * sizes[d] + index[d];
    return out;
  }
};

std::vector<float> some(const Sizes& sizes, int seed) {
  size_t n = 1;
  for (const int64_t size : sizes) n *= size_t(size);
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = float(int(i * 7 + size_t(seed) * 5) % 11 - 5);
  return out;
}

class Cudnn : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcudnn.so.9").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cudnnCreate", &handle_), success);
    owned(handle_, "cudnnDestroy");
  }
  Object make(int kind) {
    Object d = nullptr;
    EXPECT_EQ(call("cudnnBackendCreateDescriptor", kind, &d), success);
    return owned(d, "cudnnBackendDestroyDescriptor");
  }
  template <class T>
  void set(Object d, int name, int type, const std::vector<T>& values) {
    EXPECT_EQ(call("cudnnBackendSetAttribute", d, name, type, int64_t(values.size()),
                   static_cast<const void*>(values.data())),
              success);
  }
  Status finish(Object d) { return call("cudnnBackendFinalize", d); }
  Object finished(Object d) {
    EXPECT_EQ(finish(d), success);
    return d;
  }
  Object make_tensor(int64_t id, const Sizes& sizes, int type = f32, bool is_virtual = false) {
    const Object d = make(tensor);
    Sizes strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    set(d, 901, data_type, std::vector{type});
    set(d, 902, int64, sizes);
    set(d, 903, int64, strides);
    set(d, 906, int64, Sizes{id});
    const std::array<char, 1> flag = {char(is_virtual)};
    EXPECT_EQ(call("cudnnBackendSetAttribute", d, 907, int{boolean}, int64_t{1},
                   static_cast<const void*>(flag.data())),
              success);
    return finished(d);
  }
  // `first`: the number of its attribute alpha.
  Object convolve(int kind, int first, const Shape& s, const std::vector<Object>& tensors, float alpha = 1,
                  float beta = 0) {
    const Object c = make(convolution), d = make(kind);
    set(c, 101, mode_type, std::vector{s.mirrored ? 0 : 1});
    set(c, 102, int64, s.dilations);
    set(c, 103, int64, s.strides);
    set(c, 104, int64, s.before);
    set(c, 105, int64, s.before);
    set(d, first, real, std::vector{alpha});
    set(d, first + 1, real, std::vector{beta});
    set(d, first + 2, object, std::vector{finished(c)});
    for (int i = 0; i < 3; ++i) set(d, first + 3 + i, object, std::vector{tensors[size_t(i)]});
    return finished(d);
  }
  Object apply(int mode, Object x, Object b, Object y) {
    const Object f = make(pointwise), d = make(function);
    set(f, 0, function_type, std::vector{mode});
    set(d, 750, object, std::vector{finished(f)});
    set(d, 751, object, std::vector{x});
    if (b != nullptr) set(d, 752, object, std::vector{b});
    set(d, 753, object, std::vector{y});
    return finished(d);
  }
  Object graph_of(const std::vector<Object>& operations) {
    const Object d = make(graph);
    set(d, 800, handle_type, std::vector{handle_});
    set(d, 801, object, operations);
    return d;
  }
  // As programs do: the plan of the first configuration that is proposed.
  Status run(const std::vector<Object>& operations, const Sizes& ids, const std::vector<void*>& memory) {
    const Object asked = make(heuristics), found = make(config), planned = make(plan), given = make(pack);
    set(asked, 201, object, std::vector{finished(graph_of(operations))});
    set(asked, 200, heuristic_type, std::vector{0});
    int64_t count = 0, size = 9;
    EXPECT_EQ(call("cudnnBackendGetAttribute", finished(asked), 202, int{object}, int64_t{1}, &count,
                   static_cast<void*>(std::array<Object, 1>{found}.data())),
              success);
    EXPECT_EQ(count, 1);
    set(planned, 401, object, std::vector{found});
    EXPECT_EQ(call("cudnnBackendGetAttribute", finished(planned), 402, int{int64}, int64_t{1}, &count,
                   static_cast<void*>(&size)),
              success);
    EXPECT_EQ(size, 0);
    set(given, 1000, int64, ids);
    set(given, 1001, address, memory);
    return call("cudnnBackendExecute", handle_, planned, finished(given));
  }
  std::vector<float> response_of(const Shape& s, const std::vector<float>& x, const std::vector<float>& w) {
    const OfDevice<float> image(*this, x), filter(*this, w), response(*this, some(s.response, 9));
    const std::vector<Object> tensors = {make_tensor(2, s.filter), make_tensor(1, s.image),
                                         make_tensor(3, s.response)};
    EXPECT_EQ(run({convolve(forward, 700, s, tensors)}, {1, 2, 3},
                  {image.pointer(), filter.pointer(), response.pointer()}),
              success);
    return response.values();
  }
  void* handle_ = nullptr;
};

const Shape plain = {.image = {2, 3, 5, 6}, .filter = {4, 3, 3, 3}, .response = {2, 4, 5, 6}};
const Shape strided = {.image = {1, 4, 7, 9},
                       .filter = {6, 2, 3, 2},
                       .response = {1, 6, 4, 5},
                       .strides = {2, 2},
                       .dilations = {1, 2},
                       .before = {1, 1},
                       .mirrored = true};

TEST_F(Cudnn, ConvolvesAsDefined) {
  for (const Shape& s : {plain, strided}) {
    const auto x = some(s.image, 1), w = some(s.filter, 2);
    std::vector<float> wanted(some(s.response, 0).size());
    s.each([&](int64_t i, int64_t f, int64_t r) { wanted[size_t(r)] += x[size_t(i)] * w[size_t(f)]; });
    EXPECT_EQ(response_of(s, x, w), wanted);
  }
}

TEST_F(Cudnn, GradientsAreThoseOfTheDefinition) {
  for (const Shape& s : {plain, strided}) {
    const auto x = some(s.image, 1), w = some(s.filter, 2), y = some(s.response, 3);
    std::vector<float> of_image(x.size()), of_filter(w.size(), 0);
    for (size_t i = 0; i < w.size(); ++i) of_filter[i] = 10 * w[i];  // beta
    s.each([&](int64_t i, int64_t f, int64_t r) {
      of_image[size_t(i)] += 2 * w[size_t(f)] * y[size_t(r)];
      of_filter[size_t(f)] += x[size_t(i)] * y[size_t(r)];
    });
    const OfDevice<float> image(*this, x), filter(*this, w), response(*this, y);
    const Object dx = make_tensor(1, s.image), dw = make_tensor(2, s.filter), dy = make_tensor(3, s.response);
    const Sizes ids = {1, 2, 3};
    const std::vector<void*> memory = {image.pointer(), filter.pointer(), response.pointer()};
    // The filter's first: the image is its argument.
    EXPECT_EQ(run({convolve(filter_gradient, 712, s, {dw, dx, dy}, 1, 10)}, ids, memory), success);
    EXPECT_EQ(filter.values(), of_filter);
    const OfDevice<float> again(*this, w);
    EXPECT_EQ(run({convolve(image_gradient, 706, s, {dw, dx, dy}, 2)}, ids,
                  {image.pointer(), again.pointer(), response.pointer()}),
              success);
    EXPECT_EQ(image.values(), of_image);
  }
}

TEST_F(Cudnn, GraphsHaveBiasAndActivationBehindAConvolution) {
  const auto x = some(plain.image, 1), w = some(plain.filter, 2), b = std::vector<float>{1, -40, 2, 0};
  std::vector<float> wanted(some(plain.response, 0).size());
  plain.each([&](int64_t i, int64_t f, int64_t r) { wanted[size_t(r)] += x[size_t(i)] * w[size_t(f)]; });
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(0.0F, wanted[i] + b[i / 30 % 4]);
  const OfDevice<float> image(*this, x), filter(*this, w), bias(*this, b),
      out(*this, std::vector<float>(wanted.size()));
  const Object sum = make_tensor(10, plain.response, f32, true),
               biased = make_tensor(11, plain.response, f32, true);
  const std::vector<Object> operations = {
      apply(100, biased, nullptr, make_tensor(4, plain.response)),
      apply(0, sum, make_tensor(3, {1, 4, 1, 1}), biased),
      convolve(forward, 700, plain, {make_tensor(2, plain.filter), make_tensor(1, plain.image), sum})};
  EXPECT_EQ(run(operations, {1, 2, 3, 4}, {image.pointer(), filter.pointer(), bias.pointer(), out.pointer()}),
            success);
  EXPECT_EQ(out.values(), wanted) << "operations in any order";
}

TEST_F(Cudnn, ElementsAreStoredInTheirType) {
  const Shape s = {.image = {1, 1, 1, 1}, .filter = {1, 1, 1, 1}, .response = {1, 1, 1, 1}, .before = {0, 0}};
  const OfDevice<float> image(*this, {2049}), filter(*this, {1});
  const OfDevice<uint16_t> response(*this, {0});
  const std::vector<Object> tensors = {make_tensor(2, s.filter), make_tensor(1, s.image),
                                       make_tensor(3, s.response, f16)};
  EXPECT_EQ(run({convolve(forward, 700, s, tensors)}, {1, 2, 3},
                {image.pointer(), filter.pointer(), response.pointer()}),
            success);
  EXPECT_EQ(response.values(), std::vector<uint16_t>{0x6800}) << "2048";
}

TEST_F(Cudnn, WhatIsNotThereIsNamed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(finish(graph_of({finished(make(matmul))})), unsupported_graph);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "palladion exec: unsupported: cudnnBackendFinalize: an operation of cudnnBackendDescriptorType_t 19\n");
  Shape wrong = plain;
  wrong.filter[1] = 2;
  const std::vector<Object> tensors = {make_tensor(2, wrong.filter), make_tensor(1, wrong.image),
                                       make_tensor(3, wrong.response)};
  EXPECT_EQ(finish(graph_of({convolve(forward, 700, wrong, tensors)})), unsupported_graph);
}

TEST_F(Cudnn, FunctionsOfTensorsThatDoNotFitAreNamed) {
  const auto refused = [&](const Sizes& x, const Sizes& b, const Sizes& y, int64_t id_of_y = 3) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(finish(graph_of({apply(0, make_tensor(1, x), make_tensor(2, b), make_tensor(id_of_y, y))})),
              unsupported_graph);
    return testing::internal::GetCapturedStderr();
  };
  const std::string shape = "palladion exec: unsupported: cudnnBackendFinalize: ";
  EXPECT_EQ(refused({2, 3}, {2, 3}, {2, 5}), shape + "a function of tensors that do not fit\n");
  EXPECT_EQ(refused({2, 3}, {1, 2}, {2, 3}), "") << "it was named";
  EXPECT_EQ(refused({2, 3}, {1, 3}, {2, 5}, 1), shape + "tensors of one number and several shapes\n");
  EXPECT_EQ(
      finish(graph_of({apply(0, make_tensor(1, {2, 3}), make_tensor(2, {1, 3}), make_tensor(3, {2, 3}))})),
      success);
}

TEST_F(Cudnn, MemoryOfOthersIsRefused) {
  std::vector<float> here(1000);
  const std::vector<Object> tensors = {make_tensor(2, plain.filter), make_tensor(1, plain.image),
                                       make_tensor(3, plain.response)};
  const Object operation = convolve(forward, 700, plain, tensors);
  EXPECT_EQ(run({operation}, {1, 2, 3}, {here.data(), here.data(), here.data()}), execution_failed);
  EXPECT_EQ(run({operation}, {1, 2}, {here.data(), here.data()}), bad_param) << "a tensor without memory";
}

}  // namespace
}  // namespace palladion::cuda::driver::cudnn_graphs
