// SPDX-License-Identifier: Apache-2.0
// Kernels of this repository with a mistake, which verification must refuse.
#pragma once

#include "kernel_family.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tuner/core/hash.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A mistake: a text of the source or a header, and what stands there instead.
struct Mistake {
  std::string_view what, right, wrong;
};

inline void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.what;
}

/// Replaces the one occurrence in the source and its headers.
inline void make_mistake(const Mistake& mistake, source::KernelSource& source) {
  int found = 0;
  const auto look = [&](std::string& text) {
    for (std::size_t at = text.find(mistake.right); at != std::string::npos;
         at = text.find(mistake.right, at + mistake.wrong.size())) {
      text.replace(at, mistake.right.size(), mistake.wrong);
      ++found;
    }
  };
  look(source.text);
  for (source::Header& header : source.headers) look(header.text);
  ASSERT_EQ(found, 1) << mistake.right;
}

struct MistakenCase {
  std::string_view size;
  std::string condition;
};

/// Verification refuses the kernel with the mistake in one of the cases.
inline void expect_found(const Mistake& mistake, std::string_view kernel_name,
                         const std::vector<MistakenCase>& cases,
                         const std::string& family_name = "gemm_tensor") {
  const auto backend = testing_support::open_cached_cpu_backend();
  const family::Family family =
      family::load_family(TUNER_SOURCE_DIR "/spaces/" + family_name + ".json");
  const family::Kernel& kernel = family.kernel(std::string(kernel_name));
  const space::DeviceAttributes& device = backend->device().attributes;
  verify::Verifier verifier(*backend, family, 77);
  for (const auto& [size_text, condition] : cases) {
    const space::Size size = space::parse_size(size_text, family.problem.dims);
    const space::Space space(kernel.space, device, size);
    const space::Config config = configuration(kernel, device, size, condition);
    family::CompileJob job = family::compile_job(kernel, space, config);
    make_mistake(mistake, job.source);
    job.key = content_hash({job.key, mistake.right, mistake.wrong});
    const auto binary = backend->compiler().compile(job);
    ASSERT_TRUE(binary) << binary.error().message;
    const backend::LoadedKernel loaded(*backend, backend->load(*binary).value());
    verify::LoadedCandidate candidate{
        .kernel = kernel, .space = space, .config = config, .loaded = loaded.id()};
    if (!verifier.verify(candidate, size)) return;
  }
  FAIL() << "all configurations pass";
}

}  // namespace tuner
