#include "model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "model/arch/arch.hpp"
#include "model/tensor_list.hpp"
#include "quant/codec.hpp"

namespace brisk::model {

namespace {

const Architecture& architecture_of(const gguf::Metadata& metadata) {
  const auto name = metadata.get_string("general.architecture");
  if (!name) fail(ErrorCode::corrupt, "{}: key 'general.architecture' is missing", metadata.file_name());
  const Architecture* found = find_architecture(*name);
  if (found != nullptr) return *found;
  std::vector<std::string_view> known;
  for (const Architecture* architecture : architectures()) known.push_back(architecture->name);
  fail(ErrorCode::unsupported, "{}: architecture '{}' is not supported; supported are {}", metadata.file_name(), *name,
       fmt::join(known, ", "));
}

/// Tensors that rows are looked up in, but that no product reads.
bool rows_only(const TensorDecl& decl, bool tied) {
  const auto* field = std::get_if<Weight GlobalWeights::*>(&decl.field);
  if (field == nullptr) return false;
  return *field == &GlobalWeights::position_embd || (*field == &GlobalWeights::token_embd && !tied);
}

bool is_vector(const gguf::TensorInfo& info) { return info.shape[1] * info.shape[2] * info.shape[3] == 1; }

std::string count_text(uint64_t n) {
  if (n >= 1'000'000'000) return fmt::format("{:.1f} G", static_cast<double>(n) * 1e-9);
  return fmt::format("{:.0f} M", static_cast<double>(n) * 1e-6);
}

}  // namespace

std::unique_ptr<Model> Model::load(const gguf::Model& file, Device& device, const LoadOptions& options) {
  std::unique_ptr<Model> model(new Model);
  model->architecture_ = &architecture_of(file.metadata());
  const HyperReader reader(file.metadata(), model->architecture_->name);
  HyperParams& hp = model->params_;
  hp.architecture = model->architecture_->name;
  read_common(reader, hp);
  read_rope(reader, options.rope, hp);
  model->architecture_->read_params(reader, hp);
  model->load_tensors(file, device, options);
  return model;
}

void Model::load_tensors(const gguf::Model& file, Device& device, const LoadOptions& options) {
  const std::vector<FoundTensor> found = match_tensors(*architecture_, params_, file);
  const bool tied = file.find_tensor("output.weight") == nullptr;
  std::vector<WeightSource> sources;
  converted_.reserve(found.size());
  for (const FoundTensor& tensor : found) {
    const gguf::TensorInfo& info = *tensor.info;
    const Shape shape(info.shape[0], info.shape[1], info.shape[2], info.shape[3]);
    n_parameters_ += static_cast<uint64_t>(shape.count());
    weight_bytes_ += info.size_bytes;
    WeightSource source{info.name, info.dtype, shape, file.bytes_of(info), rows_only(*tensor.decl, tied), {}};
    if (is_vector(info) && info.dtype != DType::f32) {
      std::vector<std::byte>& bytes = converted_.emplace_back(static_cast<size_t>(shape.count()) * sizeof(float));
      decode(info.dtype, source.bytes.data(), {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
      source.dtype = DType::f32;
      source.bytes = bytes;
    }
    source.release = [&file, &info](uint64_t size) { file.release(info, size); };
    sources.push_back(std::move(source));
  }
  storages_ = device.load_weights(sources, {options.repack, options.progress}, buffers_);
  BRISK_CHECK(storages_.size() == found.size(), "a device returns a storage for each source");
  if (options.repack) converted_.clear();
  layers_.resize(params_.layers.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Weight weight = &storages_[i];
    if (const auto* field = std::get_if<Weight GlobalWeights::*>(&found[i].decl->field)) {
      globals_.*(*field) = weight;
    } else {
      layers_[static_cast<size_t>(found[i].layer)].*std::get<Weight LayerWeights::*>(found[i].decl->field) = weight;
    }
  }
  if (globals_.output == nullptr) globals_.output = globals_.token_embd;
}

std::string Model::summary() const {
  const LayerParams& first = params_.layers.front();
  return fmt::format("{} {}, {} layers, width {}, {} heads ({} KV), context {}", params_.architecture,
                     count_text(n_parameters_), params_.n_layer(), params_.n_embd, first.n_head, first.n_head_kv,
                     params_.n_ctx_train);
}

}  // namespace brisk::model
