// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/frame.hpp"

#include "tuner/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::worker {
namespace {

TEST(Frame, ComesBackWhateverThePiecesItArrivesIn) {
  const std::string first(1000, 'a'), second;
  const std::string bytes = frame(first) + frame(second) + frame("third");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    FrameReader reader;
    std::vector<std::string> payloads;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      while (auto payload = reader.next()) payloads.push_back(*payload);
    }
    EXPECT_EQ(payloads, (std::vector{first, second, std::string("third")})) << piece;
  }
}

TEST(Frame, RefusesWhatIsNoFrame) {
  FrameReader reader;
  reader.append(std::string_view("tuna"));
  EXPECT_THROW(static_cast<void>(reader.next()), Error);
}

TEST(Frame, RefusesALengthBeyondTheLimitBeforeAnythingOfItArrives) {
  FrameReader reader;
  reader.append(std::string_view("tune\x01\x00\x00\x04", 8));  // 64 MiB + 1
  EXPECT_THROW(static_cast<void>(reader.next()), Error);
}

}  // namespace
}  // namespace tuner::worker
