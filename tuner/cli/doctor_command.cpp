// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/registry.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/confinement.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::cli {
namespace {

constexpr std::string_view kSetupRemedy =
    "`tune setup` measures kernels for sizes that nobody tuned, in 5 minutes";

std::string_view status_name(backend::Finding::Status status) {
  switch (status) {
    case backend::Finding::Status::good:
      return "good";
    case backend::Finding::Status::missing:
      return "missing";
    case backend::Finding::Status::note:
      return "note";
  }
  return "note";
}

bool is_missing(const backend::Finding& finding) {
  return finding.status == backend::Finding::Status::missing;
}

Color color_of(backend::Finding::Status status) {
  return status == backend::Finding::Status::missing ? Color::red : Color::none;
}

backend::Finding examine_database(const CommonOptions& common) {
  backend::Finding finding{
      .status = backend::Finding::Status::good, .what = "database", .detail = "", .remedy = ""};
  try {
    const std::filesystem::path path = database_path(common);
    finding.detail = path.string();
    if (!std::filesystem::exists(path)) {
      finding.status = backend::Finding::Status::note;
      finding.detail += " does not exist yet; the first `tune` creates it";
      finding.remedy = std::string(kSetupRemedy);
      return finding;
    }
    const store::Store store = open_database(common, store::Store::Mode::read_only);
    std::size_t portfolios = 0;
    for (const space::DeviceInfo& device : store.devices()) {
      portfolios += store.portfolios(device).size();
    }
    finding.detail += fmt::format(": {}, {}", quantity::count(store.runs().size(), "run"),
                                  quantity::count(portfolios, "portfolio"));
    if (portfolios == 0) finding.remedy = std::string(kSetupRemedy);
  } catch (const Error& error) {
    finding.status = backend::Finding::Status::missing;
    finding.detail = error.what();
  }
  return finding;
}

backend::Finding examine_sandbox() {
  backend::Finding finding{
      .status = backend::Finding::Status::good, .what = "sandbox", .detail = "", .remedy = ""};
  const auto [support, lack] = worker::worker_sandbox();
  finding.detail = support ? support->text() : "off";
  if (support && support->seccomp)
    finding.detail += "; kernels of the cpu backend start no process";
  if (const auto free_bytes = worker::kernel_memory_bytes(); support && free_bytes) {
    finding.detail += fmt::format("; they get at most {:.1f} GiB of memory, what is free now",
                                  static_cast<double>(*free_bytes) / (1 << 30));
  }
  if (!lack.empty()) finding.status = backend::Finding::Status::note;
  finding.remedy = lack;
  return finding;
}

}  // namespace

int doctor(const CommonOptions& common) {
  std::vector<backend::Finding> findings = backend::examine_machine();
  const bool is_machine_complete = std::ranges::none_of(findings, is_missing);
  findings.push_back(examine_sandbox());
  findings.push_back(examine_database(common));
  int code = 0;
  if (std::ranges::any_of(findings, is_missing)) code = static_cast<int>(ErrorCode::failure);
  if (!is_machine_complete) code = static_cast<int>(ErrorCode::no_device);
  if (common.json) {
    Json document = {{"schema", "tune.doctor/1"}, {"findings", Json::array()}};
    for (const backend::Finding& finding : findings) {
      document["findings"].push_back({{"status", std::string(status_name(finding.status))},
                                      {"what", finding.what},
                                      {"detail", finding.detail},
                                      {"remedy", finding.remedy}});
    }
    fmt::print("{}", json_text(document));
    return code;
  }
  const Output output(common);
  for (const backend::Finding& finding : findings) {
    const std::string status = fmt::format("{:<8}", status_name(finding.status));
    output.tell("{} {}: {}\n", output.terminal().colored(status, color_of(finding.status)),
                finding.what, finding.detail);
    if (!finding.remedy.empty()) output.tell("         {}\n", finding.remedy);
  }
  return code;
}

}  // namespace tuner::cli
