#include "base/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brisk {
namespace {

TEST(Error, CarriesCodeAndFormattedMessage) {
  try {
    fail(ErrorCode::corrupt, "{}: ends at byte {}", "m.gguf", 512);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::corrupt));
    EXPECT_STREQ(error.what(), "m.gguf: ends at byte 512");
  }
}

TEST(Error, BrokenInvariantsAreInternalErrorsWithPlaceAndReason) {
  const auto broken = [](int n) { BRISK_CHECK(n < 3, "there are three"); };
  broken(2);
  try {
    broken(3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::internal));
    const std::string message = error.what();
    EXPECT_NE(message.find("error_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("there are three (n < 3)"), std::string::npos) << message;
    EXPECT_EQ(message.find("/"), std::string::npos) << "no folder names: " << message;
  }
}

}  // namespace
}  // namespace brisk
