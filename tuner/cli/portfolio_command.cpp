// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/portfolio_run.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace tuner::cli {

int portfolio(const CommonOptions& common, const PortfolioOptions& options) {
  const auto until =
      std::chrono::steady_clock::now() + parse_duration(options.max_time, "--max-time");
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "no family: name a space file, for example\n"
                "  tune portfolio --space spaces/gemm.json --sizes squares");
  }
  if (options.members == 0) {
    throw Error(ErrorCode::usage, "-k 0: a portfolio has at least one member");
  }
  if (options.draws == 0) {
    throw Error(ErrorCode::usage, "--draw 0: a portfolio is for at least one size");
  }
  if (options.extend && !options.kernels.empty()) {
    throw Error(ErrorCode::usage, "--extend keeps the members of a portfolio: leave out --kernel");
  }
  const family::Family family = family::load_family(options.space);
  const Interrupt interrupt;
  const auto measure = options.extend ? extend_portfolios : run_portfolio;
  const PortfolioRun run =
      measure(common, options, family, until, [&] { return interrupt.requested(); });
  if (interrupt.exit_code()) {
    tell(options.extend ? "interrupted: the finished sizes are stored\n"
                        : "interrupted: the trials are stored, no portfolio; the same command "
                          "continues\n");
    return *interrupt.exit_code();
  }
  if (common.json) {
    fmt::print("{}", json_text(portfolio_json(family, run)));
  } else {
    print_portfolio(common, family, run);
  }
  return 0;
}

}  // namespace tuner::cli
