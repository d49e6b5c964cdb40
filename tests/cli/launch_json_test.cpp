// `palladion ptx --launch`: what is launched, for programs that make the launch.
#include <algorithm>
#include <boost/json/parse.hpp>

#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

class LaunchJson : public Program {};

TEST_F(LaunchJson, SaysArraysAndParameters) {
  const auto ran = run("ptx vector_add --shape n=1024 -o " + file("a.ptx") + " --launch " + file("a.json"));
  ASSERT_EQ(ran.status, 0) << ran.out;
  const auto launch = boost::json::parse(read(file("a.json"))).as_object();
  EXPECT_EQ(launch.at("kernel"), "vector_add");
  EXPECT_EQ(launch.at("sizes").at("n"), 1024);
  const auto& arrays = launch.at("arrays").as_array();
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_EQ(arrays[0].at("role"), "in");
  EXPECT_EQ(arrays[2].at("role"), "out");
  EXPECT_EQ(arrays[2].at("shape"), boost::json::array{1024});
  EXPECT_EQ(launch.at("params").as_array().size(), 3U);
}

TEST_F(LaunchJson, EncodesTensorMaps) {
  const auto ran =
      run("ptx matmul_ws --shape m=256,n=256,k=256 -o " + file("a.ptx") + " --launch " + file("a.json"));
  ASSERT_EQ(ran.status, 0) << ran.out;
  const auto launch = boost::json::parse(read(file("a.json"))).as_object();
  EXPECT_EQ(launch.at("params").at(0).at("array"), 0);
  EXPECT_EQ(launch.at("params").at(0).at("tensor_map").as_string().size(), 256U);
}

TEST_F(LaunchJson, NamesTheNumbersGivenAtLaunch) {
  const auto ran = run("ptx matmul_ws --shape m=256,n=256,k=256 --set scaled=1 --set alpha=0.5 -o " +
                       file("a.ptx") + " --launch " + file("a.json"));
  ASSERT_EQ(ran.status, 0) << ran.out;
  const auto launch = boost::json::parse(read(file("a.json"))).as_object();
  const boost::json::value alpha = {{"bytes", "0000003f"}, {"number", "alpha"}, {"dtype", "f32"}};
  const auto& params = launch.at("params").as_array();
  EXPECT_EQ(std::ranges::count(params, alpha), 1);
}

// The settings of the nearest sizes of a table, unless one is named.
TEST_F(LaunchJson, HasTheSettingsOfATable) {
  const auto tile = [&](const std::string& words) {
    const auto ran = run("ptx matmul_ws " + words + " -o " + file("a.ptx") + " --launch " + file("a.json"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return std::string(boost::json::parse(read(file("a.json"))).at_pointer("/settings/tile_n").as_string());
  };
  EXPECT_EQ(tile("--shape m=4096,n=4096,k=4096"), "256");
  EXPECT_EQ(tile("--shape m=5120,n=3584,k=4096 --set profile=1"), "256");
  EXPECT_EQ(tile("--shape m=4096,n=4096,k=4096 --set stages=4"), "128");
  EXPECT_EQ(tile("--shape m=8192,n=8192,k=8192"), "128") << "of 4096 by 8192 by 4096";
  EXPECT_EQ(tile("--shape m=512,n=512,k=512"), "128");
}

TEST_F(LaunchJson, IsOfKernelsAlone) {
  const auto ran = run("ptx --ptx docs/howto/saxpy.ptx --launch " + file("a.json"));
  EXPECT_NE(ran.status, 0);
}

}  // namespace
}  // namespace palladion::cli
