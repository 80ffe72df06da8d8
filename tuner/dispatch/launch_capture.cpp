// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/launch_capture.hpp"

#include "tuner/capture/capture_folder.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace tuner::dispatch {
namespace {

std::size_t bytes_of(const ArgumentInfo& info) {
  return bytes_of(*element_type_from_name(info.element), info.elements);
}

const void* address(const DispatchArgument& argument) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(argument.bits()));
}

/// The kernels that came with the file of the family.
std::vector<const family::Kernel*> kernels_of(const FamilyTable& family) {
  std::vector<const family::Kernel*> kernels;
  for (const family::Kernel& kernel : family.family().kernels) {
    const family::Kernel* const known = family.kernel(kernel.name);
    if (known != nullptr && known->hash == kernel.hash) kernels.push_back(known);
  }
  return kernels;
}

}  // namespace

LaunchCapture::LaunchCapture(backend::Executor& executor, const FamilyTable& family,
                             const space::Size& size, std::span<const DispatchArgument> arguments,
                             backend::StreamHandle stream, std::uint64_t limit_bytes)
    : executor_(executor),
      family_(family),
      arguments_(arguments),
      stream_(stream),
      infos_(family.arguments(size)),
      launch_{.size = size, .arrays = {}, .reals = {}, .integers = {}} {
  std::uint64_t all = 0;
  for (const ArgumentInfo& info : infos_) {
    if (info.type == DispatchArgument::Type::pointer) all += bytes_of(info);
  }
  capture::require_within(all, limit_bytes, family.family().name);
  for (std::size_t i = 0; i < infos_.size(); ++i) add(infos_[i], arguments[i]);
}

void LaunchCapture::add(const ArgumentInfo& info, const DispatchArgument& argument) {
  const auto word = static_cast<std::uint32_t>(argument.bits());
  switch (info.type) {
    case DispatchArgument::Type::pointer:
    case DispatchArgument::Type::array:
      launch_.arrays[info.name] = {.type = *element_type_from_name(info.element),
                                   .before = read(info, argument)};
      return;
    case DispatchArgument::Type::f32:
      launch_.reals[info.name] = std::bit_cast<float>(word);
      return;
    case DispatchArgument::Type::f64:
      launch_.reals[info.name] = std::bit_cast<double>(argument.bits());
      return;
    case DispatchArgument::Type::i32:
      launch_.integers[info.name] = std::bit_cast<std::int32_t>(word);
      return;
    case DispatchArgument::Type::u32:
      launch_.integers[info.name] = word;
      return;
    case DispatchArgument::Type::i64:
      launch_.integers[info.name] = std::bit_cast<std::int64_t>(argument.bits());
      return;
  }
}

std::vector<std::byte> LaunchCapture::read(const ArgumentInfo& info,
                                           const DispatchArgument& argument) {
  std::vector<std::byte> bytes(bytes_of(info));
  if (info.type == DispatchArgument::Type::array) {
    std::memcpy(bytes.data(), address(argument), bytes.size());
    return bytes;
  }
  const auto done = executor_.read(address(argument), bytes, stream_);
  if (done) return bytes;
  throw DispatchError(fmt::format("{}: {} cannot be captured: {}", family_.family().name, info.name,
                                  done.error().message));
}

std::filesystem::path LaunchCapture::write(const std::filesystem::path& folder) {
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].is_written) launch_.arrays[infos_[i].name].after = read(infos_[i], arguments_[i]);
  }
  return capture::write_capture(folder, family_.family(), kernels_of(family_), launch_);
}

}  // namespace tuner::dispatch
