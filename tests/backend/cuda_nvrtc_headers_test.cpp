// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/nvrtc_headers.hpp"
#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// A toolkit's folder as far as its headers are looked for.
fs::path toolkit(const fs::path& folder, const std::string& version, bool has_cccl) {
  write_file(folder / "include/cuda.h", "#pragma once\n#define CUDA_VERSION " + version + "\n");
  if (has_cccl) write_file(folder / "include/cccl/cub/cub.cuh", "");
  return fs::canonical(folder / "include");
}

TEST(ToolkitHeaders, AreThoseOfTheFirstFolderOfTheVersion) {
  const TemporaryDirectory directory;
  const fs::path older = toolkit(directory.path() / "older", "12090", true);
  const fs::path plain = toolkit(directory.path() / "plain", "13000", false);
  const fs::path whole = toolkit(directory.path() / "whole", "13000", true);
  const std::vector<fs::path> all = {directory.path() / "gone", older, whole, plain};
  EXPECT_THAT(toolkit_header_folders(all, 13000), ElementsAre(whole, whole / "cccl"));
  EXPECT_THAT(toolkit_header_folders(std::vector{plain, whole}, 13000), ElementsAre(plain));
  EXPECT_THAT(toolkit_header_folders(all, 13010), IsEmpty());
}

TEST(ToolkitHeaders, LieBesideTheLibraryOrWhereTheEnvironmentSays) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "lib64/libnvrtc.so.13", "");
  fs::create_symlink("libnvrtc.so.13", directory.path() / "lib64/libnvrtc.so");
  ::setenv("CUDA_HOME", "/opt/cuda", 1);
  const auto candidates = toolkit_header_candidates(directory.path() / "lib64/libnvrtc.so");
  ::unsetenv("CUDA_HOME");
  EXPECT_EQ(candidates.front(), fs::canonical(directory.path()) / "include");
  EXPECT_EQ(candidates[1], fs::canonical(directory.path()).parent_path() / "cuda_runtime/include")
      << "of a Python package of CUDA 12";
  EXPECT_THAT(candidates, Contains(fs::path("/opt/cuda/include")));
  EXPECT_THAT(candidates, Contains(fs::path("/usr/local/cuda/include")));
}

}  // namespace
}  // namespace tuner::backend
