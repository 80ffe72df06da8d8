// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/family/stored_file.hpp"
#include "tuner/source/read_source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace tuner::family {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSpaceFileLimitBytes = std::size_t{1024} * 1024;
constexpr std::string_view kFormat = "space/1";
constexpr std::size_t kMaximumIncludeFolders = 16;

/// Before anything else is read: a later format may differ in everything.
void check_format(const DocumentNode& root) {
  const DocumentNode node = root.at("format");
  if (!node.json().is_string()) node.fail(fmt::format("must be \"{}\"", kFormat));
  const std::string format = node.text();
  if (format == kFormat) return;
  node.fail(fmt::format(
      "is {}, but this program understands \"{}\"{}", in_quotes(format), kFormat,
      format.starts_with("space/") ? "; a newer version of it may understand this file" : ""));
}

/// A number that every listed size must give, and the least that makes sense.
struct Quantity {
  const space::Expression& expression;
  std::string path;
  std::int64_t minimum;
};

std::vector<Quantity> quantities(const Family& family) {
  std::vector<Quantity> result = {{family.problem.flops, "problem.flops", 0},
                                  {family.problem.bytes, "problem.bytes", 0},
                                  {family.check.accumulates, "check.accumulates", 1}};
  for (const Argument& argument : family.arguments) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    result.push_back({buffer->count, fmt::format("the count of argument '{}'", argument.name), 1});
    result.push_back(
        {buffer->offset, fmt::format("the offset of argument '{}'", argument.name), 0});
  }
  return result;
}

/// Finds at load time what would otherwise stop a run half-way: a quantity that faults or makes no
/// sense at a size of the file.
void check_quantities(const DocumentNode& root, const Family& family,
                      const std::vector<space::Size>& sizes) {
  for (const Quantity& quantity : quantities(family)) {
    for (const space::Size& size : sizes) {
      const auto value = quantity.expression.evaluate(family_values(size));
      if (value && *value >= quantity.minimum) continue;
      const std::string result = value
                                     ? fmt::format("is {}", *value)
                                     : fmt::format("has no value ({})", space::name(value.error()));
      root.fail(fmt::format("{}: \"{}\" {} at the size {} of this file; it must be at least {}",
                            quantity.path, quantity.expression.text(), result,
                            space::display(size, family.problem.dims), quantity.minimum));
    }
  }
}

/// Fails where a buffer's alignment is wrong at a size.
void check_alignments(const DocumentNode& root, const Family& family,
                      const std::vector<space::Size>& sizes) {
  for (const Argument& argument : family.arguments) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    for (const space::Size& size : sizes) {
      try {
        static_cast<void>(alignment_bytes(*buffer, argument.name, family_values(size)));
      } catch (const Error& error) {
        root.fail(fmt::format("{} (at the size {} of this file)", error.what(),
                              space::display(size, family.problem.dims)));
      }
    }
  }
}

/// Fails where the values of an array or a number are wrong at a size.
void check_values(const DocumentNode& root, const Family& family,
                  const std::vector<space::Size>& sizes) {
  for (const auto& [name, what] : family.arguments) {
    for (const space::Size& size : sizes) {
      try {
        if (const auto* array = std::get_if<ArrayArgument>(&what)) {
          static_cast<void>(array_bytes(*array, name, family_values(size)));
        } else if (const auto* scalar = std::get_if<ScalarArgument>(&what)) {
          static_cast<void>(scalar_value(*scalar, name, family_values(size)));
        }
      } catch (const Error& error) {
        root.fail(fmt::format("{} (at the size {} of this file)", error.what(),
                              space::display(size, family.problem.dims)));
      }
    }
  }
}

/// Fails where the records of an output are wrong at a size.
void check_records(const DocumentNode& root, const Family& family,
                   const std::vector<space::Size>& sizes) {
  for (const Argument& argument : family.arguments) {
    for (const space::Size& size : sizes) {
      try {
        static_cast<void>(record_layout(family.arguments, argument, family_values(size)));
      } catch (const Error& error) {
        root.fail(fmt::format("{} (at the size {} of this file)", error.what(),
                              space::display(size, family.problem.dims)));
      }
    }
  }
}

/// Fails where the shape of a reference is wrong at a size.
void check_reference(const DocumentNode& root, const Family& family,
                     const std::vector<space::Size>& sizes) {
  for (const space::Size& size : sizes) {
    try {
      static_cast<void>(library_shape(family.check, family_values(size)));
    } catch (const Error& error) {
      root.fail(fmt::format("{} at the size {} of this file", error.what(),
                            space::display(size, family.problem.dims)));
    }
  }
}

/// The sizes that the file names, and what its check sizes are beside them.
std::vector<space::Size> listed_sizes(const Family& family) {
  const space::Dimensions& dims = family.problem.dims;
  std::vector<space::Size> tuned;
  for (const auto& [name, sizes] : family.problem.sizes) {
    tuned.insert(tuned.end(), sizes.begin(), sizes.end());
  }
  std::vector<space::Size> sizes;
  if (tuned.empty()) {
    std::vector<std::optional<std::int64_t>> ones(dims.size());
    std::fill_n(ones.begin(), dims.required(), 1);
    if (auto size = dims.complete(ones)) tuned.push_back(*std::move(size));
  }
  for (const space::Size& size : tuned) {
    for (const CheckSize& check : family.check.sizes) {
      if (auto beside = size_at(check, dims, size, family_values(size))) {
        sizes.push_back(*std::move(beside));
      }
    }
  }
  for (const auto& [name, named] : family.problem.sizes) {
    sizes.insert(sizes.end(), named.begin(), named.end());
  }
  return sizes;
}

/// One kernel of the file, with its source.
Kernel read_kernel(const DocumentNode& node, const std::string& name, const Family& family,
                   const SourceProvider& source_of) {
  Kernel kernel = parse_kernel(node, name, family);
  if (kernel.steps.empty()) {
    for (const char* const key : {"entry", "launch"}) static_cast<void>(node.at(key));
  }
  kernel.source = source_of(family, name, node.at("source"));
  kernel.hash = kernel_hash(kernel, family);
  const auto check_sizes = node.find("check_sizes");
  if (check_sizes && std::holds_alternative<NpyReference>(family.check.reference)) {
    check_sizes->fail("lists other sizes than that of the results in check.reference");
  }
  if (check_sizes && std::holds_alternative<ResultsReference>(family.check.reference)) {
    check_sizes->fail(
        "lists sizes of one kernel, for which check.reference has no results: list them in "
        "\"check\": {\"sizes\": …}");
  }
  return kernel;
}

/// All but the arguments, the check and the kernels. A mistake in the problem is thrown with those
/// of the other members.
Family parse_head(const DocumentNode& root, std::string_view text, std::string_view origin) {
  check_format(root);
  Family family;
  family.path = origin;
  family.text = text;
  ErrorCollector errors;
  errors.attempt([&] {
    if (const auto doc = root.find("doc")) static_cast<void>(doc->text());
  });
  errors.attempt([&] { family.name = root.at("family").name(); });
  errors.attempt([&] {
    const auto include = root.find("include");
    if (!include) return;
    for (const DocumentNode& folder : include->elements(0, kMaximumIncludeFolders)) {
      family.include.push_back(folder.text());
    }
  });
  errors.attempt([&] { family.problem = parse_problem(root.at("problem")); });
  errors.throw_any();
  return family;
}

void expect_root_keys(const DocumentNode& root) {
  root.expect_keys({"$schema", "format", "family", "doc", "include", "problem", "arguments",
                    "check", "kernels"});
}

/// Finds at load time what a run would find at a size of the file.
void check_at_sizes(const DocumentNode& root, const Family& family) {
  const std::vector<space::Size> sizes = listed_sizes(family);
  check_quantities(root, family, sizes);
  check_alignments(root, family, sizes);
  check_values(root, family, sizes);
  check_records(root, family, sizes);
  check_reference(root, family, sizes);
}

/// The kernels, each as far as it does not depend on a wrong part of the file.
void read_kernels(const DocumentNode& node, const SourceProvider& source_of, bool has_arguments,
                  Family& family) {
  ErrorCollector errors;
  for (const auto& [name, kernel] : node.named_members()) {
    errors.attempt([&] {
      if (has_arguments) {
        family.kernels.push_back(read_kernel(kernel, name, family, source_of));
      } else {
        check_launch(kernel, *parse_kernel_space(kernel, name, family).space);
      }
    });
  }
  errors.throw_any();
  if (has_arguments && family.kernels.empty()) {
    node.fail("is empty; a family has at least one kernel");
  }
}

/// None where they are wrong, which has been told.
std::optional<space::Dimensions> dimensions_of(const DocumentNode& root) {
  try {
    const DocumentNode problem = root.at("problem");
    return space::parse_dimensions(problem.json(), problem.where());
  } catch (const Error&) {
    return std::nullopt;
  }
}

Family parse_document(std::string_view text, std::string_view origin,
                      const SourceProvider& source_of) {
  const Json json = parse_json(text, origin);
  const DocumentNode root(json, std::string(origin));
  check_format(root);
  ErrorCollector errors;
  Family family;
  errors.attempt([&] { expect_root_keys(root); });
  const bool has_head = errors.attempt([&] { family = parse_head(root, text, origin); });
  if (!has_head) {
    const auto dims = dimensions_of(root);
    if (!dims) errors.throw_any();  // no expression can be read
    family.problem.dims = *dims;
    family.path = origin;
  }
  const bool has_arguments = errors.attempt(
      [&] { family.arguments = parse_arguments(root.at("arguments"), family.problem); });
  if (has_arguments) {
    errors.attempt([&] {
      family.check = parse_check(root.at("check"), family.problem, family.arguments);
      if (const auto* files = std::get_if<NpyReference>(&family.check.reference)) {
        family.problem.sizes.try_emplace("default", std::vector<space::Size>{files->size});
      }
      if (has_head) check_at_sizes(root, family);
    });
  }
  errors.attempt([&] { read_kernels(root.at("kernels"), source_of, has_arguments, family); });
  errors.throw_any();
  if (const auto* reference = std::get_if<KernelReference>(&family.check.reference)) {
    static_cast<void>(family.kernel(reference->kernel));  // throws when there is none
  }
  return family;
}

StoredFile parse_stored(const Json& json, std::string_view text, const std::string& origin,
                        std::string_view kernel) {
  const DocumentNode root(json, origin);
  expect_root_keys(root);
  StoredFile file{.family = parse_head(root, text, origin), .kernels = {}};
  Family& family = file.family;
  if (const auto arguments = root.find("arguments")) {
    family.arguments = parse_arguments(*arguments, family.problem);
  }
  family.check.reference = KernelReference{};  // no library's
  if (const auto check = root.find("check")) {
    family.check = parse_check(*check, family.problem, family.arguments);
  }
  const DocumentNode kernels = root.at("kernels");
  for (const auto& [name, node] : kernels.named_members()) file.kernels.push_back(name);
  family.kernels.push_back(parse_kernel(kernels.at(kernel), std::string(kernel), family));
  return file;
}

source::KernelSource read_source(const source::IncludeRoots& roots, const DocumentNode& node) {
  const fs::path& folder = roots.space_folder;
  const fs::path relative = node.text();
  if (relative.empty() || relative.is_absolute()) {
    node.fail(
        fmt::format("{} must be a path relative to the space file", in_quotes(relative.string())));
  }
  const fs::path path = (folder / relative).lexically_normal();
  if (!fs::is_regular_file(path))
    node.fail(fmt::format("there is no file {}", in_quotes(path.string())));
  const fs::path real = fs::canonical(path);
  if (!lies_below(real, folder) && !names_code(real)) {
    node.fail(
        fmt::format("{} is outside of the space file's folder and does not have the suffix of a "
                    "source (.cu, .cuh, .cpp, .h, …): move it into that folder",
                    in_quotes(real.string())));
  }
  return source::read_kernel_source(path, roots);
}

}  // namespace

Family load_family(const fs::path& path) {
  const std::string text = read_file(path, kSpaceFileLimitBytes);
  try {
    Family family = parse_document(
        text, path.string(), [](const Family& of, const std::string&, const DocumentNode& source) {
          return read_source(source::include_roots(of.path, of.include), source);
        });
    static_cast<void>(npy_files(family));  // they may be where no file of theirs may be
    return family;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    throw with_places(error, text, path.string());
  }
}

StoredFile read_stored_file(std::string_view text, const std::string& origin,
                            std::string_view kernel) {
  try {
    return parse_stored(parse_json(text, origin), text, origin, kernel);
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: is not a space file: {}: tune the kernel again", origin,
                            json_reason(exception.what())));
  } catch (const Error& error) {
    throw Error(ErrorCode::failure, fmt::format("{}: tune the kernel again", error.what()));
  }
}

Family parse_family(std::string_view text, std::string_view origin,
                    const std::map<std::string, source::KernelSource>& sources) {
  const auto source_of = [&](const Family&, const std::string& kernel, const DocumentNode& source) {
    static_cast<void>(source.text());  // it must have the right type even if it is not used
    const auto found = sources.find(kernel);
    if (found == sources.end()) source.fail(fmt::format("the source of '{}' is not given", kernel));
    return found->second;
  };
  return parse_document(text, origin, source_of);
}

}  // namespace tuner::family
