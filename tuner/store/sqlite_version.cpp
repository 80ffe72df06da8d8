// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/sqlite_version.hpp"

#include <sqlite3.h>

namespace tuner::store {

std::string_view sqlite_version() {
  return ::sqlite3_libversion();
}

}  // namespace tuner::store
