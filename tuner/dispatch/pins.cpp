// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/pins.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <optional>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kMostPinBytes = std::size_t{64} << 20;
constexpr const char* kPinFormat = "pins/1";

Json json_of(const std::string& family, const std::string& size, const Pin& pin) {
  Json json = {{"family", family}, {"size", size}, {"rung", std::string(name(pin.rung))}};
  if (!pin.kernel.empty()) {
    json.update({{"kernel", pin.kernel}, {"hash", pin.hash}, {"configuration", pin.configuration}});
  }
  if (!pin.library_algorithm.empty()) json["algorithm"] = pin.library_algorithm;
  return json;
}

Rung rung_of_name(const std::string& text) {
  using enum Rung;
  for (const Rung rung : {exact, stale, nearest, library_tuned, library, default_config}) {
    if (name(rung) == text) return rung;
  }
  throw DispatchError(fmt::format("'{}' is no rung", text));
}

Pin pin_in(const Json& json) {
  return {.rung = rung_of_name(json.at("rung").get<std::string>()),
          .kernel = json.value("kernel", ""),
          .hash = json.value("hash", ""),
          .configuration = json.value("configuration", ""),
          .library_algorithm = json.value("algorithm", "")};
}

select::Selection selection_of(const FamilyTable& family, const SizeSlot& slot, const Pin& pin) {
  select::Selection selection;
  selection.rung = pin.rung;
  selection.device = family.catalogue().device;
  selection.family = family.family().name;
  selection.size_text = slot.text;
  selection.size = slot.size;
  selection.config_json = pin.configuration;
  selection.library_algorithm = pin.library_algorithm;
  return selection;
}

}  // namespace

Pin pin_of(const select::Selection& selection) {
  if (selection.kernel == nullptr) {
    return {.rung = selection.rung, .library_algorithm = selection.library_algorithm};
  }
  return {.rung = selection.rung,
          .kernel = selection.kernel->kernel,
          .hash = selection.kernel->hash,
          .configuration = selection.config_json};
}

void Pins::read(const std::filesystem::path& file) {
  try {
    const Json json = parse_json(read_file(file, kMostPinBytes), file.string());
    if (json.at("format") != kPinFormat) throw DispatchError("its format is not pins/1");
    const std::array<std::pair<const char*, const std::string*>, 3> where = {
        {{"device", &device_.name},
         {"compiler", &environment_.compiler},
         {"library", &environment_.library}}};
    for (const auto& [key, in_use] : where) {
      if (json.at(key) == *in_use) continue;
      throw DispatchError(fmt::format("its {} is '{}', in use is '{}': results would differ", key,
                                      json.at(key).get<std::string>(), *in_use));
    }
    for (const Json& it : json.at("choices")) {
      add(it.at("family").get<std::string>(), it.at("size").get<std::string>(), pin_in(it));
    }
  } catch (const std::exception& error) {
    throw DispatchError(fmt::format(
        "{}: the pinned choices cannot be used: {}; write them again with Dispatcher::pin()",
        file.string(), error.what()));
  }
}

void Pins::write(const std::filesystem::path& file) const {
  std::string choices;
  for (const auto& [place, pin] : pins_) {
    choices +=
        (choices.empty() ? "\n    " : ",\n    ") + json_of(place.first, place.second, pin).dump();
  }
  write_file(file,
             fmt::format("{{\n  \"format\": \"{}\",\n  \"device\": {},\n  \"compiler\": {},\n"
                         "  \"library\": {},\n  \"choices\": [{}\n  ]\n}}\n",
                         kPinFormat, Json(device_.name).dump(), Json(environment_.compiler).dump(),
                         Json(environment_.library).dump(), choices));
}

const Pin* Pins::find(const std::string& family, const std::string& size) const {
  const auto found = pins_.find({family, size});
  return found == pins_.end() ? nullptr : &found->second;
}

Expected<PinnedAnswer, std::string> pinned_answer(const FamilyTable& family, const SizeSlot& slot,
                                                  const Pin& pin) {
  if (pin.kernel.empty()) return PinnedAnswer{&family, selection_of(family, slot, pin)};
  std::string found;
  for (const FamilyTable* const table : std::array{&family, family.shipped()}) {
    if (table == nullptr) continue;
    for (const select::CatalogueKernel& kernel : table->catalogue().kernels) {
      if (kernel.record->family != family.family().name || kernel.record->kernel != pin.kernel) {
        continue;
      }
      found = kernel.record->hash;
      if (found != pin.hash) continue;
      select::Selection selection = selection_of(*table, slot, pin);
      selection.kernel = kernel.record;
      selection.stored = kernel.stored;
      return PinnedAnswer{table, std::move(selection)};
    }
  }
  if (found.empty()) return Unexpected(fmt::format("the table has no kernel {}", pin.kernel));
  return Unexpected(
      fmt::format("the code of {} has changed: its hash was {}, in the table it is {}", pin.kernel,
                  pin.hash, found));
}

}  // namespace tuner::dispatch
