// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_families.hpp"

#include "tuner/cli/data_file.hpp"
#include "tuner/cli/recorded_products.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/suite.hpp"
#include "tuner/space/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace tuner::cli {
namespace {

std::string space_file_of(const std::string& family, const std::string& list) {
  const std::string name = fmt::format("spaces/{}.json", family);
  if (const auto file = data_file(name)) return file->string();
  throw Error(ErrorCode::usage,
              fmt::format("{}: has sizes of '{}', of which no space file {} is installed; name it "
                          "with --space",
                          list, family, name));
}

/// The options of each family in the lists, in their order.
std::vector<TuneOptions> options_by_family(const TuneOptions& options) {
  std::vector<std::string> families;
  std::vector<TuneOptions> result;
  for (const std::string& list : options.lists) {
    for (const std::string& family : family::suite_families(list)) {
      const auto found = std::ranges::find(families, family);
      if (found != families.end()) {
        result[static_cast<std::size_t>(found - families.begin())].lists.push_back(list);
        continue;
      }
      families.push_back(family);
      TuneOptions& of_family = result.emplace_back(options);
      of_family.space = space_file_of(family, list);
      of_family.lists = {list};
    }
  }
  return result;
}

FamilyToTune family_to_tune(const CommonOptions& common, TuneOptions options,
                            const std::vector<family::RecordedCalls>& recordings) {
  FamilyToTune result{.family = family::load_family(options.space),
                      .options = std::move(options),
                      .importance = {}};
  for (const family::RecordedCalls& calls : recordings) {
    for (const auto& [size, ns] : importance_of_sizes(common, calls, result.family)) {
      result.importance[size] += ns;
    }
  }
  double sum = 0;
  for (const auto& [size, ns] : result.importance) sum += ns;
  if (sum > 0) {
    result.weight = sum;
  } else {
    result.importance.clear();  // nothing was timed
  }
  return result;
}

}  // namespace

std::vector<family::RecordedCalls> recordings_of(const TuneOptions& options) {
  std::vector<family::RecordedCalls> recordings;
  for (const std::string& list : options.lists) {
    if (space::is_word(list)) continue;  // of the space file
    if (auto calls = recorded_in(list)) recordings.push_back(std::move(*calls));
  }
  return recordings;
}

std::vector<FamilyToTune> families_to_tune(const CommonOptions& common, const TuneOptions& options,
                                           const std::vector<family::RecordedCalls>& recordings) {
  std::vector<FamilyToTune> families;
  const std::vector<TuneOptions> each =
      options.space.empty() ? options_by_family(options) : std::vector{options};
  for (const TuneOptions& one : each) {
    families.push_back(family_to_tune(common, one, recordings));
  }
  std::ranges::stable_sort(families, std::greater(), &FamilyToTune::weight);
  return families;
}

}  // namespace tuner::cli
