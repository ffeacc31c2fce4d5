#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/reader.hpp"
#include "test_support/gguf_builder.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk::test {

/// The message of opening `path`, which must fail; also with plain reading instead of mapping, and equally.
inline std::string open_error(const std::filesystem::path& path, ErrorCode code) {
  std::string messages[2];
  for (const auto mode : {FileBytes::Mode::map, FileBytes::Mode::read}) {
    try {
      gguf::Model::open(path, {.mode = mode});
      ADD_FAILURE() << path << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
      messages[mode == FileBytes::Mode::map ? 0 : 1] = error.what();
    }
  }
  EXPECT_EQ(messages[0], messages[1]);
  return messages[0];
}

/// Opening a file of these bytes fails with a message that names the file and holds all `parts`.
inline void expect_refused(std::string_view bytes, const std::vector<std::string>& parts,
                           ErrorCode code = ErrorCode::corrupt) {
  const TempDir dir;
  const std::string message = open_error(dir.write("m.gguf", bytes), code);
  EXPECT_NE(message.find("m.gguf: "), std::string::npos) << message;
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " not in: " << message;
}

inline void expect_refused(const GgufBuilder& file, const std::vector<std::string>& parts,
                           ErrorCode code = ErrorCode::corrupt) {
  expect_refused(file.build(), parts, code);
}

}  // namespace brisk::test
