// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/recorded_calls.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace tuner::family {
namespace {

constexpr const char* kCallsFormat = "calls/1";

auto identity_of(const RecordedProduct& it) {
  return std::tie(it.function, it.type, it.m, it.n, it.k, it.batch, it.trans_a, it.trans_b, it.lda,
                  it.ldb, it.ldc, it.align, it.epilogue, it.objection);
}

/// Every field of a product under its name, for reading and writing.
template <class Product, class Visit>
void for_each_field(Product& it, const Visit& visit) {
  visit("function", it.function);
  visit("type", it.type);
  visit("m", it.m);
  visit("n", it.n);
  visit("k", it.k);
  visit("batch", it.batch);
  visit("trans_a", it.trans_a);
  visit("trans_b", it.trans_b);
  visit("lda", it.lda);
  visit("ldb", it.ldb);
  visit("ldc", it.ldc);
  visit("align", it.align);
  visit("epilogue", it.epilogue);
  visit("bias", it.bias);
  visit("activation", it.activation);
  visit("objection", it.objection);
  visit("count", it.count);
  visit("captured", it.captured);
  visit("timed", it.timed);
  visit("timed_ns", it.timed_ns);
}

}  // namespace

std::string recorded_calls_json(const RecordedCalls& calls) {
  Json products = Json::array();
  for (const RecordedProduct& product : calls.products) {
    Json json = Json::object();
    for_each_field(product, [&](const char* name, const auto& value) { json[name] = value; });
    products.push_back(std::move(json));
  }
  return Json({{"format", kCallsFormat}, {"device", calls.device}, {"products", products}}).dump();
}

RecordedCalls parse_recorded_calls(std::string_view text, std::string_view origin) {
  const Json json = parse_json(text, origin);
  try {
    if (json.at("format") != kCallsFormat) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: is not of format \"{}\"", origin, kCallsFormat));
    }
    RecordedCalls calls{.device = json.at("device"), .products = {}};
    for (const Json& product : json.at("products")) {
      RecordedProduct& read = calls.products.emplace_back();
      for_each_field(read, [&](const char* name, auto& value) { product.at(name).get_to(value); });
    }
    return calls;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", origin, error.what()));
  }
}

void add_calls(RecordedCalls& calls, const RecordedCalls& others) {
  if (calls.device.empty()) calls.device = others.device;
  for (const RecordedProduct& other : others.products) {
    const auto same = std::ranges::find_if(calls.products, [&](const RecordedProduct& it) {
      return identity_of(it) == identity_of(other);
    });
    if (same == calls.products.end()) {
      calls.products.push_back(other);
      continue;
    }
    same->count += other.count;
    same->captured += other.captured;
    same->timed += other.timed;
    same->timed_ns += other.timed_ns;
  }
}

}  // namespace tuner::family
