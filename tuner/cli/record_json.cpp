// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/record_json.hpp"

#include "tuner/cli/format.hpp"

namespace tuner::cli {
namespace {

Json config_json(const std::string& text) {
  return text.empty() ? Json() : parse_json(text, "a stored configuration");
}

}  // namespace

Json best_json(const store::BestRecord& best) {
  Json json = {{"config", config_json(best.config_json)}};
  add_fields(json, best);
  if (best.time.samples == 0) {  // of a dispatch table, which has medians only
    for (const char* const key : {"q1_ns", "q3_ns", "min_ns", "samples"}) json.erase(key);
  }
  json["ratio_to_default"] = number_or_null(store::cold_gain(best));
  add_fields<store::BestContext>(json, best);
  json["gflops_per_watt"] = number_or_null(gflops_per_watt(best.flops, best.joules));
  return json;
}

Json finalist_json(const store::FinalistRecord& finalist) {
  Json json = {{"config", config_json(finalist.config_json)}};
  add_fields(json, finalist);
  json["rounds"] = finalist.time.samples;
  json.erase("samples");
  json["energy"] = Json();
  if (finalist.energy) add_fields(json["energy"], *finalist.energy);
  return json;
}

}  // namespace tuner::cli
