// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measurement_lock.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace tuner::dispatch {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{2};

/// One file for all keys, each of which is a byte of it: no file is left over for each.
constexpr const char* kLockFile = "measurements.lock";

struct flock byte_of(std::string_view key) {
  std::uint64_t place = 0;
  const std::string_view digits = key.substr(0, 15);
  std::from_chars(digits.data(), digits.data() + digits.size(), place, 16);
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(place);
  byte.l_len = 1;
  return byte;
}

}  // namespace

MeasurementLock::~MeasurementLock() {
  ::close(file_);
}

std::unique_ptr<const MeasurementLock> MeasurementLock::take(const std::filesystem::path& folder,
                                                             std::string_view key,
                                                             std::chrono::milliseconds patience) {
  const int file =
      ::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  std::unique_ptr<const MeasurementLock> lock(new MeasurementLock(file));
  const auto end = std::chrono::steady_clock::now() + patience;
  struct flock byte = byte_of(key);
  // Of this opened file, not of the process: other threads wait, too.
  while (::fcntl(file, F_OFD_SETLK, &byte) != 0) {
    const bool is_taken = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() >= end) return nullptr;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return lock;
}

}  // namespace tuner::dispatch
