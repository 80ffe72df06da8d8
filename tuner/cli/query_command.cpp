// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/record_json.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/report/snippet.hpp"
#include "tuner/select/ranked_kernel.hpp"
#include "tuner/select/select.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <ranges>

namespace tuner::cli {
namespace {

select::Question question(const QueryOptions& options) {
  select::Question asked;
  if (options.kernel.empty() && options.family.empty()) {
    throw Error(ErrorCode::usage,
                "which kernel? Name one with --kernel, or a family with --family");
  }
  require_word("--policy", options.policy, std::vector<std::string>{"exact", "nearest"});
  asked.policy = options.policy == "exact" ? select::Policy::exact : select::Policy::nearest;
  if (!options.device.empty()) asked.device = options.device;
  if (!options.kernel.empty()) asked.kernel = options.kernel;
  if (!options.family.empty()) asked.family = options.family;
  asked.size = space::normalised_size(options.size);
  return asked;
}

/// A list or an object; the text itself if it names a dimension and the others are unknown.
Json asked_size(const select::Selection& selection) {
  if (selection.stored) return space::size_json(selection.size, selection.stored->dims());
  if (selection.size_text.find('=') != std::string::npos) return selection.size_text;
  return parse_json(fmt::format("[{}]", selection.size_text), "a stored size");
}

std::string asked_size_text(const select::Selection& selection) {
  return selection.stored ? space::display(selection.size, selection.stored->dims())
                          : selection.size_text;
}

/// Why the kernel runs only where it is named; empty as for any other, or without its space file.
std::string unproven(const select::Selection& selection) {
  return selection.stored ? selection.stored->kernel().unproven : "";
}

Json json_document(const select::Selection& selection) {
  Json document = {{"schema", "tune.query/1"},
                   {"rung", std::string(name(selection.rung))},
                   {"device", selection.device.name},
                   {"family", selection.kernel->family},
                   {"kernel", selection.kernel->kernel},
                   {"kernel_hash", selection.kernel->hash},
                   {"unproven", unproven(selection)},
                   {"size", asked_size(selection)},
                   {"config", parse_json(selection.config_json, "a stored configuration")},
                   {"expected_ns", number_or_null(selection.expected_ns)},
                   {"library_is_first", selection.library_is_first},
                   {"distance", selection.distance}};
  if (selection.entry) {
    document["tuned"] = best_json(selection.entry->best);
    document["tuned"]["size"] = selection.entry->best.problem;
  }
  document["explanation"] = selection.explanation;
  return document;
}

std::string ratio_text(const store::BestRecord& best) {
  std::string text;
  if (best.ratio_to_library) {
    text += fmt::format("{} of {}", format_ratio(best.ratio_to_library), best.library_name);
    if (best.ratio_to_library_low && best.ratio_to_library_high) {
      text += fmt::format(" (95 %: {}–{})", format_ratio(best.ratio_to_library_low),
                          format_ratio(best.ratio_to_library_high));
    }
  }
  if (const auto gain = store::cold_gain(best)) {
    text += fmt::format("{}{} of the default configuration{}", text.empty() ? "" : ", ",
                        format_ratio(gain), store::is_back_to_back(best) ? " (cold)" : "");
  }
  return text.empty() ? "not compared" : text;
}

/// An imported result names its kernel without the files that code can be made of.
bool has_files(const store::KernelRecord& kernel) {
  return !kernel.space_text.empty();
}

[[noreturn]] void fail_without_files(const select::Selection& selection,
                                     const std::string& format) {
  throw Error(ErrorCode::nothing_found,
              fmt::format("--format {}: {} was imported without its sources: use --format table or "
                          "json, or tune it here",
                          format, selection.kernel->kernel));
}

[[noreturn]] void fail_without_cuda(const select::Selection& selection) {
  throw Error(ErrorCode::nothing_found,
              fmt::format("--format cpp: {} runs only on the cpu backend, so it has no CUDA launch "
                          "code: use --format table, args or json",
                          selection.kernel->kernel));
}

bool is_of_the_size(const select::Selection& selection) {
  return selection.rung == Rung::exact || selection.rung == Rung::stale;
}

/// What code that nothing confirmed at the asked size says of itself; empty where something did.
std::string reservation(const select::Selection& selection) {
  if (is_of_the_size(selection)) return "";
  return fmt::format("// not tuned at this size: {}\n",
                     selection.entry ? "taken from " + shown_size(selection.entry->best.problem)
                     : selection.rung == Rung::default_config ? "the default"
                                                              : "chosen by the cost model");
}

/// What to copy: the configuration of a processor, whose times say nothing of a GPU; launch code.
std::string launch_code(const select::Selection& selection) {
  const bool is_host = space::runs_on_host(selection.device.backend);
  if (is_host || !has_files(*selection.kernel)) return selection.config_json + "\n";
  const report::Snippet snippet(*selection.kernel, selection.device, selection.config_json,
                                selection.size);
  return snippet.is_cuda() ? reservation(selection) + snippet.cpp() : selection.config_json + "\n";
}

/// Whether the kernel was timed at the asked size, on this device, without a final round.
bool awaits_final_round(const store::Store& store, const select::Selection& selection) {
  if (is_of_the_size(selection) || !selection.kernel) return false;
  return std::ranges::any_of(store.runs(), [&](const store::RunRecord& run) {
    if (run.kernel_hash != selection.kernel->hash || run.device != selection.device.name ||
        std::ranges::count(run.problems, selection.size_text) == 0) {
      return false;
    }
    return std::ranges::any_of(store.trials(run.id), [&](const store::StoredTrial& it) {
      return it.trial.problem == selection.size_text && it.trial.time;
    });
  });
}

constexpr std::string_view kAwaits =
    "this size has screening times only, which are no result: `tune finalize`, or the command that "
    "was interrupted, confirms one";

std::string cold_text(const TimeSummary& time) {
  std::string text = quantity::time(time.median_ns);
  if (time.samples == 0) return text;  // of a dispatch table, which has medians only
  return text + fmt::format(" (quartiles {} to {}, {} samples)", quantity::time(time.q1_ns),
                            quantity::time(time.q3_ns), time.samples);
}

std::string back_to_back_text(const store::BestRecord& best) {
  std::string text = quantity::time(store::ranking_ns(best));
  if (!store::regimes_differ(best.rested_ns, best.sustained_ns)) return text;
  return text + fmt::format(", {} after a pause", quantity::time(*best.rested_ns));
}

/// What was measured: at the asked size or, as the labels say, at the one it was taken from. The
/// ranking time first, above what is made of it.
void add_measurement(Table& table, const store::BestRecord& best, std::string_view where) {
  const auto label = [&](std::string_view what) { return fmt::format("{}{}", what, where); };
  const bool is_back_to_back = store::is_back_to_back(best);
  if (is_back_to_back) table.add({label("back to back"), back_to_back_text(best)});
  if (!is_back_to_back) table.add({label("cold"), cold_text(best.time)});
  table.add({label("rate"), format_rate(best.flops, best.bytes, store::ranking_ns(best))});
  table.add({label("speed"), ratio_text(best)});
  if (best.ratio_to_library_tuned) {
    table.add({label("library, tuned"),
               fmt::format("{} of the fastest algorithm of {}",
                           format_ratio(best.ratio_to_library_tuned), best.library_name)});
  }
  if (is_back_to_back) table.add({label("cold"), cold_text(best.time)});
  if (best.joules) table.add({label("energy"), format_energy(best.flops, *best.joules)});
  if (best.ties > 0) {
    const auto others = quantity::count(static_cast<std::uint64_t>(best.ties), "other finalist");
    table.add({label("ties"), others + " not shown to be over 1 % slower"});
  }
}

/// The time that the cost model expects at the asked size, and the rate of its work in that time.
std::string expectation(const select::Selection& selection) {
  if (!selection.expected_ns) return "not known: too few results for a cost model";
  std::string text = quantity::time(*selection.expected_ns);
  if (!selection.stored) return text;
  const space::BoundDefinition at_size =
      selection.stored->at(selection.device.attributes, selection.size);
  const auto values = at_size.expression_values(at_size.default_config());
  const auto amount = [&](const space::Expression& work) {
    const auto value = work.evaluate(values);
    return value ? static_cast<double>(*value) : 0.0;
  };
  const double flops = amount(selection.stored->flops()), bytes = amount(selection.stored->bytes());
  if (flops > 0 || bytes > 0) text += ", " + format_rate(flops, bytes, *selection.expected_ns);
  return text + " (cost model)";
}

void print_table(const select::Selection& selection, const Output& output) {
  output.tell("{}\n",
              printable_name(fmt::format("{} at {} on {}", selection.kernel->kernel,
                                         asked_size_text(selection), selection.device.name)));
  const bool is_nearest = selection.rung == Rung::nearest;
  Table table({{"answer"}, {std::string(name(selection.rung))}});
  if (is_nearest) table.add({"expected", expectation(selection)});
  if (selection.library_is_first) {
    table.add({"library", "the dispatcher calls it at this size: --explain says why"});
  }
  if (selection.entry) {
    const store::BestRecord& best = selection.entry->best;
    if (is_nearest) table.add({"taken from", shown_size(best.problem)});
    add_measurement(table, best, is_nearest ? " there" : "");
    table.add({"recorded",
               fmt::format("{}, {}, {}", best.recorded_at, selection.entry->environment.compiler,
                           selection.entry->environment.library)});
    if (best.shared) {
      table.add({"warning", "measured while other processes used the device"});
    }
    if (!best.verified) {
      table.add({"warning",
                 fmt::format("imported from {}, not yet verified on this machine", best.origin)});
    }
  }
  if (const std::string why = unproven(selection); !why.empty()) table.add({"warning", why});
  for (const std::string& reason : selection.explanation) {
    if (reason.find(select::kChangedSince) == std::string::npos) continue;
    table.add({"warning", reason.substr(reason.find(' ') + 1)});  // without "kernel:"
  }
  if (std::ranges::count(selection.explanation, kAwaits) > 0) {
    table.add({"warning", std::string(kAwaits)});
  }
  output.table(table);
  output.print("\n{}", printable(launch_code(selection)));
  if (selection.entry && space::runs_on_host(selection.device.backend)) {
    output.tell("timed on a CPU: tune on the GPU before you use it there\n");
  }
}

/// What the table that is shipped for a device says, and the table; none where it says nothing.
struct ShippedAnswer {
  select::Catalogue known;
  select::Selection selection;
};

std::optional<ShippedAnswer> shipped_answer(const std::string& device,
                                            const select::Question& asked) {
  auto shipped = select::shipped_catalogue(device);
  if (!shipped) return std::nullopt;
  try {
    select::Selection selection = select::select_configuration(*shipped, asked);
    return ShippedAnswer{*std::move(shipped), std::move(selection)};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return std::nullopt;
  }
}

/// Where no database answers: of the table that is shipped for the device. `why`: the database did
/// not.
select::Selection answer_of_table(const select::Question& asked, const Error& why) {
  if (asked.device) {
    if (const auto table = select::shipped_catalogue(*asked.device)) {
      return select::select_configuration(*table, asked);
    }
  }
  const std::vector<std::string> devices = select::shipped_devices();
  if (devices.empty()) throw why;
  throw Error(why.code(), fmt::format("{}\n  installed tables: --device {}", why.what(),
                                      fmt::join(devices | std::views::transform([](const auto& it) {
                                                  return fmt::format("\"{}\"", it);
                                                }),
                                                " or --device ")));
}

/// Of the database where it has the very size, then of the table that is shipped for the device
/// where that has it; else of what knows more.
select::Selection answer(const CommonOptions& common, const select::Question& asked) {
  try {
    const store::Store store = open_database(common, store::Store::Mode::read_only);
    const select::Catalogue known = select::asked_catalogue(store, asked);
    select::Selection own = select::select_configuration(known, asked);
    if (is_of_the_size(own)) return own;
    if (awaits_final_round(store, own)) own.explanation.emplace_back(kAwaits);
    auto shipped = shipped_answer(own.device.name, asked);
    if (!shipped) return own;
    const bool answers =
        is_of_the_size(shipped->selection) ||
        select::shipped_knows_more(shipped->known, known, own.family, asked.kernel);
    return answers ? std::move(shipped->selection) : own;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return answer_of_table(asked, error);
  }
}

}  // namespace

int query(const CommonOptions& common, const QueryOptions& options) {
  const std::string format = common.json ? "json" : options.format;
  require_word("--format", format, std::vector<std::string>{"table", "json", "args", "cpp"});
  if (options.size.empty()) return list_tuned(common, options);
  const select::Question asked = question(options);
  const select::Selection selection = answer(common, asked);
  if (format == "json") {
    fmt::print("{}", json_text(json_document(selection)));
    return 0;
  }
  const Output output(common);
  if (format == "table") {
    print_table(selection, output);
  } else if (!has_files(*selection.kernel)) {
    fail_without_files(selection, format);
  } else {
    const report::Snippet snippet(*selection.kernel, selection.device, selection.config_json,
                                  selection.size);
    if (format == "cpp" && !snippet.is_cuda()) fail_without_cuda(selection);
    fmt::print("{}", printable(format == "cpp" ? reservation(selection) + snippet.cpp()
                                               : snippet.compiler_arguments() + "\n"));
  }
  if (options.explain) {
    std::string reasons = "reasons:\n";
    for (const std::string& line : selection.explanation) {
      reasons += fmt::format("  - {}\n", printable(line));
    }
    // Beside code and compiler options on stdout.
    if (format != "table") {
      tell(reasons);
    } else {
      output.print("\n");
      output.tell("{}", reasons);
    }
  }
  return 0;
}

}  // namespace tuner::cli
