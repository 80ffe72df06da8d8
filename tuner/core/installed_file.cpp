// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/installed_file.hpp"

#include "tuner/core/trust.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace tuner {
namespace {

namespace fs = std::filesystem;

/// The file of the program or library that this code is a part of; empty where it cannot be told.
fs::path own_file() {
  Dl_info own{};
  Dl_info program{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &own) == 0) return {};
  const auto* const headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  // What the program calls itself is its user's word, and may lead anywhere.
  const bool is_program = ::dladdr(headers, &program) != 0 && program.dli_fbase == own.dli_fbase;
  std::error_code unreadable;
  const fs::path file =
      is_program ? fs::read_symlink("/proc/self/exe", unreadable) : fs::path(own.dli_fname);
  if (unreadable || !file.is_absolute()) return {};
  const fs::path real = fs::canonical(file, unreadable);
  return unreadable ? fs::path() : real;
}

}  // namespace

std::optional<fs::path> installed_file(const fs::path& under_prefix) {
  const fs::path own = own_file();
  if (own.empty()) return std::nullopt;
  const fs::path folder = own.parent_path();
  // From bin/ and lib/, from lib/x86_64-linux-gnu/, and in a build tree.
  for (const fs::path& prefix : {folder / "..", folder / ".." / "..", folder}) {
    std::error_code missing;
    const fs::path path = fs::canonical(prefix / under_prefix, missing);
    if (!missing && !distrust(path)) return path;
  }
  return std::nullopt;
}

}  // namespace tuner
