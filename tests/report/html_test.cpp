// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.hpp"

#include "tuner/report/table.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace tuner::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EscapeHtml, LeavesNothingThatEndsTextOrAnAttribute) {
  EXPECT_EQ(escape_html(R"(a<b> & "c" 'd')"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
}

TEST(ScriptSafeJson, CannotEndTheScriptAndReadsBackTheSame) {
  const Json document = {{"name", "</script><!--"}};
  const std::string text = script_safe_json(document);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(Json::parse(text), document);
}

TEST(ScriptSafeJson, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(Json::parse(script_safe_json(Json("a\xff"))).get<std::string>(), "a\uFFFD");
}

TEST(FillSlots, DoesNotFillTheValues) {
  EXPECT_EQ(fill_slots("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "2"}}), "<{{b}}|2>");
  EXPECT_THROW(fill_slots("{{missing}}", {}), std::out_of_range);
}

TEST(Rounded, KeepsSixDigits) {
  EXPECT_DOUBLE_EQ(rounded(5'481'234.5), 5'481'230);
  EXPECT_DOUBLE_EQ(rounded(0.491234567), 0.491235);
  EXPECT_DOUBLE_EQ(rounded(0), 0);
}

}  // namespace
}  // namespace tuner::report
