#include "verify/arrays/npy_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace palladion::npy {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto span = std::as_bytes(std::span(text));
  return {span.begin(), span.end()};
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto span = std::as_bytes(std::span(values));
  return {span.begin(), span.end()};
}

// A .npy file of version 1 with the given dictionary, as NumPy pads it.
std::vector<std::byte> npy_file(std::string dict, const std::vector<std::byte>& data, char version = 1) {
  const size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string head = std::string("\x93NUMPY") + version + '\0';
  head += char(dict.size() & 0xff);
  head += char(dict.size() >> 8);
  if (version > 1) head += std::string(2, '\0');
  auto file = bytes_of(head + dict);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

class NpyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("palladion_npy_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  size_t files_in_folder() const {
    return size_t(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

TEST_F(NpyTest, writes_what_numpy_writes) {
  // np.save of np.array([[1, 2, 3], [4, 5, 6]], np.float32), up to the data.
  const std::string expected = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                               std::string(58, ' ') + "\n";
  EXPECT_EQ(npy::header("f32", npy::Shape{2, 3}), expected);
  EXPECT_THAT(npy::header("i64", npy::Shape{7}), HasSubstr("'shape': (7,), "));
  EXPECT_THAT(npy::header("i64", npy::Shape{}), HasSubstr("'shape': (), "));
  EXPECT_EQ(npy::header("f16", npy::Shape{1, 2, 3, 4, 5}).size() % 64, 0u);
}

TEST_F(NpyTest, every_type_comes_back) {
  for (const char* dtype : {"f16", "f32", "f64", "bf16", "e4m3", "e5m2", "i8", "i16", "i32", "i64", "u8",
                            "u16", "u32", "u64", "pred"}) {
    std::vector<std::byte> data(6 * npy::size_of(dtype));
    for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i * 7 + 1);
    const auto path = folder_ / dtype;
    ASSERT_TRUE(write_npy(path, dtype, npy::Shape{3, 2}, data).has_value()) << dtype;
    const auto back = read_npy(path, {.dtype = dtype, .shape = npy::Shape{3, 2}});
    ASSERT_TRUE(back.has_value()) << back.error();
    EXPECT_EQ(back->dtype, dtype);
    EXPECT_EQ(back->shape, (npy::Shape{3, 2}));
    EXPECT_EQ(back->data, data);
  }
}

TEST_F(NpyTest, scalars_and_empty_arrays) {
  ASSERT_TRUE(write_npy(folder_ / "scalar", "f64", npy::Shape{}, bytes_of(std::vector<double>{2.5})));
  EXPECT_EQ(read_npy(folder_ / "scalar")->shape, npy::Shape{});
  ASSERT_TRUE(write_npy(folder_ / "empty", "f32", npy::Shape{0, 4}, {}));
  EXPECT_EQ(read_npy(folder_ / "empty")->data.size(), 0u);
}

TEST_F(NpyTest, versions_2_and_3_and_spacing_are_read) {
  for (char version : {2, 3}) {
    const auto file = npy_file("{ \"shape\" :( 2, ),'fortran_order':False,'descr':'<i4'}",
                               bytes_of(std::vector{1, -2}), version);
    const auto array = npy::parse(file, "x.npy");
    ASSERT_TRUE(array.has_value()) << array.error();
    EXPECT_EQ(array->dtype, "i32");
    EXPECT_EQ(array->data, bytes_of(std::vector{1, -2}));
  }
}

TEST_F(NpyTest, fortran_order_is_transposed) {
  // Shape (2, 3, 2), element (i, j, k) = 100 i + 10 j + k, first index fastest.
  std::vector<int16_t> columns, rows;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) columns.push_back(int16_t(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k) rows.push_back(int16_t(100 * i + 10 * j + k));
  const auto array = npy::parse(
      npy_file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }", bytes_of(columns)), "x");
  ASSERT_TRUE(array.has_value()) << array.error();
  EXPECT_EQ(array->data, bytes_of(rows));
}

TEST_F(NpyTest, big_endian_is_swapped) {
  const auto array = npy::parse(npy_file("{'descr': '>u4', 'fortran_order': False, 'shape': (1,), }",
                                         bytes_of(std::string_view("\x01\x02\x03\x04"))),
                                "x");
  ASSERT_TRUE(array.has_value());
  EXPECT_EQ(array->data, bytes_of(std::vector<uint32_t>{0x01020304}));
}

TEST_F(NpyTest, opaque_types_follow_the_expectation) {
  const auto one = bytes_of(std::string_view("\x38"));
  const auto v1 = npy_file("{'descr': '|V1', 'fortran_order': False, 'shape': (1,), }", one);
  EXPECT_EQ(npy::parse(v1, "x")->dtype, "e4m3");
  EXPECT_EQ(npy::parse(v1, "x", {.dtype = "e5m2"})->dtype, "e5m2");
  const auto f1 = npy_file("{'descr': '<f1', 'fortran_order': False, 'shape': (1,), }", one);
  EXPECT_EQ(npy::parse(f1, "x")->dtype, "e5m2");
  EXPECT_FALSE(npy::parse(f1, "x", {.dtype = "e4m3"}).has_value());
  const auto raw =
      npy_file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", bytes_of(std::string_view("ab")));
  EXPECT_EQ(npy::parse(raw, "x", {.dtype = "bf16"})->dtype, "bf16");
  EXPECT_FALSE(npy::parse(raw, "x", {.dtype = "f16"}).has_value()) << "f16 has a NumPy type of its own";
}

TEST_F(NpyTest, errors_name_the_file_and_what_was_expected) {
  const npy::Expected f16_512x256 = {.dtype = "f16", .shape = npy::Shape{512, 256}};
  const auto message = [&](const std::vector<std::byte>& file) {
    const auto array = npy::parse(file, "a.npy", f16_512x256);
    return array ? std::string("no error") : array.error();
  };
  EXPECT_EQ(message(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (512, 256), }", {})),
            "a.npy: holds f32[512,256]; expected f16[512,256]");
  EXPECT_EQ(message(npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (256, 512), }", {})),
            "a.npy: holds f16[256,512]; expected f16[512,256]");
  EXPECT_EQ(message(npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (512, 256), }",
                             std::vector<std::byte>(1000))),
            "a.npy: is truncated: f16[512,256] needs 262144 bytes of data, the file has 1000; expected "
            "f16[512,256]");
  EXPECT_THAT(message(npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (512, 256), }",
                               std::vector<std::byte>(262145))),
              HasSubstr("has 1 bytes after"));
  EXPECT_THAT(message(npy_file("{'descr': '<c8', 'fortran_order': False, 'shape': (512, 256), }", {})),
              HasSubstr("'<c8'"));
  EXPECT_THAT(message(npy_file("{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (1,), }", {})),
              HasSubstr("records"));
  EXPECT_THAT(message(bytes_of(std::string_view("PK\x03\x04"))), HasSubstr("not a .npy file"));
  EXPECT_THAT(
      read_npy(folder_ / "absent.npy", f16_512x256).error(),
      testing::AllOf(HasSubstr("absent.npy"), HasSubstr("No such file"), HasSubstr("expected f16[512,256]")));
  EXPECT_THAT(read_npy(folder_).error(), HasSubstr("is a folder"));
}

TEST_F(NpyTest, damaged_headers_are_errors) {
  const auto whole =
      npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }", std::vector<std::byte>(8));
  ASSERT_TRUE(npy::parse(whole, "x").has_value());
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(npy::parse(std::span(whole).first(length), "x").has_value()) << length;
  }
  for (const char* dict :
       {"", "{", "{'descr'}", "{'descr': 5}", "{'descr': '<f2', 'fortran_order': Maybe, 'shape': (2, 2)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, -2)}", "{'descr': '<f2', 'shape': (2, 2)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2)} + 1"}) {
    EXPECT_FALSE(npy::parse(npy_file(dict, std::vector<std::byte>(8)), "x").has_value()) << dict;
  }
}

TEST_F(NpyTest, writing_replaces_whole_files_only) {
  const auto path = folder_ / "out.npy";
  ASSERT_TRUE(host::write_text(path, "old"));
  EXPECT_FALSE(write_npy(path, "f32", npy::Shape{4}, std::vector<std::byte>(3)).has_value());
  EXPECT_EQ(*host::read_text(path, 1 << 20), "old");
  ASSERT_TRUE(write_npy(path, "f32", npy::Shape{1}, std::vector<std::byte>(4)));
  EXPECT_EQ(read_npy(path)->dtype, "f32");
  EXPECT_EQ(files_in_folder(), 1u) << "nothing is left aside";
}

TEST_F(NpyTest, writing_keeps_mode_and_links) {
  namespace fs = std::filesystem;
  const auto file = folder_ / "real", link = folder_ / "link";
  ASSERT_TRUE(host::write_text(file, "old"));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  ASSERT_TRUE(host::write_text(link, "new"));
  EXPECT_EQ(*host::read_text(file, 1 << 20), "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NpyTest, devices_and_missing_folders) {
  EXPECT_TRUE(host::write_text("/dev/null", "gone").has_value());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto missing = host::write_text(folder_ / "no" / "such" / "x.json", "{}");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error(), HasSubstr("no/such/x.json: cannot be written: No such file"));
}

}  // namespace
}  // namespace palladion::npy
