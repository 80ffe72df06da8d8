// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/select/stored_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tuner {
namespace {

/// The identity under which the database keeps a device.
bool same_model(const DeviceInfo& a, const DeviceInfo& b) {
  return a.backend == b.backend && a.name == b.name && a.architecture == b.architecture &&
         a.attributes.sm_count == b.attributes.sm_count;
}

/// What decides how a kernel is compiled and run; the library and this program do not.
bool same_versions(const EnvironmentInfo& a, const EnvironmentInfo& b) {
  return a.driver == b.driver && a.compiler == b.compiler;
}

[[noreturn]] void fail_unknown(const Store& store, std::string_view what, const std::string& name,
                               const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  throw Error(ErrorCode::nothing_found,
              fmt::format("{}: nothing is known of {} '{}'{}: run `tune` on it first",
                          store.path().string(), what, name, did_you_mean(name, names)));
}

DeviceInfo choose_device(const Store& store, const Question& question, Catalogue& catalogue) {
  const std::vector<DeviceInfo> devices = store.devices();
  if (devices.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: the database holds no results: run `tune` first", store.path().string()));
  }
  if (!question.device) {
    const char* why = devices.size() == 1 ? "the only one in the database" : "the one used last";
    catalogue.explanation.push_back(fmt::format("device: {}, {}", devices[0].name, why));
    return devices[0];
  }
  const auto named = [&](const DeviceInfo& device) { return device.name == *question.device; };
  const auto found = std::find_if(devices.begin(), devices.end(), named);
  if (found == devices.end()) {
    std::set<std::string> known;
    for (const DeviceInfo& device : devices) known.insert(device.name);
    fail_unknown(store, "device", *question.device, known);
  }
  catalogue.explanation.push_back(fmt::format("device: {}, as asked", found->name));
  if (std::count_if(devices.begin(), devices.end(), named) > 1) {
    catalogue.explanation.push_back(
        fmt::format("device: of several models of this name the one used last ({}, {} "
                    "multiprocessors)",
                    found->architecture, found->attributes.sm_count));
  }
  return *found;
}

[[noreturn]] void fail_no_kernel(const Store& store, const Question& question) {
  std::set<std::string> families;
  std::set<std::string> kernels;
  for (const KernelRecord& kernel : store.kernels({})) {
    families.insert(kernel.family);
    if (!question.family || kernel.family == *question.family) kernels.insert(kernel.kernel);
  }
  if (question.family && !families.contains(*question.family)) {
    fail_unknown(store, "family", *question.family, families);
  }
  fail_unknown(store, "kernel", question.kernel.value_or(""), kernels);
}

/// A size in a kernel's dimensions; as it is where they are not known; none when it does not fit.
std::optional<KnownSize> known_size(const std::string& text,
                                    const std::optional<Dimensions>& dims) {
  if (!dims) return KnownSize{.text = text, .numbers = {}};
  auto numbers = stored_size(text, *dims);
  if (!numbers) return std::nullopt;
  return KnownSize{.text = canonical_size(*numbers, *dims), .numbers = *std::move(numbers)};
}

CatalogueKernel with_dimensions(KernelRecord record, const Question& question) {
  CatalogueKernel kernel{.record = std::move(record)};
  if (has_space(kernel.record)) kernel.dims = stored_dims(kernel.record);
  kernel.asked = known_size(normalised_size(question.size), kernel.dims);
  return kernel;
}

/// Each kernel asked for, in the version used last.
std::vector<CatalogueKernel> choose_kernels(const Store& store, const Question& question) {
  if (!question.kernel && !question.family) {
    throw Error(ErrorCode::usage,
                "a question needs a kernel or a family: name one with --kernel "
                "or --family");
  }
  std::vector<CatalogueKernel> kernels;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> families;
  for (KernelRecord& record :
       store.kernels({.family = question.family, .kernel = question.kernel})) {
    families.insert(record.family);
    const bool newest = seen.emplace(record.family, record.kernel).second;
    if (newest) kernels.push_back(with_dimensions(std::move(record), question));
  }
  if (kernels.empty()) fail_no_kernel(store, question);
  if (families.size() > 1) {
    throw Error(ErrorCode::usage,
                fmt::format("kernel '{}' is in the families {} and {}: say which with --family",
                            *question.kernel, *families.begin(), *std::next(families.begin())));
  }
  return kernels;
}

/// Whether an entry takes the place of a newer one of the same size.
bool outranks(const Entry& entry, const Entry& newer) {
  if (entry.stale != newer.stale) return !entry.stale;
  return entry.stored.best.verified && !newer.stored.best.verified;
}

/// Takes an entry unless the one of the same size that is there is better. Entries come newest
/// first.
void add_entry(CatalogueKernel& kernel, Entry entry) {
  const auto same_size =
      std::find_if(kernel.entries.begin(), kernel.entries.end(),
                   [&](const Entry& it) { return it.size.text == entry.size.text; });
  if (same_size == kernel.entries.end()) {
    kernel.entries.push_back(std::move(entry));
  } else if (outranks(entry, *same_size)) {
    *same_size = std::move(entry);
  }
}

/// Of the newest result of this machine; without one, of the newest. There is at least one.
EnvironmentInfo environment_in_use(const std::vector<StoredBest>& bests) {
  const auto own = std::find_if(bests.begin(), bests.end(),
                                [](const StoredBest& it) { return it.best.verified; });
  return (own == bests.end() ? bests.front() : *own).subject.environment;
}

}  // namespace

std::string versions(const EnvironmentInfo& environment) {
  if (environment.driver.empty()) return environment.compiler;
  return fmt::format("driver {}, {}", environment.driver, environment.compiler);
}

Catalogue catalogue(const Store& store, const Question& question) {
  Catalogue result;
  result.kernels = choose_kernels(store, question);
  result.device = choose_device(store, question, result);

  std::vector<StoredBest> bests = store.bests({.device = result.device.name});
  std::erase_if(bests, [&](const StoredBest& stored) {
    return !same_model(stored.subject.device, result.device);
  });
  if (question.environment) {
    result.environment = *question.environment;
  } else if (!bests.empty()) {
    result.environment = environment_in_use(bests);
  }
  for (CatalogueKernel& kernel : result.kernels) {
    std::size_t outdated = 0;
    for (const StoredBest& stored : bests) {
      const KernelRecord& record = stored.subject.kernel;
      if (record.family != kernel.record.family || record.kernel != kernel.record.kernel) continue;
      const auto size = known_size(stored.best.problem, kernel.dims);
      if (record.hash != kernel.record.hash || !size) {
        ++outdated;
        continue;
      }
      const bool stale = !same_versions(stored.subject.environment, result.environment);
      add_entry(kernel, {.stored = stored, .size = *size, .stale = stale});
    }
    if (outdated > 0) {
      result.explanation.push_back(
          fmt::format("kernel: {} has changed since; its entries from before ({}) are not used",
                      kernel.record.kernel, outdated));
    }
  }
  return result;
}

}  // namespace tuner
