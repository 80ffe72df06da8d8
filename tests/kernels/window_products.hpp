// SPDX-License-Identifier: Apache-2.0
// What the kernels of spaces/window_square.json should compute, by a BLAS: all windows of an image,
// which overlap, are one strided batch of matrices, with the image's width as leading dimension.
#pragma once

#include "kernel_family.hpp"
#include "tuner/core/error.hpp"
#include "tuner/verify/scratch.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct Image {
  int height, width;
  std::vector<std::uint16_t> pixels;
};

/// Dark, so that about half of the sums stay below 65535, with a few pixels as bright as can be.
inline Image image(int height, int width) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> dark(0, 44);
  Image made{height, width, {}};
  for (int i = 0; i < height * width; ++i) {
    made.pixels.push_back(static_cast<std::uint16_t>(i % 389 == 80 ? 65535 : dark(random)));
  }
  return made;
}

class WindowSquares {
 public:
  explicit WindowSquares(backend::Backend& backend)
      : backend_(backend),
        family_(family::load_family(TUNER_SOURCE_DIR "/spaces/window_square.json")) {}

  /// By a kernel in a configuration for which `condition` holds.
  [[nodiscard]] std::vector<std::uint16_t> by_kernel(std::string_view name,
                                                     std::string_view condition, const Image& image,
                                                     int window) {
    const family::Kernel& kernel = family_.kernel(name);
    const space::Size size = {image.height, image.width, window};
    const space::DeviceAttributes& device = backend_.device().attributes;
    const space::Space space(kernel.space, device, size);
    const space::Config config = configuration(kernel, device, size, condition);
    const auto binary = backend_.compiler().compile(family::compile_job(kernel, space, config));
    if (!binary) throw Error(ErrorCode::failure, binary.error().message);
    const backend::LoadedKernel loaded(backend_, backend_.load(*binary).value());
    const space::ExpressionValues slots = space.expression_values(config);

    const backend::Buffer in = upload(image.pixels);
    const backend::Buffer out(backend_, image.pixels.size() * sizeof(std::uint16_t));
    backend::Launch launch{
        .kernel = loaded.id(),
        .steps = {{.geometry = family::geometry(kernel, 0, slots),
                   .arguments = {family::Scalar(image.height), family::Scalar(image.width),
                                 family::Scalar(65535U), backend::Region(in.id()),
                                 backend::Region(out.id())}}}};
    std::vector<backend::Buffer> scratch;
    for (const verify::CheckedData& data : verify::scratch_data(kernel, slots)) {
      scratch.emplace_back(backend_, data.size_bytes());
      backend_.fill(scratch.back().id(), 0, data.size_bytes());
      launch.steps[0].arguments.emplace_back(backend::Region(scratch.back().id()));
    }
    if (const auto done = backend_.run(launch); !done) {
      throw Error(ErrorCode::failure, done.error().message);
    }
    return download<std::uint16_t>(out);
  }

  /// By the platform's BLAS in double precision, in which these sums are exact.
  [[nodiscard]] std::vector<std::uint16_t> by_blas(const Image& image, int window) {
    const backend::Buffer in =
        upload(std::vector<double>(image.pixels.begin(), image.pixels.end()));
    blas::GemmShape shape = blas::packed_gemm(window, window, window);
    shape.a.ld = shape.b.ld = image.width;
    shape.a.stride = shape.b.stride = 1;
    // With those that begin near the end of a row and are no windows.
    shape.batch = (image.height - window) * image.width + image.width - window + 1;
    const auto square = static_cast<std::size_t>(window * window);
    const backend::Buffer squares(backend_,
                                  static_cast<std::size_t>(shape.batch) * square * sizeof(double));
    const backend::LibraryCall call{.operation = {.type = family::ElementType::f64, .shape = shape},
                                    .operands = {.places = {{in.id(), in.id(), squares.id()}}}};
    if (const auto done = backend_.run(call); !done) {
      throw Error(ErrorCode::failure, done.error().message);
    }
    return sums(download<double>(squares), image, window);
  }

 private:
  template <class T>
  backend::Buffer upload(const std::vector<T>& values) {
    backend::Buffer buffer(backend_, values.size() * sizeof(T));
    backend_.write(buffer.id(), std::as_bytes(std::span(values)));
    return buffer;
  }
  template <class T>
  std::vector<T> download(const backend::Buffer& buffer) {
    std::vector<T> values(buffer.size_bytes() / sizeof(T));
    backend_.read(buffer.id(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  static std::vector<std::uint16_t> sums(const std::vector<double>& squares, const Image& image,
                                         int window) {
    std::vector<double> exact(image.pixels.size());
    for (int r = 0; r <= image.height - window; ++r) {
      for (int c = 0; c <= image.width - window; ++c) {
        const int first = r * image.width + c;
        for (int i = 0; i < window * window; ++i) {
          const int place = first + i / window * image.width + i % window;
          exact[static_cast<std::size_t>(place)] +=
              squares[static_cast<std::size_t>(first * window * window + i)];
        }
      }
    }
    std::vector<std::uint16_t> result;
    for (const double sum : exact) {
      result.push_back(static_cast<std::uint16_t>(std::min(sum, 65535.0)));
    }
    return result;
  }

  backend::Backend& backend_;
  family::Family family_;
};

}  // namespace tuner
