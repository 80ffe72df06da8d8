// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/write_watch.hpp"

#include "tuner/backend/cpu/store_instruction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
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

/// A register of the instruction that runs on this thread, and by how much it was moved.
struct MovedRegister {
  int place;  ///< among the registers of a signal's context
  std::int64_t by;
};
thread_local MovedRegister moved{};

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

#if defined(__x86_64__)
/// Where the context of a signal has the registers, by their numbers in instructions.
constexpr std::array kPlaces = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
#endif

bool holds(std::span<std::byte> bytes, const std::byte* address) {
  return address >= bytes.data() && address < bytes.data() + bytes.size();
}

}  // namespace

SharedPages::SharedPages() : descriptor_(::memfd_create("tune", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (descriptor_ < 0) return;
  const auto size_bytes = static_cast<off_t>(kCount) * ::sysconf(_SC_PAGESIZE);
  // A kernel that finds the descriptor gets no more memory by it.
  if (::ftruncate(descriptor_, size_bytes) == 0 &&
      ::fcntl(descriptor_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0) {
    return;
  }
  ::close(descriptor_);
  descriptor_ = -1;
}

SharedPages::~SharedPages() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

WriteWatch::WriteWatch(std::vector<std::span<std::byte>> data, Faults faults,
                       const SharedPages* shared)
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
  if (faults_ == Faults::every && shared != nullptr) map_twice(*shared);
  protect(PROT_READ);
}

WriteWatch::~WriteWatch() {
  protect(PROT_READ | PROT_WRITE);
  map_once();
  ::sigaction(SIGTRAP, &before_steps_, nullptr);
  ::sigaction(SIGSEGV, &before_, nullptr);
  active = nullptr;
}

void WriteWatch::on_step(int, siginfo_t*, void* context) {
  set_stepping(context, false);
#if defined(__x86_64__)
  if (moved.by != 0) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[moved.place] -= moved.by;
    moved.by = 0;
  }
#endif
  for (; open_pages.count > 0; --open_pages.count) {
    ::mprotect(open_pages.pages[open_pages.count - 1], active.load()->page_bytes_, PROT_READ);
  }
}

void WriteWatch::on_fault(int, siginfo_t* info, void* context) {
  WriteWatch& watch = *active.load();
  auto* const address = static_cast<std::byte*>(info->si_addr);
  if (watch.note(address)) {
    const bool steps = watch.faults_ == Faults::every && open_pages.count < OpenPages::kMost &&
                       watch.steps_++ < kMostSteps && set_stepping(context, true);
    if (steps && open_pages.count == 0 && watch.redirect(context, address)) return;
    std::byte* const page = watch.page_of(address);
    if (steps) open_pages.pages[open_pages.count++] = page;
    if (::mprotect(page, watch.page_bytes_, PROT_READ | PROT_WRITE) == 0) return;
  }
  // The instruction is repeated, and its fault meets who was there before.
  ::sigaction(SIGSEGV, &watch.before_, nullptr);
}

bool WriteWatch::note(std::byte* address) {
  const auto is_within = [&](std::span<std::byte> bytes) { return holds(bytes, address); };
  const auto page = std::ranges::find_if(
      data_, [&](std::span<std::byte> data) { return is_within(pages(data)); });
  if (page == data_.end()) return false;
  if (std::ranges::any_of(data_, is_within)) {
    std::byte* nothing = nullptr;
    first_.compare_exchange_strong(nothing, address);
  }
  return true;
}

bool WriteWatch::redirect([[maybe_unused]] void* context, std::byte* address) const {
#if defined(__x86_64__)
  constexpr std::ptrdiff_t kLongestStore = 64;
  const auto found = std::ranges::find(twice_, page_of(address), &TwicePage::page);
  if (found == twice_.end() ||
      address + kLongestStore > found->page + static_cast<std::ptrdiff_t>(page_bytes_)) {
    return false;
  }
  auto& gregs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Registers registers{};
  std::ranges::transform(kPlaces, registers.begin(),
                         [&](int place) { return static_cast<std::uint64_t>(gregs[place]); });
  const auto base = base_of_store(reinterpret_cast<const std::uint8_t*>(gregs[REG_RIP]), registers,
                                  reinterpret_cast<std::uintptr_t>(address));
  if (!base) return false;
  moved = {.place = kPlaces[*base], .by = found->writable - found->page};
  gregs[moved.place] += moved.by;
  return true;
#else
  static_cast<void>(address);
  return false;
#endif
}

std::byte* WriteWatch::page_of(std::byte* address) const {
  return address - reinterpret_cast<std::uintptr_t>(address) % page_bytes_;
}

void WriteWatch::map_twice(const SharedPages& shared) {
  std::vector<std::byte*> candidates;
  for (const std::span<std::byte> data : data_) {
    const std::span<std::byte> whole = pages(data);
    std::byte* const end = data.data() + data.size();
    if (whole.data() != data.data()) candidates.push_back(whole.data());
    if (whole.data() + whole.size() != end) candidates.push_back(page_of(end));
  }
  std::ranges::sort(candidates);
  const auto rest = std::ranges::unique(candidates);
  candidates.erase(rest.begin(), rest.end());
  candidates.resize(std::min(candidates.size(), shared.count()));
  const auto map = [&](std::byte* place, int flags) {
    const auto offset = static_cast<off_t>(twice_.size() * page_bytes_);
    return ::mmap(place, page_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | flags,
                  shared.descriptor(), offset);
  };
  for (std::byte* const page : candidates) {
    void* const writable = map(nullptr, 0);
    if (writable == MAP_FAILED) return;  // slower without
    std::memcpy(writable, page, page_bytes_);
    const bool is_mapped = map(page, MAP_FIXED) != MAP_FAILED;
    twice_.push_back({.page = page, .writable = static_cast<std::byte*>(writable)});
    if (!is_mapped) return map_once();
  }
}

void WriteWatch::map_once() {
  for (const TwicePage& each : twice_) {
    void* const again = ::mmap(each.page, page_bytes_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (again == MAP_FAILED) std::abort();  // the next watch would change it
    std::memcpy(again, each.writable, page_bytes_);
    ::munmap(each.writable, page_bytes_);
  }
  twice_.clear();
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
