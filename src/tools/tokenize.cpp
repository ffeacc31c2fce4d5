#include "tools/tokenize.hpp"

#include <fmt/format.h>

#include <iterator>

namespace brisk::tools {

void tokenize(const tokenizer::Tokenizer& tokenizer, std::string_view text, const TokenizeOptions& options,
              std::string& out) {
  tokenizer::EncodeOptions encode;
  encode.add_special = options.add_bos && tokenizer.vocab().add_bos();
  encode.parse_special = options.parse_special;
  const std::vector<int32_t> ids = tokenizer.encode(text, encode);
  auto sink = std::back_inserter(out);
  if (options.ids_only) {
    fmt::format_to(sink, "[{}]\n", fmt::join(ids, ", "));
  } else {
    for (const int32_t id : ids) fmt::format_to(sink, "{:6} -> '{}'\n", id, tokenizer.piece(id, true));
  }
  if (options.show_count) fmt::format_to(sink, "Total number of tokens: {}\n", ids.size());
}

}  // namespace brisk::tools
