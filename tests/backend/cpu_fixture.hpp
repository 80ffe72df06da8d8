// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/cpu_backend.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tuner::backend {

/// A cpu backend, and short ways to compile, feed and launch a kernel on it.
class CpuBackendTest : public testing::Test {
 protected:
  Backend& backend() { return *backend_; }

  Expected<Binary, Failure> compile(std::string source, std::string entry = "kernel",
                                    std::vector<std::string> options = {}) {
    family::CompileJob job;
    job.source = {.name = "kernel.cu", .text = std::move(source), .headers = {}};
    job.entries = {std::move(entry)};
    job.options = std::move(options);
    return backend_->compiler().compile(job);
  }

  KernelId load(std::string source, std::string entry = "kernel",
                std::vector<std::string> options = {}) {
    const auto binary = compile(std::move(source), std::move(entry), std::move(options));
    if (!binary) throw std::runtime_error(binary.error().message);
    const auto kernel = backend_->load(*binary);
    if (!kernel) throw std::runtime_error(kernel.error().message);
    return *kernel;
  }

  template <class T>
  BufferId upload(const std::vector<T>& values) {
    const BufferId buffer = backend_->allocate(values.size() * sizeof(T));
    backend_->write(buffer, std::as_bytes(std::span(values)));
    return buffer;
  }

  template <class T>
  std::vector<T> download(BufferId buffer, std::size_t count) {
    std::vector<T> values(count);
    backend_->read(buffer, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Launches `source`'s kernel(int*) on a buffer of `count` zeros and returns it.
  std::vector<int> run_on_zeros(const std::string& source, const family::Geometry& geometry,
                                std::size_t count) {
    const BufferId buffer = upload(std::vector<int>(count));
    const KernelId kernel = load(source);
    const auto done = backend_->run(
        Launch{.kernel = kernel, .steps = {{.geometry = geometry, .arguments = {buffer}}}});
    EXPECT_TRUE(done) << done.error().message;
    backend_->unload(kernel);
    return download<int>(buffer, count);
  }

 private:
  std::unique_ptr<Backend> backend_ = open_cpu_backend();
};

}  // namespace tuner::backend
