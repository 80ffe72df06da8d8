// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tuner::space {

class Diagram;

/// The diagrams that spaces of one definition on one device have in common, by what determines
/// them. Threads may use one at the same time.
class SharedDiagrams {
 public:
  /// What `make` gave for this key first. A second caller waits for the first, and gets its
  /// exception if `make` threw one.
  [[nodiscard]] std::shared_ptr<const Diagram> find(
      const std::string& key, const std::function<std::shared_ptr<const Diagram>()>& make);

  /// How many keys it has been asked for.
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<std::shared_ptr<const Diagram>>> diagrams_;
};

}  // namespace tuner::space
