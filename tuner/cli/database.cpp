// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/database.hpp"

#include "tuner/store/database_path.hpp"

namespace tuner::cli {

std::filesystem::path database_path(const CommonOptions& common) {
  return common.database ? *common.database : store::default_database();
}

store::Store open_database(const CommonOptions& common, store::Store::Mode mode) {
  return {database_path(common), mode,
          common.trust_database ? store::Store::Trust::any_file : store::Store::Trust::own_files};
}

}  // namespace tuner::cli
