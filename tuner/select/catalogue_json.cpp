// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue_json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/json_reason.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tuner::select {
namespace {

constexpr std::string_view kFormat = "dispatch/1";

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::usage, what);
}

/// A whole number from 0. Another one must not be converted: what does not fit has no value.
std::int64_t whole(const Json& json, std::int64_t most) {
  if (!json.is_number_integer()) fail("a number is not whole");
  const auto value = json.get<std::int64_t>();  // one beyond 2^63 is negative
  if (value < 0 || value > most) fail("a number is out of range");
  return value;
}

std::size_t index(const Json& json) {
  return static_cast<std::size_t>(whole(json, std::int64_t{1} << 50));
}

constexpr double kMostNumber = 1e30;

double positive(const Json& json, double below = kMostNumber) {
  const double value = json.get<double>();
  if (!std::isfinite(value) || value <= 0 || value >= below) fail("a number is out of range");
  return value;
}

std::optional<double> optional_positive(const Json& json, double below = kMostNumber) {
  if (json.is_null()) return std::nullopt;
  return positive(json, below);
}

space::DeviceInfo read_device(const Json& json) {
  space::DeviceInfo device{.backend = json.at("backend"),
                           .name = json.at("name"),
                           .uuid = {},
                           .architecture = json.at("architecture"),
                           .attributes = {}};
  for (const space::AttributeField& field : space::attribute_fields()) {
    device.attributes.*field.member =
        whole(json.at("attributes").at(std::string(field.name)), std::int64_t{1} << 50);
  }
  return device;
}

/// A record of texts by the keys of its fields.
template <Record T>
T read_texts(const Json& json) {
  T record;
  for_each_field<T>(
      [&](const auto& field) { json.at(std::string(field.key)).get_to(record.*field.member); });
  return record;
}

space::EnvironmentInfo read_environment(const Json& json) {
  return read_texts<space::EnvironmentInfo>(json);
}

KnownSize read_size(const Json& json, const CatalogueKernel& kernel) {
  auto size = known_size(json.get<std::string>(), kernel);
  if (!size) fail(fmt::format("{} is not a size of {}", json.dump(), kernel.record->kernel));
  return *std::move(size);
}

/// Where it is a number, that of one of the kernel's; older tables have it in each entry.
space::EnvironmentInfo entry_environment(const Json& json,
                                         const std::vector<space::EnvironmentInfo>& environments) {
  if (json.is_object()) return read_environment(json);
  const std::size_t place = index(json);
  if (place >= environments.size()) fail("an entry has no environment");
  return environments[place];
}

double within(const Json& json, double low, double high) {
  const double value = json.get<double>();
  const bool is_within = value >= low && value <= high;
  if (!is_within) fail("a number is out of range");
  return value;
}

void read_value(const Json& json, double below, double& value) {
  value = within(json, 0, below);
}
void read_value(const Json& json, double below, std::optional<double>& value) {
  value = optional_positive(json, below);
}
void read_value(const Json& json, double, int& value) {
  value = static_cast<int>(whole(json, std::numeric_limits<int>::max()));
}
void read_value(const Json& json, double, std::string& value) {
  json.get_to(value);
}
void read_value(const Json& json, double, bool& value) {
  json.get_to(value);
}

/// The fields that tables have.
void read_best(const Json& json, store::BestRecord& best) {
  for_each_field<store::BestRecord>([&]<class F>(const F& field) {
    if constexpr (!Record<typename F::Type>) {
      if (field.use.table.empty()) return;
      const auto found = json.find(std::string(field.use.table));
      if (found == json.end()) {
        if (field.use.is_omitted) return;
        fail(fmt::format("an entry has no {}", field.use.table));
      }
      read_value(*found, field.use.below, best.*field.member);
    }
  });
  if (best.library_algorithm.empty() == best.ratio_to_library_tuned.has_value()) {
    fail("an entry has an algorithm of the library without its time, or a time without one");
  }
}

/// What spread_text wrote.
void read_spread(const Json& json, store::BestRecord& best) {
  if (!json.contains("samples")) return;
  TimeSummary& time = best.time;
  time.samples = static_cast<int>(whole(json.at("samples"), std::numeric_limits<int>::max()));
  time.q1_ns = within(json.at("q1_ns"), 0, time.median_ns);
  time.q3_ns = within(json.at("q3_ns"), time.median_ns, 1e15);
}

/// What clocks_text wrote.
void read_clocks(const Json& json, store::BestRecord& best) {
  constexpr double kMost = 1e6;
  const auto read = [&](std::string_view name, std::optional<double>& value) {
    const auto found = json.find(std::string(name));
    if (found != json.end()) value = positive(*found, kMost);
  };
  read("clock_mhz", best.clock_mhz);
  for_each_field<ClockLimit>(
      [&](const auto& field) { read(field.name, best.clock_limit.*field.member); });
}

Entry read_entry(const Json& json, const CatalogueKernel& kernel,
                 const std::vector<space::EnvironmentInfo>& environments) {
  Entry entry;
  entry.size = read_size(json.at("size"), kernel);
  entry.config = index(json.at("config"));
  if (entry.config >= kernel.configs.size()) fail("an entry has no configuration");
  entry.environment = entry_environment(json.at("environment"), environments);
  store::BestRecord& best = entry.best;
  best.problem = entry.size.text;
  best.config_json = kernel.configs[entry.config].json;
  best.time.median_ns = positive(json.at("median_ns"));
  read_spread(json, best);
  read_clocks(json, best);
  read_best(json, best);
  best.shared = json.at("shared");
  best.origin = json.at("origin");
  return entry;
}

KnownConfig read_config(const Json& json, const CatalogueKernel& kernel) {
  KnownConfig config = known_config(json.at("values").get<std::string>(), kernel);
  config.verified = json.at("verified");
  if (const auto refutation = json.find("refutation"); refutation != json.end()) {
    config.refutation = *refutation;
  }
  if (const auto failed = json.find("failed"); failed != json.end()) {
    for (const Json& it : *failed) {
      const auto outcome = outcome_from_name(it.at(1).get<std::string>());
      if (!outcome) fail("a failed trial has no outcome");
      config.failed.push_back({.size = it.at(0), .outcome = *outcome});
    }
  }
  for (const Json& it : json.at("timings")) {
    Timing timing{.size = index(it.at(0)),
                  .ns = positive(it.at(1)),
                  .registers = static_cast<int>(whole(it.at(2), 65536))};
    if (it.size() > 3) {  // of a portfolio's member
      timing.cold_ns = within(it.at(3), 0, 1e15);
      timing.imbalance = within(it.at(4), 0, 1);
    }
    if (timing.size >= kernel.sizes.size()) fail("a time has no size");
    config.timings.push_back(timing);
  }
  return config;
}

/// ln of a time's deviation from the physical part: beyond this nothing was measured.
double deviation(const Json& json) {
  return within(json, -100, 100);
}

FittedCost read_model(const Json& json) {
  FittedCost fitted;
  CostParameters& p = fitted.parameters;
  std::size_t place = 0;
  for (double* const parameter : {&p.fixed_ns, &p.scratch_ns, &p.flops_per_ns, &p.half_warps,
                                  &p.bytes_per_ns, &p.sm_bytes_per_ns, &p.sharpness}) {
    // Only the launch itself and the scratch memory may cost nothing.
    *parameter = within(json.at("parameters").at(place), place < 2 ? 0 : 1e-15, 1e30);
    ++place;
  }
  for (const Json& it : json.at("times")) {
    fitted.samples.push_back({.config = index(it.at(0)),
                              .size = index(it.at(1)),
                              .variant = it.at(3),
                              .residual = deviation(it.at(2))});
  }
  return fitted;
}

/// A table without a model, or with one of before, has one fitted.
void read_or_fit_model(CatalogueKernel& kernel, const Json& json,
                       const space::DeviceAttributes& device) {
  const auto model = json.find("model");
  if (model == json.end() || (model->is_object() && !model->contains("times"))) {
    return fit_model(kernel, device);
  }
  if (model->is_null() || !kernel.stored) return;
  kernel.model = std::make_shared<const CostModel>(*kernel.stored, device, kernel.sizes,
                                                   kernel.configs, read_model(*model));
}

void read_results(CatalogueKernel& kernel, const Json& json,
                  const space::DeviceAttributes& device) {
  kernel.stored = ranked_kernel(*kernel.record);
  std::vector<space::EnvironmentInfo> environments;
  if (const auto list = json.find("environments"); list != json.end()) {
    for (const Json& it : *list) environments.push_back(read_environment(it));
  }
  for (const Json& it : json.at("sizes")) kernel.sizes.push_back(read_size(it, kernel));
  for (const Json& it : json.at("configs")) kernel.configs.push_back(read_config(it, kernel));
  for (const Json& it : json.at("entries")) {
    kernel.entries.push_back(read_entry(it, kernel, environments));
  }
  read_or_fit_model(kernel, json, device);
}

CatalogueKernel read_kernel(const Json& json) {
  CatalogueKernel kernel;
  kernel.record =
      std::make_shared<const store::KernelRecord>(read_texts<store::KernelRecord>(json));
  return kernel;
}

void add_kernel(Catalogue& catalogue, CatalogueKernel kernel) {
  const store::KernelRecord& added = *kernel.record;
  const bool known = std::ranges::any_of(catalogue.kernels, [&](const CatalogueKernel& it) {
    return it.record->family == added.family && it.record->kernel == added.kernel;
  });
  if (known) fail(fmt::format("it has the kernel {} of {} twice", added.kernel, added.family));
  catalogue.kernels.push_back(std::move(kernel));
}

void read_portfolio_value(const Json& json, double& loss) {
  loss = within(json, 1, 1e9);
}
void read_portfolio_value(const Json& json, std::optional<double>& loss) {
  if (!json.is_null()) read_portfolio_value(json, loss.emplace());
}
void read_portfolio_value(const Json& json, std::string& text) {
  json.get_to(text);
}

store::PortfolioRecord read_portfolio(const Json& json) {
  store::PortfolioRecord portfolio;
  for_each_field<store::PortfolioRecord>([&](const auto& field) {
    read_portfolio_value(json.at(std::string(field.key)), portfolio.*field.member);
  });
  portfolio.environment = read_environment(json.at("environment"));
  for (const Json& it : json.at("members")) {
    portfolio.members.push_back(
        {.kernel = it.at("kernel"), .kernel_hash = it.at("hash"), .config_json = it.at("values")});
  }
  for (const Json& it : json.at("sizes")) {
    portfolio.sizes.push_back({.problem = it.at(0),
                               .weight = positive(it.at(1)),
                               .member_cold_ns = optional_positive(it.at(2)),
                               .library_cold_ns = optional_positive(it.at(3))});
    if (it.size() <= 4) continue;  // of a program that timed by single launches alone
    portfolio.sizes.back().member_ns = optional_positive(it.at(4));
    portfolio.sizes.back().library_ns = optional_positive(it.at(5));
  }
  return portfolio;
}

/// Members of kernels that the table has not in this version would not be found.
void require_members(const Catalogue& catalogue) {
  for (const store::PortfolioRecord& portfolio : catalogue.portfolios) {
    for (const store::PortfolioMember& member : portfolio.members) {
      const bool is_known = std::ranges::any_of(catalogue.kernels, [&](const CatalogueKernel& it) {
        return it.record->family == portfolio.family && it.record->kernel == member.kernel &&
               it.record->hash == member.kernel_hash;
      });
      if (is_known) continue;
      fail(
          fmt::format("the portfolio of {} has a member of {}, which the table has not in that "
                      "version",
                      portfolio.family, member.kernel));
    }
  }
}

/// All but the kernels.
Catalogue read_head(const Json& json) {
  if (json.at("format") != kFormat) fail(fmt::format("its format is not {}", kFormat));
  Catalogue catalogue;
  catalogue.device = read_device(json.at("device"));
  catalogue.environment = read_environment(json.at("environment"));
  if (const auto portfolios = json.find("portfolios"); portfolios != json.end()) {
    for (const Json& it : *portfolios) catalogue.portfolios.push_back(read_portfolio(it));
  }
  catalogue.explanation = {fmt::format("device: {}, that of the table", catalogue.device.name)};
  return catalogue;
}

Catalogue read_whole(const Json& json) {
  Catalogue catalogue = read_head(json);
  for (const Json& it : json.at("kernels")) {
    add_kernel(catalogue, read_kernel(it));
    read_results(catalogue.kernels.back(), it, catalogue.device.attributes);
  }
  if (catalogue.kernels.empty()) fail("it has no kernels");
  require_members(catalogue);
  const space::EnvironmentInfo environment = catalogue.environment;
  return in_environment(std::move(catalogue), environment);
}

/// A text that is as catalogue_json wrote it, but for its compiled code.
struct Unchanged {
  Json head;                 ///< its first line, closed
  std::string_view kernels;  ///< all behind it, up to the compiled code
  std::string_view code;     ///< empty: none
};

/// None when the text is not as it was written.
std::optional<Unchanged> unchanged(std::string_view text, std::string_view origin) {
  constexpr std::string_view kOpen = "\"kernels\":[";
  constexpr std::string_view kPortfolios = ",\"portfolios\":";
  constexpr std::string_view kClose = "\n]";
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(R"({"format":"dispatch/1","checksum":)") ||
      !text.substr(0, end).ends_with(kOpen)) {
    return std::nullopt;
  }
  Unchanged result{.head = parse_json(std::string(text.substr(0, end)) + "]}", origin),
                   .kernels = text.substr(end + 1),
                   .code = ""};
  const std::string_view rest = result.kernels;
  const std::size_t code = rest.find(fmt::format("{}{}", kClose, kCodeBegin));
  if (code != std::string_view::npos) {
    result.kernels = rest.substr(0, code + kClose.size());
    result.code = rest.substr(code + kClose.size() + kCodeBegin.size());
  }
  const std::string_view line = text.substr(0, end - kOpen.size());
  const std::size_t portfolios = line.find(kPortfolios);
  const std::string_view its_text =
      portfolios == std::string_view::npos ? "" : line.substr(portfolios + 1);
  if (result.head.at("checksum") != table_checksum(its_text, result.kernels)) return std::nullopt;
  return result;
}

/// The kernels one by one: each begins on a line of its own.
CatalogueOutline read_outline(const Json& head, std::string_view kernels, std::string_view origin) {
  CatalogueOutline outline{.known = read_head(head)};
  while (kernels.starts_with('{')) {
    const std::size_t line = kernels.find(",\n");
    const std::size_t end = std::min(kernels.find("\n{"), kernels.rfind("\n]"));
    if (line >= end || end == std::string_view::npos) fail("a kernel is truncated");
    std::string_view results = kernels.substr(line + 2, end - line - 2);
    if (results.ends_with(',')) results.remove_suffix(1);
    add_kernel(outline.known,
               read_kernel(parse_json(std::string(kernels.substr(0, line)) + "}", origin)));
    outline.unread.push_back(results);
    kernels.remove_prefix(end + 1);
  }
  if (outline.known.kernels.empty()) fail("it has no kernels");
  require_members(outline.known);
  return outline;
}

/// Runs `read()`; what is wrong with the text is said with its origin and the remedy.
template <class Read>
auto reading(std::string_view origin, Read read) {
  const auto refuse = [&](const std::string& why) -> Error {
    return {
        ErrorCode::usage,
        fmt::format("{}: is not a table of tuned configurations: {}; write one with `tune export "
                    "--format json`",
                    origin, why)};
  };
  try {
    return read();
  } catch (const Json::exception& exception) {
    throw refuse(json_reason(exception.what()));
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace

Catalogue parse_catalogue(std::string_view text, std::string_view origin) {
  if (const auto written = reading(origin, [&] { return unchanged(text, origin); })) {
    CatalogueOutline outline =
        reading(origin, [&] { return read_outline(written->head, written->kernels, origin); });
    for (std::size_t i = 0; i < outline.unread.size(); ++i) {
      read_results(outline.known.kernels[i], outline.unread[i], outline.known.device.attributes);
    }
    const space::EnvironmentInfo environment = outline.known.environment;
    return in_environment(std::move(outline.known), environment);
  }
  const Json json = parse_json(text, origin);
  return reading(origin, [&] { return read_whole(json); });
}

bool is_as_written(std::string_view text) {
  return unchanged(text, "").has_value();
}

CatalogueOutline outline_catalogue(std::string text, std::string_view origin) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  const auto written = reading(origin, [&] { return unchanged(*kept, origin); });
  if (written) {
    CatalogueOutline outline =
        reading(origin, [&] { return read_outline(written->head, written->kernels, origin); });
    outline.text = kept;
    if (!written->code.empty()) {
      outline.code = std::make_shared<const TableCode>(kept, written->code);
    }
    return outline;
  }
  CatalogueOutline outline{.known = parse_catalogue(*kept, origin)};
  outline.unread.resize(outline.known.kernels.size());
  return outline;
}

void read_results(CatalogueKernel& kernel, std::string_view unread,
                  const space::DeviceAttributes& device) {
  const std::string origin = fmt::format("the results of {}", kernel.record->kernel);
  const Json json = parse_json("{" + std::string(unread), origin);
  reading(origin, [&] { read_results(kernel, json, device); });
}

}  // namespace tuner::select
