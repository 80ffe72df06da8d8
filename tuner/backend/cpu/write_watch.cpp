// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/write_watch.hpp"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

namespace tuner::backend {
namespace {

std::mutex& the_one() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<WriteWatch*> active = nullptr;  // a signal handler has no other way to it

/// Pages that the instruction which runs on this thread may write.
struct OpenPages {
  static constexpr std::size_t kMost = 8;
  std::byte* pages[kMost];
  std::size_t count;
};
thread_local OpenPages open_pages{};

/// Lets the thread of a signal run one instruction at a time, or no longer; false where that is not
/// known of the processor.
bool set_stepping([[maybe_unused]] void* context, [[maybe_unused]] bool steps) {
#if defined(__x86_64__)
  constexpr greg_t kTrapFlag = 0x100;
  greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  flags = steps ? flags | kTrapFlag : flags & ~kTrapFlag;
  return true;
#else
  return false;
#endif
}

bool holds(std::span<std::byte> bytes, const std::byte* address) {
  return address >= bytes.data() && address < bytes.data() + bytes.size();
}

}  // namespace

WriteWatch::WriteWatch(std::vector<std::span<std::byte>> data, Faults faults)
    : one_at_a_time_(the_one()),
      data_(std::move(data)),
      page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
      faults_(faults) {
  struct sigaction action {};
  action.sa_sigaction = &WriteWatch::on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  active = this;
  ::sigaction(SIGSEGV, &action, &before_);
  action.sa_sigaction = &WriteWatch::on_step;
  ::sigaction(SIGTRAP, &action, &before_steps_);
  protect(PROT_READ);
}

WriteWatch::~WriteWatch() {
  protect(PROT_READ | PROT_WRITE);
  ::sigaction(SIGTRAP, &before_steps_, nullptr);
  ::sigaction(SIGSEGV, &before_, nullptr);
  active = nullptr;
}

void WriteWatch::on_step(int, siginfo_t*, void* context) {
  set_stepping(context, false);
  for (; open_pages.count > 0; --open_pages.count) {
    ::mprotect(open_pages.pages[open_pages.count - 1], active.load()->page_bytes_, PROT_READ);
  }
}

void WriteWatch::on_fault(int, siginfo_t* info, void* context) {
  WriteWatch& watch = *active.load();
  auto* const address = static_cast<std::byte*>(info->si_addr);
  if (watch.admit(address)) {
    if (watch.faults_ == Faults::every && open_pages.count < OpenPages::kMost &&
        watch.steps_++ < kMostSteps && set_stepping(context, true)) {
      const auto place = reinterpret_cast<std::uintptr_t>(address) % watch.page_bytes_;
      open_pages.pages[open_pages.count++] = address - place;
    }
    return;
  }
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
