// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sizes.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/awkward_sizes.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tuner::cli {
namespace {

constexpr std::size_t kMostSizes = 1000;
/// Some 10 ms.
constexpr std::uint64_t kMostLaunchesLookedAt = 4096;

[[noreturn]] void fail(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::usage,
              fmt::format("--range {}: {}; write START:STOP:STRIDE or START:STOP:xFACTOR, such as "
                          "64:1024:64 or 64:4096:x2",
                          text, why));
}

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number <= 2147483647 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string why_no_launch(const family::Family& family, const family::Kernel& kernel,
                          const space::BoundDefinition& space, const space::Config& config,
                          const space::Size& size) {
  try {
    const space::ExpressionValues values = family::values_at_size(kernel, space, config, size);
    return family::why_no_launch(family.arguments, kernel, values).value_or("");
  } catch (const Error& error) {
    return error.what();
  }
}

LaunchCount count_launches(const family::Family& family, const family::Kernel& kernel,
                           const space::Space& space, const space::Size& size) {
  LaunchCount count{.looked_at = std::min(space.size(), kMostLaunchesLookedAt), .why = {}};
  const std::uint64_t step = space.size() / std::max<std::uint64_t>(count.looked_at, 1);
  for (std::uint64_t i = 0; i < count.looked_at; ++i) {
    const std::string why = why_no_launch(family, kernel, space, space.at(i * step), size);
    if (why.empty()) {
      ++count.launchable;
    } else if (count.why.empty()) {
      count.why = why;
    }
  }
  return count;
}

std::string shown_size(std::string_view stored) {
  std::string shown(stored);
  const std::size_t named = shown.find('=');  // the comma before a name stays
  const std::size_t end = named == std::string::npos ? shown.size() : shown.rfind(',', named);
  if (end != std::string::npos) {
    std::replace(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(end), ',', 'x');
  }
  return shown;
}

std::vector<space::Size> chosen_sizes(const family::Family& family, const TuneOptions& options,
                                      const std::string& backend) {
  std::vector<space::Size> sizes;
  for (const std::string& text : options.sizes)
    sizes.push_back(space::parse_size(text, family.problem.dims));
  for (const std::string& list : options.lists) {
    // A list's name is a word; anything else is a file.
    const std::vector<space::Size> listed =
        space::is_word(list) ? family.sizes(list) : family::suite_sizes(list, family);
    sizes.insert(sizes.end(), listed.begin(), listed.end());
  }
  if (sizes.empty()) {
    // A list named after the backend serves machines that the default would keep busy for hours.
    sizes = family.sizes(family.problem.sizes.contains(backend) ? backend : "default");
  }
  std::vector<space::Size> each_once;
  for (const space::Size& size : sizes) {
    if (std::ranges::find(each_once, size) == each_once.end()) each_once.push_back(size);
  }
  return each_once;
}

std::optional<space::Size> listed_size_for(const family::Family& family,
                                           const family::Kernel& kernel,
                                           const space::DeviceAttributes& device) {
  std::vector<space::Size> listed;
  for (const auto& [name, sizes] : family.problem.sizes) {
    listed.insert(name == "default" ? listed.begin() : listed.end(), sizes.begin(), sizes.end());
  }
  const auto fits = std::ranges::find_if(listed, [&](const space::Size& size) {
    const space::BoundDefinition space(kernel.space, device, size);
    return !space.violation(space.default_config());
  });
  return fits == listed.end() ? std::nullopt : std::optional(*fits);
}

std::string check_sizes_caution(const family::Family& family, const family::Kernel& kernel,
                                const space::BoundDefinition& space, const space::Size& size) {
  if (space.violation(space.default_config())) return "";  // what does not run needs no check
  const family::AwkwardSizes awkward =
      family::awkward_sizes(family, kernel, space, space.default_config(), size);
  for (const space::Size& each : awkward.sizes) {
    const std::string why = why_no_launch(family, kernel, space, space.default_config(), each);
    if (why.empty()) continue;
    return fmt::format(
        "warning: {} (the default configuration at the check size {}): change the launch, or take "
        "the size out",
        why, space::display(each, family.problem.dims));
  }
  const std::size_t left_out = awkward.of_other_code + awkward.refused;
  if (!awkward.sizes.empty() || left_out == 0) return "";
  return fmt::format(
      "warning: kernel {} at {}: the default configuration is verified at no other size: of {} in "
      "the file {} need other code and {} are rejected by a constraint; {}",
      kernel.name, space::display(size, family.problem.dims), quantity::count(left_out),
      quantity::count(awkward.of_other_code), quantity::count(awkward.refused),
      awkward.of_other_code == left_out
          ? "pass sizes as arguments instead of macros or template arguments, or tune other sizes "
            "too"
          : "add a check size for this kind of problem");
}

std::vector<space::Size> size_range(std::string_view text, const space::Dimensions& dims) {
  const std::size_t one = text.find(':'), two = text.find(':', one + 1);
  if (one == std::string_view::npos || two == std::string_view::npos)
    fail(text, "a range has three parts");
  std::string_view step_text = text.substr(two + 1);
  const bool multiplies = step_text.starts_with('x');
  if (multiplies) step_text.remove_prefix(1);
  const auto start = positive(text.substr(0, one));
  const auto stop = positive(text.substr(one + 1, two - one - 1));
  const auto step = positive(step_text);
  if (!start || !stop || !step) fail(text, "its parts are whole numbers above 0");
  if (*start > *stop) fail(text, "its start is above its end");
  if (multiplies && *step < 2) fail(text, "a factor is at least 2");
  std::vector<space::Size> sizes;
  for (std::int64_t extent = *start; extent <= *stop;
       extent = multiplies ? extent * *step : extent + *step) {
    if (sizes.size() == kMostSizes)
      fail(text, fmt::format("it has more than {} sizes", kMostSizes));
    std::vector<std::optional<std::int64_t>> numbers(dims.size());
    for (std::size_t i = 0; i < dims.required(); ++i) numbers[i] = extent;
    auto size = dims.complete(numbers);
    if (!size) fail(text, size.error());
    sizes.push_back(std::move(*size));
  }
  return sizes;
}

const family::Kernel& chosen_kernel(const family::Family& family,
                                    const std::vector<std::string>& asked) {
  if (asked.size() == 1) return family.kernel(asked.front());
  if (family.kernels.size() == 1) return family.kernels.front();
  std::vector<std::string> names;
  for (const family::Kernel& kernel : family.kernels) names.push_back(kernel.name);
  throw Error(ErrorCode::usage, fmt::format("which kernel? {} has {}; name one with --kernel",
                                            family.path, fmt::join(names, ", ")));
}

space::Size chosen_size(const family::Family& family, const std::string& text) {
  const space::Dimensions& dims = family.problem.dims;
  if (!text.empty()) return space::parse_size(text, dims);
  std::vector<std::string> names = dims.names();
  names.resize(dims.required());
  throw Error(ErrorCode::usage,
              fmt::format("which size ({})? Write --size {}", fmt::join(names, ","),
                          fmt::join(std::vector(names.size(), 256), ",")));
}

void require_backend(const family::Kernel& kernel, const std::string& backend) {
  if (kernel.runs_on(backend)) return;
  throw Error(ErrorCode::no_device,
              fmt::format("kernel {} runs on {} only, not on the {} backend", kernel.name,
                          fmt::join(kernel.backends, ", "), backend));
}

}  // namespace tuner::cli
