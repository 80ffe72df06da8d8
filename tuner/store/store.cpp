// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/store.hpp"

#include "tuner/store/connection.hpp"
#include "tuner/store/database_file.hpp"

#include <sqlite3.h>

#include <utility>

namespace tuner::store {

Store::Store(const std::filesystem::path& path, Mode mode, Trust trust)
    : state_(new State{Connection(path, mode, trust)}) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store Store::in_memory() {
  return Store(kInMemory, Mode::read_write);
}

const std::filesystem::path& Store::path() const {
  return state_->connection.path();
}

std::string_view sqlite_version() {
  return ::sqlite3_libversion();
}

}  // namespace tuner::store
