// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/last_words.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tuner::worker {
namespace {

constexpr off_t kKept = 64 * 1024;
constexpr std::size_t kTold = 500;

}  // namespace

LastWords::LastWords() : file_(::memfd_create("tune-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ < 0 || ::ftruncate(file_, kKept) != 0 ||
      ::fcntl(file_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    throw Error(ErrorCode::failure,
                fmt::format("cannot keep the messages of a program: {}", std::strerror(errno)));
  }
}

LastWords::~LastWords() {
  ::close(file_);
}

std::string LastWords::text() const {
  const off_t written = ::lseek(file_, 0, SEEK_CUR);  // the program's descriptor shares the offset
  if (written <= 0) return "";
  std::string text(static_cast<std::size_t>(written), '\0');
  const ssize_t got = ::pread(file_, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kTold) text.erase(0, text.size() - kTold);
  return text;
}

}  // namespace tuner::worker
