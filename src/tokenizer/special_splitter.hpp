#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/fragment.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::tokenizer {

/// Cuts special tokens out of a text. The rule is that of the field: longer tokens first over the whole text (ids
/// ascending among equals), each from left to right, whatever starts further left. Time is linear in the text times the
/// longest special token at worst, however many special tokens there are. Immutable, thread-safe.
class SpecialSplitter {
 public:
  explicit SpecialSplitter(const Vocab& vocab);

  /// `parse_special` false leaves control and unknown tokens in the text; user-defined ones are always cut out.
  [[nodiscard]] std::vector<Fragment> split(std::string_view text, bool parse_special) const;

 private:
  struct Node {
    int32_t token = kNoToken;  ///< that ends here
    uint32_t first_child = 0;  ///< children are adjacent in nodes_; 0: none
    uint16_t n_children = 0;
    uint8_t byte = 0;
    bool always = false;  ///< the token is cut out without parse_special too
  };
  struct Candidate;
  struct Cut {
    uint32_t begin, end;  ///< of the token
    int32_t token;
  };
  class Search;

  void build(std::vector<int32_t> tokens);
  [[nodiscard]] const Node* child(const Node& node, uint8_t byte) const noexcept;

  const Vocab& vocab_;
  std::vector<Node> nodes_;
  uint32_t roots_[256] = {};
  bool starts_[2][256] = {};  ///< [parse_special][byte]: some token begins so
  uint32_t longest_ = 0;
};

}  // namespace brisk::tokenizer
