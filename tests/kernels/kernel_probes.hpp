// SPDX-License-Identifier: Apache-2.0
// Runs kernels that show what wrappers of kernels/common do.
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner {

class KernelProbes {
 protected:
  /// headers: all of kernels/common that the source includes, without folder and suffix.
  KernelProbes(backend::Backend& backend, std::string_view source,
               std::vector<std::string_view> headers)
      : backend_(backend), source_(source), headers_(std::move(headers)) {}

  [[nodiscard]] backend::Buffer buffer(std::size_t bytes) {
    return backend::Buffer(backend_, bytes);
  }
  template <class Element>
  [[nodiscard]] backend::Buffer upload(const std::vector<Element>& values) {
    backend::Buffer buffer(backend_, values.size() * sizeof(Element));
    backend_.write(buffer.id(), std::as_bytes(std::span(values)));
    return buffer;
  }
  template <class Element>
  [[nodiscard]] std::vector<Element> download(const backend::Buffer& buffer) {
    std::vector<Element> values(buffer.size_bytes() / sizeof(Element));
    backend_.read(buffer.id(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// One block of 128 threads.
  void run(const std::string& entry, std::uint32_t shared_bytes,
           std::vector<backend::LaunchArgument> arguments) {
    family::CompileJob job;
    job.source = {.name = "probes.cu", .text = std::string(source_), .headers = {}};
    for (const std::string_view name : headers_) {
      const std::string file = fmt::format("common/{}.cuh", name);
      job.source.headers.push_back(
          {.name = file, .text = read_file(TUNER_SOURCE_DIR "/kernels/" + file, 1 << 20)});
    }
    job.entries = {entry};
    std::vector<std::string_view> identity = {entry, source_};
    for (const source::Header& header : job.source.headers) identity.push_back(header.text);
    job.key = content_hash(identity);
    const auto binary = backend_.compiler().compile(job);
    ASSERT_TRUE(binary) << binary.error().message;
    const backend::LoadedKernel kernel(backend_, backend_.load(*binary).value());
    const auto done = backend_.run(backend::Launch{
        .kernel = kernel.id(),
        .steps = {{.geometry = {.block = {128, 1, 1}, .dynamic_shared_bytes = shared_bytes},
                   .arguments = std::move(arguments)}}});
    ASSERT_TRUE(done) << done.error().message;
  }

 private:
  backend::Backend& backend_;
  std::string_view source_;
  std::vector<std::string_view> headers_;
};

}  // namespace tuner
