// SPDX-License-Identifier: Apache-2.0
// The part of Instance that makes another one on changed inputs in the same memory.
#include "tuner/core/error.hpp"
#include "tuner/verify/instance.hpp"

#include <utility>

namespace tuner::verify {

Instance::Instance(Instance& original, Recipe recipe)
    : backend_(original.backend_),
      kernels_(original.kernels_),
      problem_(backend_, original.problem_.family(), std::move(recipe)),
      memory_(backend_, plan_memory(problem_.data()), original.memory_),
      records_(backend_, problem_, memory_),
      results_(original.results_),
      shared_(original.shared_) {
  make();
}

Instance* Instance::changed() {
  if (std::exchange(is_changed_tried_, true)) return changed_.get();
  if (!problem_.can_be_changed()) return nullptr;
  Recipe recipe = problem_.recipe();
  recipe.changed = true;
  try {
    keep_inputs();
    changed_.reset(new Instance(*this, std::move(recipe)));
    changed_->keep_inputs();
  } catch (const ResultsError&) {
    throw;
  } catch (const Error&) {
    // Memory is short, or the reference gives no result for the changed inputs.
    changed_.reset();
  }
  write_inputs();
  return changed_.get();
}

void Instance::keep_inputs() {
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role != family::BufferRole::input) continue;
    const backend::Buffer& kept = kept_inputs_.emplace_back(backend_, data.size_bytes());
    backend_.copy(kept.id(), memory_.candidate(data.candidate), data.size_bytes());
  }
}

std::size_t Instance::size_bytes() const {
  std::size_t size_bytes = memory_.size_bytes() + (changed_ ? changed_->size_bytes() : 0);
  for (const backend::Buffer& kept : kept_inputs_) size_bytes += kept.size_bytes();
  return size_bytes;
}

void Instance::write_inputs() {
  auto kept = kept_inputs_.begin();
  for (const CheckedData& data : memory_.plan().data) {
    if (data.role != family::BufferRole::input || kept == kept_inputs_.end()) continue;
    backend_.copy(memory_.candidate(data.candidate), (kept++)->id(), data.size_bytes());
  }
  shared_->inputs_of = this;
}

void Instance::prepare_inputs() {
  if (shared_->inputs_of != this) write_inputs();
}

}  // namespace tuner::verify
