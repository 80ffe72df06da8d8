// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/safetensors.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <optional>

namespace tuner::verify {
namespace {

constexpr std::size_t kLengthBytes = 8;

std::optional<ElementType> type_named(std::string_view name) {
  const auto found = std::ranges::find(kElementTypes, name, safetensors_name);
  return found == kElementTypes.end() ? std::nullopt : std::optional(*found);
}

/// Reads one array of the header; throws std::exception where a member is missing or has another
/// type, and Error for what does not fit.
NamedArray read_array(const std::string& name, const Json& entry, std::string_view data) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("the array {} {}", in_quotes(name), why));
  };
  const auto name_of_type = entry.at("dtype").get<std::string>();
  const auto type = type_named(name_of_type);
  if (!type) fail(fmt::format("has elements of type {}, which no kernel has", name_of_type));
  std::uint64_t count = 1;
  const auto shape = entry.at("shape").get<std::vector<std::uint64_t>>();
  for (const std::uint64_t extent : shape) {
    if (extent > 0 && count > data.size() / extent) fail("is larger than the file");
    count *= extent;
  }
  const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      offsets[1] - offsets[0] != bytes_of(*type, static_cast<std::int64_t>(count))) {
    fail("does not lie in the file as its shape says");
  }
  NamedArray array{.name = name,
                   .type = safetensors_name(*type),
                   .count = static_cast<std::int64_t>(count),
                   .is_scalar = shape.empty(),
                   .bytes = std::vector<std::byte>(offsets[1] - offsets[0])};
  if (!array.bytes.empty()) {
    std::memcpy(array.bytes.data(), data.data() + offsets[0], array.bytes.size());
  }
  return array;
}

}  // namespace

std::string safetensors_name(ElementType type) {
  const ElementTypeRow& its = row(type);
  if (its.kind == NumberKind::signed_integer) return fmt::format("I{}", its.bits);
  if (its.kind == NumberKind::unsigned_integer) return fmt::format("U{}", its.bits);
  constexpr int kExponentOfHalf = 5;
  const bool is_half = its.bits == 16 && its.format.exponent_bits == kExponentOfHalf;
  if (its.bits > 16 || is_half) return fmt::format("F{}", its.bits);
  std::string name(its.short_name);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return its.bits < 16 ? fmt::format("F{}_{}", its.bits, name) : name;
}

const NamedArray* Safetensors::find(std::string_view name) const {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::size_t end = 0;
  for (const NamedArray& array : content.arrays) {
    const std::size_t begin = end;
    end += array.bytes.size();
    header[array.name] = {{"dtype", array.type},
                          {"shape", array.is_scalar ? Json::array() : Json::array({array.count})},
                          {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // aligned data
  const std::uint64_t length = text.size();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const NamedArray& array : content.arrays) {
    file.write(reinterpret_cast<const char*>(array.bytes.data()),
               static_cast<std::streamsize>(array.bytes.size()));
  }
  file.close();
  if (file) return;
  throw Error(ErrorCode::failure,
              fmt::format("{}: {} bytes of arrays cannot be written: is the disk full?",
                          path.string(), end));
}

Safetensors parse_safetensors(std::string_view file, std::string_view origin) {
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorCode::usage, fmt::format("{}: is no safetensors file: {}", origin, why));
  };
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) fail("it is shorter than 8 bytes");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > file.size() - kLengthBytes) fail("its header is longer than the file");
  const std::string_view text = file.substr(kLengthBytes, length);
  const std::string_view data = file.substr(kLengthBytes + length);
  const Json header = parse_json(text, origin);
  if (!header.is_object()) fail("its header is no object");
  Safetensors content;
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        content.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        content.arrays.push_back(read_array(name, entry, data));
      }
    }
  } catch (const Json::exception& error) {
    fail(error.what());
  } catch (const Error& error) {
    fail(error.what());
  }
  return content;
}

Safetensors read_safetensors(const std::filesystem::path& path, std::size_t limit_bytes) {
  return parse_safetensors(read_file(path, limit_bytes), path.string());
}

}  // namespace tuner::verify
