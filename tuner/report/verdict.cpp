// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/verdict.hpp"

#include "tuner/report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tuner::report {
namespace {

std::string speed(const SizeHistory& size, const Metric& metric, double ns) {
  if (const auto rate = metric.rate(size, ns)) {
    return fmt::format("runs at {}\u00a0{}", format_number(*rate), metric.unit);
  }
  return fmt::format("runs in {}", format_time(ns));
}

std::string comparison(const SizeHistory& size) {
  const store::BestRecord& best = *size.best;
  std::vector<std::string> parts;
  if (best.ratio_to_library) {
    parts.push_back(fmt::format("{} of {}", format_percent(*best.ratio_to_library),
                                library_brand(best.library_name)));
  }
  if (const auto gain = cold_gain(size)) {
    parts.push_back(fmt::format("{} its default configuration{}", format_factor(*gain),
                                ranking_measure(size) == kCold ? "" : " in cold launches"));
  }
  return parts.empty() ? "" : fmt::format(", {}", fmt::join(parts, " and "));
}

std::string without_success(const SizeHistory& size) {
  std::map<Outcome, std::uint64_t> counts;
  for (const ReportedTrial& evaluation : size.evaluations) ++counts[evaluation.outcome];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto commonest = std::max_element(counts.begin(), counts.end(), fewer);
  if (commonest == counts.end()) return "nothing has been tried yet.";
  return fmt::format("none of {} trials succeeded; {} {}.", format_count(size.evaluations.size()),
                     format_count(commonest->second), in_words(commonest->first));
}

std::optional<double> ratio_to_library(const SizeHistory& size) {
  return size.best ? size.best->ratio_to_library : std::nullopt;
}

/// "41.2 % to 55.3 %" over sizes that know the ratio; empty when fewer than two do.
std::string range(const std::vector<const SizeHistory*>& sizes,
                  std::optional<double> (*ratio)(const SizeHistory&),
                  std::string (*format)(double)) {
  std::vector<double> values;
  for (const SizeHistory* size : sizes) {
    if (const auto value = ratio(*size)) values.push_back(*value);
  }
  if (values.size() < 2) return "";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} to {}", format(*low), format(*high));
}

/// " Over 12 sizes of f64 it reaches …" for sizes of one type; empty when too few are known.
std::string over_sizes(const std::vector<const SizeHistory*>& sizes, const std::string& of_type) {
  std::vector<std::string> parts;
  const std::string library = range(sizes, ratio_to_library, format_percent);
  if (!library.empty()) {
    const auto known = std::ranges::find_if(
        sizes, [](const auto* size) { return size->best && size->best->ratio_to_library; });
    parts.push_back(fmt::format("{} of {}", library, library_brand((*known)->best->library_name)));
  }
  const std::string standard = range(sizes, cold_gain, format_factor);
  if (!standard.empty()) parts.push_back(fmt::format("{} the default, cold", standard));
  if (parts.empty()) return "";
  return fmt::format(" Over {} sizes{} it reaches {}.", sizes.size(), of_type,
                     fmt::join(parts, " and "));
}

std::string over_sizes(const KernelHistory& kernel) {
  std::map<std::string, std::vector<const SizeHistory*>> types;
  for (const SizeHistory& size : kernel.sizes) {
    types[kernel.types.at(size.problem)].push_back(&size);
  }
  std::string text;
  for (const auto& [type, sizes] : types) {
    text += over_sizes(sizes, types.size() > 1 ? " of " + type : "");
  }
  return text;
}

/// " Unproven: never run on a GPU."; empty for a kernel that runs without being named.
std::string why_unproven(const KernelHistory& kernel) {
  return kernel.unproven.empty() ? "" : fmt::format(" Unproven: {}.", kernel.unproven);
}

}  // namespace

std::string size_verdict(const KernelHistory& kernel, const SizeHistory& size,
                         const Metric& metric) {
  const std::string label = format_size(size.problem);
  const std::optional<double> ns = ranking_ns(size);
  if (!ns) return fmt::format("{}: {}", label, without_success(size));
  std::string text = fmt::format("{}: {} {}", label, kernel.kernel, speed(size, metric, *ns));
  if (!size.best) return text + "; screening time only, not re-timed.";
  text += comparison(size);
  if (size.best->ties > 0) {
    const auto ties = static_cast<std::uint64_t>(size.best->ties);
    text += fmt::format("; {} not shown to be over 1\u00a0% slower",
                        format_plural(ties, "other finalist is", "other finalists are"));
  }
  return text + ".";
}

std::string kernel_verdict(const KernelHistory& kernel, const Metric& metric) {
  const auto has_result = [](const SizeHistory& size) { return best_ns(size).has_value(); };
  const auto largest = std::find_if(kernel.sizes.rbegin(), kernel.sizes.rend(), has_result);
  if (largest == kernel.sizes.rend()) {
    return size_verdict(kernel, kernel.sizes.back(), metric) + why_unproven(kernel);
  }
  return size_verdict(kernel, *largest, metric) + over_sizes(kernel) + why_unproven(kernel);
}

std::string library_brand(std::string_view library_name) {
  if (library_name.empty()) return "the library";
  return std::string(library_name.substr(0, library_name.find(' ')));
}

std::string_view in_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "succeeded";
    case Outcome::compile_error:
      return "did not compile";
    case Outcome::launch_error:
      return "did not launch";
    case Outcome::wrong_result:
      return "computed a wrong result";
    case Outcome::timeout:
      return "took too long";
    case Outcome::crashed:
      return "crashed";
    case Outcome::compile_timeout:
      return "took the compiler too long";
    case Outcome::out_of_bounds:
      return "accessed memory out of bounds";
    case Outcome::nondeterministic:
      return "gave different results from the same input";
    case Outcome::unstable:
      return "could not be timed";
    case Outcome::implausible:
      return "was faster than the device can be";
    case Outcome::quarantined:
      return "was not run again after crashing";
  }
  return "ended in an unknown way";
}

}  // namespace tuner::report
