// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tuner::report {

/// The document in a page, as the page's script reads it.
inline Json data_of_page(const std::string& page) {
  constexpr std::string_view kOpen = R"(<script type="application/json" id="report">)";
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace tuner::report
