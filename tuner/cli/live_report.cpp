// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/live_report.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/report/report.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <variant>

namespace tuner::cli {
namespace {

constexpr int kLeastSeconds = 5;  // between two pages
constexpr int kShareOfTime = 20;  // one part in so many is for the page

}  // namespace

void LiveReport::tell(const session::Event& event) {
  if (const auto* opening = std::get_if<session::Opening>(&event)) device_ = opening->device.name;
  if (const auto* progress = std::get_if<session::Progress>(&event)) {
    if (!progress->reused && Clock::now() >= next_) write();
  }
  if (std::holds_alternative<session::SizeResult>(event)) write();
}

void LiveReport::write() {
  const auto began = Clock::now();
  try {
    const store::Store store(database_, store::Store::Mode::read_only);
    report::write_report(store, device_, report::page_path(where_, device_),
                         {.reloaded_every_s = kLeastSeconds});
  } catch (const std::exception& error) {
    if (!told_) cli::tell(fmt::format("warning: the report is not rewritten: {}\n", error.what()));
    told_ = true;
  }
  const auto took = Clock::now() - began;
  next_ = Clock::now() +
          std::max<Clock::duration>(std::chrono::seconds(kLeastSeconds), kShareOfTime * took);
}

}  // namespace tuner::cli
