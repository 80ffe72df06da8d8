// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/database.hpp"

#include "tuner/store/database_path.hpp"

namespace tuner::cli {

std::filesystem::path database_path(const CommonOptions& common) {
  return common.database ? *common.database : default_database();
}

Store open_database(const CommonOptions& common, Store::Mode mode) {
  return {database_path(common), mode,
          common.trust_database ? Store::Trust::any_file : Store::Trust::own_files};
}

}  // namespace tuner::cli
