// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/shared_diagrams.hpp"

#include "tuner/space/diagram.hpp"

namespace tuner::space {

std::shared_ptr<const Diagram> SharedDiagrams::find(
    const std::string& key, const std::function<std::shared_ptr<const Diagram>()>& make) {
  std::promise<std::shared_ptr<const Diagram>> promise;
  std::shared_future<std::shared_ptr<const Diagram>> diagram;
  bool is_known = true;
  {
    const std::scoped_lock lock(mutex_);
    const auto [known, added] = diagrams_.try_emplace(key);
    if (added) {
      known->second = promise.get_future().share();
      is_known = false;
    }
    diagram = known->second;
  }
  if (is_known) return diagram.get();
  try {
    promise.set_value(make());
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
  return diagram.get();
}

std::size_t SharedDiagrams::size() const {
  const std::scoped_lock lock(mutex_);
  return diagrams_.size();
}

}  // namespace tuner::space
