// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace tuner::backend {

/// Memory of a few pages that a watch can map twice. It is made before a process confines itself,
/// which then may make none.
class SharedPages {
 public:
  /// Has no pages where the system gives none.
  SharedPages();
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  /// Of a file without a name; -1 without pages.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::size_t count() const { return descriptor_ < 0 ? 0 : kCount; }

 private:
  static constexpr std::size_t kCount = 64;
  int descriptor_ = -1;
};

/// Detects the first write of any thread to the watched data while the object exists. The pages of
/// the data are read-only; after a fault the page is writable again and the writer continues. A
/// process has one watch at a time: another one waits.
class WriteWatch {
 public:
  /// Which writes fault that go beside the data, to a page that holds some of them: one of each
  /// page, so that later ones to the data are missed, or every one, of the first kMostSteps. For
  /// the latter each is followed by a trap (x86-64; elsewhere as `first_of_a_page`), which takes
  /// some microseconds, in a virtual machine up to a tenth of a millisecond: less than half of it
  /// with `shared`, where the usual stores go to a second mapping of the page
  /// (store_instruction.hpp) and the page stays read-only.
  enum class Faults { first_of_a_page, every };
  /// A kernel that adds up in its output beside a guard zone writes there many times.
  static constexpr std::size_t kMostSteps = 100'000;

  explicit WriteWatch(std::vector<std::span<std::byte>> data,
                      Faults faults = Faults::first_of_a_page, const SharedPages* shared = nullptr);
  ~WriteWatch();
  WriteWatch(const WriteWatch&) = delete;
  WriteWatch& operator=(const WriteWatch&) = delete;

  /// What was written first: which of the data, and which byte of it.
  struct Write {
    std::size_t data = 0;
    std::size_t offset_bytes = 0;
  };
  [[nodiscard]] std::optional<Write> first_write() const;

 private:
  static void on_fault(int signal, siginfo_t* info, void* context);
  /// Behind the write that faulted: its pages are read-only again.
  static void on_step(int signal, siginfo_t* info, void* context);
  /// Takes note of a write; false where the address is none of the data's pages.
  [[nodiscard]] bool note(std::byte* address);
  /// Lets the instruction of a signal write to the second mapping of the page; false where it has
  /// none, or the instruction is not known.
  [[nodiscard]] bool redirect(void* context, std::byte* address) const;
  [[nodiscard]] std::byte* page_of(std::byte* address) const;
  /// Gives the pages that hold watched data and other bytes a second mapping.
  void map_twice(const SharedPages& shared);
  /// The memory is again as its owner made it, with what was written.
  void map_once();
  /// The pages that hold some of the data.
  [[nodiscard]] std::span<std::byte> pages(std::span<std::byte> data) const;
  void protect(int protection) const;

  std::scoped_lock<std::mutex> one_at_a_time_;
  std::vector<std::span<std::byte>> data_;
  struct TwicePage {
    std::byte* page;
    std::byte* writable;
  };
  std::vector<TwicePage> twice_;
  std::size_t page_bytes_;
  Faults faults_;
  std::atomic<std::byte*> first_ = nullptr;
  std::atomic<std::size_t> steps_ = 0;
  struct sigaction before_ {
  }, before_steps_{};
};

}  // namespace tuner::backend
