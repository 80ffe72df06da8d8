// SPDX-License-Identifier: Apache-2.0
// What most sources of tuner/ include of others' headers, read by the compiler once. A source still
// includes what it uses: a build with TUNER_PRECOMPILE=OFF finds what is missing.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
