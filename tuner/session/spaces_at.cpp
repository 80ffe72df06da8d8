// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/spaces_at.hpp"

#include "tuner/space/shared_diagrams.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace tuner::session {

std::vector<space::Space> spaces_at(const std::shared_ptr<const space::SpaceDefinition>& definition,
                                    const space::DeviceAttributes& device,
                                    std::span<const space::Size> sizes) {
  std::vector<std::optional<space::Space>> found(sizes.size());
  std::vector<std::exception_ptr> failed(sizes.size());
  space::SharedDiagrams shared;
  std::atomic<std::size_t> next = 0;
  const auto enumerate = [&] {
    for (std::size_t i = next++; i < sizes.size(); i = next++) {
      try {
        found[i].emplace(definition, device, sizes[i], shared);
      } catch (...) {
        failed[i] = std::current_exception();
      }
    }
  };
  {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> others;
    while (others.size() + 1 < std::min(processors, sizes.size())) others.emplace_back(enumerate);
    enumerate();
  }
  const auto failure =
      std::ranges::find_if(failed, [](const auto& error) { return error != nullptr; });
  if (failure != failed.end()) std::rethrow_exception(*failure);
  std::vector<space::Space> spaces;
  spaces.reserve(found.size());
  for (std::optional<space::Space>& space : found) spaces.push_back(*std::move(space));
  return spaces;
}

}  // namespace tuner::session
