// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/worker_pool.hpp"

namespace tuner::backend {

WorkerPool::WorkerPool(unsigned workers) {
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, worker](const std::stop_token& stop) { serve(stop, worker); });
  }
}

void WorkerPool::run(const std::function<void(unsigned)>& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  busy_ = size();
  ++round_;
  begin_.notify_all();
  end_.wait(lock, [this] { return busy_ == 0; });
}

void WorkerPool::serve(const std::stop_token& stop, unsigned worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (begin_.wait(lock, stop, [&] { return round_ != seen; })) {
    seen = round_;
    lock.unlock();
    (*job_)(worker);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

}  // namespace tuner::backend
