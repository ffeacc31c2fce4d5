#include "cli/model_defaults.hpp"

#include "base/error.hpp"
#include "sampling/sampler_list.hpp"

#include <algorithm>
#include <sstream>

namespace brisk::cli {
namespace {

using sampling::Params;

struct FloatSetting {
  const char* key;
  const char* option;
  float Params::*member;
};

struct IntSetting {
  const char* key;
  const char* option;
  int32_t Params::*member;
};

constexpr FloatSetting kFloats[] = {{"top_p", "--top-p", &Params::top_p},
                                    {"min_p", "--min-p", &Params::min_p},
                                    {"temp", "--temp", &Params::temperature},
                                    {"penalty_repeat", "--repeat-penalty", &Params::repeat_penalty}};

constexpr IntSetting kInts[] = {{"top_k", "--top-k", &Params::top_k},
                                {"penalty_last_n", "--repeat-last-n", &Params::repeat_last_n}};

std::string full(const char* key) { return std::string("general.sampling.") + key; }

bool is_given(const Options& options, const char* option) {
  return std::find(options.given.begin(), options.given.end(), option) != options.given.end();
}

// Names that brisk does not have are left out: they name samplers that are off unless another setting turns them on.
std::vector<std::string> known_order(std::string_view list, Log& log) {
  std::vector<std::string> order;
  std::istringstream names{std::string(list)};
  for (std::string name; std::getline(names, name, ';');) {
    try {
      for (auto& known : sampling::parse_order(name)) order.push_back(std::move(known));
    } catch (const Error& error) {
      log.warn("the model's sampler list: {}", error.what());
    }
  }
  return order;
}

}  // namespace

Options with_model_defaults(Options options, const gguf::Metadata& metadata, Log& log) {
  for (const auto& setting : kFloats) {
    const auto value = metadata.get_float(full(setting.key));
    if (value && !is_given(options, setting.option)) options.sampling.*setting.member = *value;
  }
  for (const auto& setting : kInts) {
    const auto value = metadata.get_int(full(setting.key));
    if (value && !is_given(options, setting.option)) options.sampling.*setting.member = static_cast<int32_t>(*value);
  }
  const bool order_given = is_given(options, "--samplers") || is_given(options, "--sampler-seq");
  if (const auto list = metadata.get_string(full("sequence")); list && !order_given) {
    options.sampling.order = known_order(*list, log);
  }
  // 0 switches these off.
  const bool xtc = metadata.get_float(full("xtc_probability")).value_or(0.0F) > 0.0F;
  const bool mirostat = metadata.get_int(full("mirostat")).value_or(0) != 0;
  if (xtc) log.warn("the model asks for XTC sampling, which is not supported yet");
  if (mirostat) log.warn("the model asks for mirostat sampling, which is not supported yet");
  return options;
}

}  // namespace brisk::cli
