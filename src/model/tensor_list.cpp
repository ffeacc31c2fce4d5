#include "model/tensor_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/error.hpp"

namespace brisk::model {

namespace {

// Left by converters, computed from the hyper-parameters instead.
constexpr std::array<std::string_view, 4> kPassedOver = {"rope_freqs.weight", "attn_rot_embd.weight",
                                                         "rotary_emb.inv_freq", "attn.masked_bias"};
// Types of indices, of activations and of exports; no product reads them as weights.
constexpr std::array kNeverWeights = {DType::i8,  DType::i16,  DType::i32, DType::i64,
                                      DType::f64, DType::q8_1, DType::q8_k};
// A list longer than this says no more: an interrupted download lacks hundreds.
constexpr size_t kMaxListed = 12;

bool exists(Where where, const HyperParams& hp) {
  switch (where) {
    case Where::any:
      return true;
    case Where::dense:
      return hp.moe.n_expert == 0;
    case Where::moe:
      return hp.moe.n_expert > 0;
    case Where::shared_expert:
      return hp.moe.n_ff_shared > 0;
  }
  return false;
}

std::string joined(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxListed);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

class Matcher {
 public:
  Matcher(const Architecture& architecture, const HyperParams& hp, const gguf::Model& file)
      : architecture_(architecture), hp_(hp), file_(file) {}

  std::vector<FoundTensor> run() {
    match_scope(-1);
    for (int32_t il = 0; il < hp_.n_layer(); ++il) match_scope(il);
    for (const gguf::TensorInfo& info : file_.tensors()) {
      if (!used_.contains(info.name) && !passed_over(info.name)) superfluous_.push_back(info.name);
    }
    report();
    return std::move(found_);
  }

 private:
  void match_scope(int32_t il) {
    for (const std::span<const TensorDecl> group : architecture_.tensors) {
      for (const TensorDecl& decl : group) {
        const bool of_layer = std::holds_alternative<Weight LayerWeights::*>(decl.field);
        if (of_layer == (il >= 0) && exists(decl.where, hp_)) match(decl, il);
      }
    }
  }

  void match(const TensorDecl& decl, int32_t il) {
    const std::string name = il < 0 ? std::string(decl.name) : fmt::format("blk.{}.{}", il, decl.name);
    const gguf::TensorInfo* info = file_.find_tensor(name);
    if (info == nullptr) {
      if (is_required(decl, il)) missing_.push_back(name);
      return;
    }
    used_.insert(name);
    const LayerParams& layer = hp_.layer(std::max(il, 0));
    Shape want;
    for (size_t i = 0; i < decl.shape.size(); ++i) want.dim[i] = length_of(decl.shape[i], hp_, layer);
    const Shape have(info->shape[0], info->shape[1], info->shape[2], info->shape[3]);
    if (std::ranges::find(kNeverWeights, info->dtype) != kNeverWeights.end()) {
      mistyped_.push_back(fmt::format("{} {}", name, traits(info->dtype).name));
    }
    if (have != want) misshapen_.push_back(fmt::format("{} {} (expected {})", name, to_string(have), to_string(want)));
    found_.push_back({info, &decl, il});
  }

  [[nodiscard]] bool is_required(const TensorDecl& decl, int32_t il) const {
    if (decl.need == Need::required) return true;
    if (decl.need == Need::optional) return false;
    return file_.find_tensor(fmt::format("blk.{}.attn_qkv.weight", il)) == nullptr;
  }

  static bool passed_over(std::string_view name) {
    return std::ranges::any_of(kPassedOver, [&](std::string_view end) { return name.ends_with(end); });
  }

  void report() const {
    if (missing_.empty() && superfluous_.empty() && misshapen_.empty() && mistyped_.empty()) return;
    std::string text =
        fmt::format("{}: expected {} tensors for architecture '{}', got {}", file_.metadata().file_name(),
                    found_.size() + missing_.size(), architecture_.name, file_.tensors().size());
    if (!missing_.empty()) text += "; missing: " + joined(missing_);
    if (!misshapen_.empty()) text += "; of another shape: " + joined(misshapen_);
    if (!mistyped_.empty()) text += "; of a type that is none of weights: " + joined(mistyped_);
    if (!superfluous_.empty()) text += "; unknown: " + joined(superfluous_);
    if (!missing_.empty()) text += "; the file is incomplete, fetch or convert it again";
    throw Error(ErrorCode::corrupt, text);
  }

  const Architecture& architecture_;
  const HyperParams& hp_;
  const gguf::Model& file_;
  std::vector<FoundTensor> found_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> missing_, superfluous_, misshapen_, mistyped_;
};

}  // namespace

std::vector<FoundTensor> match_tensors(const Architecture& architecture, const HyperParams& hp,
                                       const gguf::Model& file) {
  return Matcher(architecture, hp, file).run();
}

}  // namespace brisk::model
