#include "naive.hpp"

#include <algorithm>
#include <optional>

#include "base/utf8.hpp"

namespace brisk::test {

using tokenizer::Fragment;
using tokenizer::kNoToken;
using tokenizer::Vocab;
namespace attribute = tokenizer::attribute;

namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void cut_out(const Vocab& vocab, int32_t token, std::vector<Fragment>& fragments) {
  const std::string_view wanted = vocab.text(token);
  std::vector<Fragment> out;
  for (const Fragment& fragment : fragments) {
    if (fragment.token != kNoToken) {
      out.push_back(fragment);
      continue;
    }
    std::string_view rest = fragment.text;
    for (size_t at = 0; (at = rest.find(wanted)) != std::string_view::npos;) {
      std::string_view left = rest.substr(0, at);
      rest.remove_prefix(at + wanted.size());
      while (vocab.has(token, attribute::lstrip) && !left.empty() && is_blank(left.back())) left.remove_suffix(1);
      while (vocab.has(token, attribute::rstrip) && !rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
      if (!left.empty()) out.push_back({kNoToken, left});
      out.push_back({token, {}});
    }
    if (!rest.empty()) out.push_back({kNoToken, rest});
  }
  fragments.swap(out);
}

}  // namespace

std::vector<Fragment> split_specials_naively(const Vocab& vocab, std::string_view text, bool parse_special) {
  std::vector<int32_t> specials;
  for (int32_t id = 0; id < vocab.n_tokens(); ++id) {
    const bool hidden = vocab.has(id, attribute::control | attribute::unknown);
    if (hidden ? parse_special : vocab.has(id, attribute::user_defined)) specials.push_back(id);
  }
  std::stable_sort(specials.begin(), specials.end(),
                   [&](int32_t a, int32_t b) { return vocab.text(a).size() > vocab.text(b).size(); });
  std::vector<Fragment> fragments;
  if (!text.empty()) fragments.push_back({kNoToken, text});
  for (const int32_t id : specials) cut_out(vocab, id, fragments);
  return fragments;
}

std::vector<std::string> merge_by_score_naively(const Vocab& vocab, std::string_view text) {
  std::vector<std::string> symbols;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8::decode(text, i).length;
    symbols.emplace_back(text.substr(i, length));
    i += length;
  }
  for (;;) {
    std::optional<size_t> best;
    float best_score = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto id = vocab.find(symbols[i] + symbols[i + 1]);
      if (!id || (best && vocab.score(*id) <= best_score)) continue;
      best = i;
      best_score = vocab.score(*id);
    }
    if (!best) return symbols;
    symbols[*best] += symbols[*best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(*best) + 1);
  }
}

}  // namespace brisk::test
