// SPDX-License-Identifier: Apache-2.0
// Writes the text of a catalogue. Each kernel has a line of its own, and so has each of the lists
// behind it, so that a reader can pass over them (outline_catalogue).
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tuner::select {
namespace {

std::string literal(std::string_view text) {
  return Json(text).dump();
}

/// A list of what `item` says of each element.
template <class Range, class Item>
std::string list(const Range& range, Item item) {
  std::string text = "[";
  for (const auto& it : range) {
    if (text.size() > 1) text += ',';
    text += item(it);
  }
  return text + "]";
}

std::string numbers(const std::vector<double>& values) {
  return list(values, [](double value) { return fmt::format("{}", value); });
}

std::string device_text(const space::DeviceInfo& device) {
  const std::string attributes =
      list(space::attribute_fields(), [&](const space::AttributeField& field) {
        return fmt::format("{}:{}", literal(field.name), device.attributes.*field.member);
      });
  return fmt::format(R"({{"backend":{},"name":{},"architecture":{},"attributes":{{{}}}}})",
                     literal(device.backend), literal(device.name), literal(device.architecture),
                     std::string_view(attributes).substr(1, attributes.size() - 2));
}

std::string value_text(std::string_view value) {
  return literal(value);
}
std::string value_text(bool value) {
  return fmt::format("{}", value);
}
std::string value_text(int value) {
  return fmt::format("{}", value);
}
std::string value_text(double value) {
  return fmt::format("{}", value);
}
std::string value_text(const std::optional<double>& value) {
  return value ? value_text(*value) : "null";
}

/// `"driver":"580.159.04","compiler":…`: the fields of a record, a comma between them.
template <Record T>
std::string fields_text(const T& record) {
  std::string text;
  for_each_field<T>([&](const auto& field) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}:{}", literal(field.key), value_text(record.*field.member));
  });
  return text;
}

std::string environment_text(const space::EnvironmentInfo& it) {
  return fmt::format("{{{}}}", fields_text(it));
}

/// Each is written once: nearly all entries of a table share one.
std::vector<space::EnvironmentInfo> environments_of(const CatalogueKernel& kernel) {
  std::vector<space::EnvironmentInfo> environments;
  for (const Entry& entry : kernel.entries) {
    if (std::ranges::find(environments, entry.environment) == environments.end()) {
      environments.push_back(entry.environment);
    }
  }
  return environments;
}

/// The fields that tables have, each with a comma behind it.
std::string best_text(const store::BestRecord& best) {
  std::string text;
  for_each_field<store::BestRecord>([&]<class F>(const F& field) {
    if constexpr (!Record<typename F::Type>) {
      if (field.use.table.empty()) return;
      const std::string value = value_text(best.*field.member);
      if (field.use.is_omitted && (value == "null" || value == R"("")")) return;
      text += fmt::format("{}:{},", literal(field.use.table), value);
    }
  });
  return text;
}

/// How far the time may be trusted; nothing where that is not known, as of tables of before.
std::string spread_text(const store::BestRecord& best) {
  if (best.time.samples == 0) return "";
  return fmt::format(R"("q1_ns":{},"q3_ns":{},"samples":{},)", best.time.q1_ns, best.time.q3_ns,
                     best.time.samples);
}

/// The clock that the time was taken at, and what limits it; nothing where that is not known.
std::string clocks_text(const store::BestRecord& best) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<double>& value) {
    if (value) text += fmt::format("{}:{},", literal(name), *value);
  };
  add("clock_mhz", best.clock_mhz);
  for_each_field<ClockLimit>(
      [&](const auto& field) { add(field.name, best.clock_limit.*field.member); });
  return text;
}

std::string entry_text(const Entry& entry,
                       const std::vector<space::EnvironmentInfo>& environments) {
  const store::BestRecord& best = entry.best;
  return fmt::format(
      R"({{"size":{},"config":{},"median_ns":{},{}{}{}"shared":{},"origin":{},"environment":{}}})",
      literal(entry.size.text), entry.config, best.time.median_ns, spread_text(best),
      clocks_text(best), best_text(best), best.shared, literal(store::published_origin(best)),
      std::ranges::find(environments, entry.environment) - environments.begin());
}

std::string timing_text(const Timing& it) {
  return fmt::format("[{},{},{}]", it.size, it.ns, it.registers);
}

std::string member_timing_text(const Timing& it) {
  return fmt::format("[{},{},{},{},{}]", it.size, it.ns, it.registers, it.cold_ns, it.imbalance);
}

std::string config_text(const KnownConfig& config, std::string (*text_of)(const Timing&)) {
  const std::string timings = list(config.timings, text_of);
  const std::string refutation =
      config.refutation.empty() ? ""
                                : fmt::format(R"("refutation":{},)", literal(config.refutation));
  const std::string failed =
      config.failed.empty()
          ? ""
          : fmt::format(R"("failed":{},)", list(config.failed, [](const FailedTrial& it) {
                          return fmt::format("[{},{}]", literal(it.size),
                                             literal(std::string(name(it.outcome))));
                        }));
  return fmt::format(R"({{"values":{},"verified":{},{}{}"timings":{}}})", literal(config.json),
                     config.verified, refutation, failed, timings);
}

std::string model_text(const CostModel* model) {
  if (model == nullptr) return "null";
  const FittedCost& it = model->fitted();
  const CostParameters& p = it.parameters;
  const std::string samples = list(it.samples, [](const FittedCost::Sample& sample) {
    return fmt::format("[{},{},{},{}]", sample.config, sample.size, sample.residual,
                       literal(sample.variant));
  });
  return fmt::format(R"({{"parameters":{},"times":{}}})",
                     numbers({p.fixed_ns, p.scratch_ns, p.flops_per_ns, p.half_warps,
                              p.bytes_per_ns, p.sm_bytes_per_ns, p.sharpness}),
                     samples);
}

std::string kernel_text(const CatalogueKernel& kernel,
                        const std::vector<store::PortfolioRecord>& portfolios) {
  const store::KernelRecord& record = *kernel.record;
  const std::vector<space::EnvironmentInfo> environments = environments_of(kernel);
  return fmt::format(
      "{{{},\n\"environments\":{},\n\"sizes\":{},\n\"configs\":{},\n\"entries\":{},\n\"model\":{}}"
      "}",
      fields_text(record), list(environments, environment_text),
      list(kernel.sizes, [](const KnownSize& size) { return literal(size.text); }),
      list(kernel.configs,
           [&](const KnownConfig& it) {
             return config_text(
                 it, is_member(portfolios, record, it.json) ? member_timing_text : timing_text);
           }),
      list(kernel.entries, [&](const Entry& entry) { return entry_text(entry, environments); }),
      model_text(kernel.model.get()));
}

std::string portfolio_text(const store::PortfolioRecord& it) {
  return fmt::format(
      R"({{{},"environment":{},"members":{},"sizes":{}}})", fields_text(it),
      environment_text(it.environment),
      list(it.members,
           [](const store::PortfolioMember& member) {
             return fmt::format(R"({{"kernel":{},"hash":{},"values":{}}})", literal(member.kernel),
                                literal(member.kernel_hash), literal(member.config_json));
           }),
      list(it.sizes, [](const store::PortfolioSize& size) {
        return fmt::format("[{},{},{},{},{},{}]", literal(size.problem), size.weight,
                           value_text(size.member_cold_ns), value_text(size.library_cold_ns),
                           value_text(size.member_ns), value_text(size.library_ns));
      }));
}

/// In the first line, before the kernels; nothing where there are none.
std::string portfolios_text(const Catalogue& catalogue) {
  if (catalogue.portfolios.empty()) return "";
  return fmt::format("\"portfolios\":{},", list(catalogue.portfolios, portfolio_text));
}

}  // namespace

std::string table_checksum(std::string_view portfolios, std::string_view kernels) {
  return portfolios.empty() ? content_hash({kernels}) : content_hash({portfolios, kernels});
}

std::string catalogue_json(const Catalogue& catalogue, std::string_view code) {
  std::string kernels;
  for (const CatalogueKernel& kernel : catalogue.kernels) {
    if (!kernels.empty()) kernels += ",\n";
    kernels += kernel_text(kernel, catalogue.portfolios);
  }
  kernels += code.empty() ? "\n]}\n" : "\n]";
  const std::string portfolios = portfolios_text(catalogue);
  const std::string checksum = table_checksum(portfolios, kernels);
  if (!code.empty()) kernels += fmt::format("{}{}}}\n", kCodeBegin, code);
  return fmt::format(
      "{{\"format\":\"dispatch/"
      "1\",\"checksum\":{},\"device\":{},\"environment\":{},{}\"kernels\":[\n{}",
      literal(checksum), device_text(catalogue.device), environment_text(catalogue.environment),
      portfolios, kernels);
}

}  // namespace tuner::select
