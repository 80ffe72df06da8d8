// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/write_watch.hpp"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tuner::backend {
namespace {

std::mutex& the_one() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<WriteWatch*> active = nullptr;  // a signal handler has no other way to it

bool holds(std::span<std::byte> bytes, const std::byte* address) {
  return address >= bytes.data() && address < bytes.data() + bytes.size();
}

}  // namespace

WriteWatch::WriteWatch(std::vector<std::span<std::byte>> data)
    : one_at_a_time_(the_one()),
      data_(std::move(data)),
      page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
  struct sigaction action {};
  action.sa_sigaction = &WriteWatch::on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  active = this;
  ::sigaction(SIGSEGV, &action, &before_);
  protect(PROT_READ);
}

WriteWatch::~WriteWatch() {
  protect(PROT_READ | PROT_WRITE);
  ::sigaction(SIGSEGV, &before_, nullptr);
  active = nullptr;
}

void WriteWatch::on_fault(int, siginfo_t* info, void*) {
  WriteWatch& watch = *active.load();
  if (watch.admit(static_cast<std::byte*>(info->si_addr))) return;
  // The instruction is repeated, and its fault meets who was there before.
  ::sigaction(SIGSEGV, &watch.before_, nullptr);
}

bool WriteWatch::admit(std::byte* address) {
  const auto is_within = [&](std::span<std::byte> bytes) { return holds(bytes, address); };
  const auto page = std::ranges::find_if(
      data_, [&](std::span<std::byte> data) { return is_within(pages(data)); });
  if (page == data_.end()) return false;
  if (std::ranges::any_of(data_, is_within)) {
    std::byte* nothing = nullptr;
    first_.compare_exchange_strong(nothing, address);
  }
  const auto place = reinterpret_cast<std::uintptr_t>(address) % page_bytes_;
  return ::mprotect(address - place, page_bytes_, PROT_READ | PROT_WRITE) == 0;
}

std::span<std::byte> WriteWatch::pages(std::span<std::byte> data) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data.data());
  const std::size_t before = begin % page_bytes_;
  const std::size_t size_bytes = before + data.size() + page_bytes_ - 1;
  return {data.data() - before, size_bytes / page_bytes_ * page_bytes_};
}

void WriteWatch::protect(int protection) const {
  for (const std::span<std::byte> data : data_) {
    const std::span<std::byte> whole = pages(data);
    ::mprotect(whole.data(), whole.size(), protection);
  }
}

std::optional<WriteWatch::Write> WriteWatch::first_write() const {
  const std::byte* const address = first_;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    if (!holds(data_[i], address)) continue;
    return Write{.data = i, .offset_bytes = static_cast<std::size_t>(address - data_[i].data())};
  }
  return std::nullopt;
}

}  // namespace tuner::backend
