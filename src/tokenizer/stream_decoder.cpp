#include "tokenizer/stream_decoder.hpp"

#include <utility>

#include "base/utf8.hpp"

namespace brisk::tokenizer {

std::string StreamDecoder::push(int32_t id) {
  pending_.append(tokenizer_->piece(id, special_));
  const size_t complete = utf8::complete_prefix(pending_);
  std::string out = pending_.substr(0, complete);
  pending_.erase(0, complete);
  return out;
}

std::string StreamDecoder::flush() { return std::exchange(pending_, {}); }

}  // namespace brisk::tokenizer
