// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_database.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::cli {
namespace {

class Saver final : public session::Observer {
 public:
  explicit Saver(RunDatabase& database) : database_(database) {}

  void opened(const session::Opening&) override {}
  void estimated(std::chrono::milliseconds) override {}
  void progressed(const session::Progress&) override {}
  void final_began(const space::Size&, std::size_t, session::LibraryPart) override {}
  void card_joined(const session::CardName&) override {}
  void card_dropped(const session::CardName&, const std::string&) override {}
  void size_done(const session::SizeResult&) override {
    try {
      database_.save();
    } catch (const Error& error) {
      tell(fmt::format("warning: {}\n", error.what()));  // the end of the run tries again
    }
  }

 private:
  RunDatabase& database_;
};

}  // namespace

RunDatabase::RunDatabase(const CommonOptions& common) {
  const std::filesystem::path path = database_path(common);
  const std::string network = store::LocalCopy::network_of(path);
  if (network.empty() || common.trust_database) {
    store_.emplace(open_database(common, store::Store::Mode::read_write));
    return;
  }
  copy_.emplace(path);
  tell(fmt::format("database: {} is on {}: this run works on a copy in {}, saved after each size\n",
                   path.string(), network, copy_->path().string()));
  store_.emplace(copy_->path(), store::Store::Mode::read_write);
}

void RunDatabase::save() {
  if (!copy_) return;
  if (const auto told = copy_->save()) tell(*told + "\n");
}

std::unique_ptr<session::Observer> RunDatabase::saver() {
  if (!copy_) return nullptr;
  return std::make_unique<Saver>(*this);
}

}  // namespace tuner::cli
