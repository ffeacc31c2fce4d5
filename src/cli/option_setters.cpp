#include "cli/option_setters.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "sampling/sampler_list.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

namespace brisk::cli {
namespace {

// The reference's message for a file that a flag names, which scripts look for.
std::string read_named_file(std::string_view path) {
  try {
    return read_text_file(std::string(path));
  } catch (const Error&) {
    fail(ErrorCode::not_found, "error: failed to open file '{}'\n", path);
  }
}

void drop_last_newline(std::string& text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void add_cpu(std::vector<bool>& mask, size_t cpu) {
  if (mask.size() <= cpu) mask.resize(cpu + 1, false);
  mask[cpu] = true;
}

constexpr size_t kMostCpus = 512;

size_t cpu_number(std::string_view text, size_t otherwise) {
  if (text.empty()) return otherwise;
  const std::string digits(text);
  char* end = nullptr;
  const unsigned long value = std::strtoul(digits.c_str(), &end, 10);
  if (*end != '\0' || !(digits[0] >= '0' && digits[0] <= '9') || value >= kMostCpus) {
    fail(ErrorCode::invalid_argument, "'{}' is not the number of a processor (0 to {})", text, kMostCpus - 1);
  }
  return value;
}

void set_cache_type(std::string& field, const OptionValue& value, std::string_view choices) {
  if (!has_word(choices, value.text)) fail(ErrorCode::invalid_argument, "Unsupported cache type: {}", value.text);
  field = value.text;
}

constexpr std::string_view kCacheTypes = "f32 f16 bf16 q8_0 q4_0 q4_1 iq4_nl q5_0 q5_1";

// A setting that only makes sense on plain text switches the chat off.
void plain_text(Options& options) { options.conversation = Switch::off; }

}  // namespace

std::vector<std::string> split_commas(std::string_view list) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '"' && quoted && i + 1 < list.size() && list[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<int32_t> parse_tokens(std::string_view text) {
  const std::string source = text.starts_with("@") ? read_named_file(text.substr(1)) : std::string(text);
  std::vector<int32_t> ids;
  const char* at = source.c_str();
  constexpr std::string_view kBetween = " \t\r\n,[]";
  while (true) {
    while (*at != '\0' && kBetween.find(*at) != std::string_view::npos) ++at;
    if (*at == '\0') return ids;
    char* end = nullptr;
    errno = 0;
    const long id = std::strtol(at, &end, 10);
    if (end == at || errno != 0 || id < 0 || id > INT32_MAX) {
      fail(ErrorCode::invalid_argument, "token ids are whole numbers from 0; found '{}'",
           std::string(at).substr(0, 20));
    }
    ids.push_back(static_cast<int32_t>(id));
    at = end;
  }
}

void set_model(Options& options, const OptionValue& value) {
  if (value.text.empty()) fail(ErrorCode::invalid_argument, "the name of the model is empty");
  options.model = value.text;
}

void set_verbose(Options& options, const OptionValue& /*value*/) { options.log.verbosity = INT_MAX; }

void set_cpu_mask(Options& options, const OptionValue& value) {
  std::string_view digits = value.text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (digits.empty() || digits.size() > kMostCpus / 4) {
    fail(ErrorCode::invalid_argument, "a mask has 1 to {} hexadecimal digits", kMostCpus / 4);
  }
  for (size_t i = 0; i < digits.size(); ++i) {
    const int nibble = hex_digit(digits[digits.size() - 1 - i]);
    if (nibble < 0) fail(ErrorCode::invalid_argument, "'{}' is not hexadecimal", value.text);
    for (size_t bit = 0; bit < 4; ++bit) {
      if ((nibble >> bit & 1) != 0) add_cpu(options.cpu.mask, 4 * i + bit);
    }
  }
}

void set_cpu_range(Options& options, const OptionValue& value) {
  const size_t dash = value.text.find('-');
  if (dash == std::string_view::npos) fail(ErrorCode::invalid_argument, "a range is LO-HI; either may be left out");
  const size_t first = cpu_number(value.text.substr(0, dash), 0);
  const size_t last = cpu_number(value.text.substr(dash + 1), kMostCpus - 1);
  if (first > last) fail(ErrorCode::invalid_argument, "the range '{}' is empty", value.text);
  for (size_t cpu = first; cpu <= last; ++cpu) add_cpu(options.cpu.mask, cpu);
}

void set_load_mode(Options& options, const OptionValue& value) {
  if (!has_word("auto none mmap", value.text)) {
    fail(ErrorCode::unsupported, "mode '{}' is not supported yet; there are auto, none and mmap", value.text);
  }
  options.mmap = value.text != "none";
}

void set_gpu_layers(Options& options, const OptionValue& value) {
  if (value.text != "0") {
    options.notices.push_back("warning: no usable GPU found, --gpu-layers option will be ignored");
  }
}

void set_device(Options& /*options*/, const OptionValue& value) {
  if (value.text != "none") fail(ErrorCode::invalid_argument, "invalid device: {}", value.text);
}

void set_deprecated(Options& options, const OptionValue& value) {
  options.warnings.push_back("DEPRECATED: " + std::string(value.name) + " has no effect any more");
}

void set_accepted(Options& /*options*/, const OptionValue& /*value*/) {}

void set_cache_type_k(Options& options, const OptionValue& value) {
  set_cache_type(options.type_k, value, kCacheTypes);
}
void set_cache_type_v(Options& options, const OptionValue& value) {
  set_cache_type(options.type_v, value, kCacheTypes);
}

void set_rope_scaling(Options& options, const OptionValue& value) {
  const auto scaling = value.text == "none"     ? model::RopeScaling::none
                       : value.text == "linear" ? model::RopeScaling::linear
                                                : model::RopeScaling::yarn;
  options.rope.scaling = static_cast<int32_t>(scaling);
}

void set_rope_scale(Options& options, const OptionValue& value) {
  if (!(value.number > 0.0)) fail(ErrorCode::invalid_argument, "must be above 0, not {}", value.number);
  options.rope.freq_scale = static_cast<float>(1.0 / value.number);
}

void set_prompt(Options& options, const OptionValue& value) {
  options.prompt = value.text;
  options.prompt_given = true;
}

void set_prompt_file(Options& options, const OptionValue& value) {
  options.prompt = read_named_file(value.text);
  options.raw_file_prompt = options.prompt;
  drop_last_newline(options.prompt);
  options.prompt_given = true;
  options.prompt_from_file = true;
}

void set_prompt_binary_file(Options& options, const OptionValue& value) {
  options.prompt = read_named_file(value.text);
  options.raw_file_prompt = options.prompt;
  options.prompt_given = true;
  options.prompt_from_file = true;
  options.notices.push_back(fmt::format("Read {} bytes from binary file {}", options.prompt.size(), value.text));
}

void set_system_prompt_file(Options& options, const OptionValue& value) {
  options.system_prompt = read_named_file(value.text);
  drop_last_newline(options.system_prompt);
}

void set_tokens(Options& options, const OptionValue& value) {
  options.tokens = parse_tokens(value.text);
  options.tokens_given = true;
}

void set_reverse_prompt(Options& options, const OptionValue& value) {
  options.reverse_prompts.emplace_back(value.text);
}

void set_conversation(Options& options, const OptionValue& value) {
  options.conversation = value.on ? Switch::on : Switch::off;
}

void set_interactive_first(Options& options, const OptionValue& /*value*/) {
  options.interactive = true;
  options.interactive_first = true;
}

void set_in_prefix_bos(Options& options, const OptionValue& /*value*/) {
  options.in_prefix_bos = true;
  plain_text(options);
}

void set_in_prefix(Options& options, const OptionValue& value) {
  options.in_prefix = value.text;
  plain_text(options);
}

void set_in_suffix(Options& options, const OptionValue& value) {
  options.in_suffix = value.text;
  plain_text(options);
}

void set_jinja(Options& options, const OptionValue& value) {
  if (value.on) {
    fail(ErrorCode::unsupported,
         "the template interpreter is not supported yet; without this option brisk recognises the model's template");
  }
  options.jinja = false;
}

void set_chat_template_file(Options& options, const OptionValue& value) {
  options.chat_template = read_named_file(value.text);
}

void set_samplers(Options& options, const OptionValue& value) {
  options.sampling.order = sampling::parse_order(value.text);
}

void set_sampler_letters(Options& options, const OptionValue& value) {
  options.sampling.order = sampling::parse_letters(value.text);
}

void set_seed(Options& options, const OptionValue& value) {
  options.sampling.seed = static_cast<uint32_t>(value.integer);
}

void set_temperature(Options& options, const OptionValue& value) {
  options.sampling.temperature = static_cast<float>(std::max(value.number, 0.0));
}

void set_logit_bias(Options& options, const OptionValue& value) {
  const std::string text(value.text);
  char* end = nullptr;
  const long id = std::strtol(text.c_str(), &end, 10);
  const char* sign = end;
  if (sign == text.c_str() || (*sign != '+' && *sign != '-') || id < 0 || id > INT32_MAX) {
    fail(ErrorCode::invalid_argument, "'{}' is not of the form TOKEN_ID+BIAS or TOKEN_ID-BIAS", text);
  }
  const float bias = std::strtof(sign, &end);
  if (end == sign || *end != '\0') fail(ErrorCode::invalid_argument, "'{}' has no number as its bias", text);
  options.sampling.logit_bias.push_back({static_cast<int32_t>(id), bias});
}

void set_override_kv(Options& options, const OptionValue& value) {
  constexpr size_t kLongest = 127;
  for (const std::string& field : split_commas(value.text)) {
    const size_t equals = field.find('=');
    const size_t colon = equals == std::string::npos ? equals : field.find(':', equals);
    const std::string type = colon == std::string::npos ? "" : field.substr(equals + 1, colon - equals - 1);
    if (equals == 0 || equals > kLongest || !has_word("int float bool str", type) || type.empty()) {
      fail(ErrorCode::invalid_argument, "error: Invalid type for KV override: {}\n", field);
    }
    const std::string text = field.substr(colon + 1);
    if (type == "bool" && text != "true" && text != "false") {
      fail(ErrorCode::invalid_argument, "error: Invalid boolean value for KV override: {}\n", field);
    }
    if (type == "str" && text.size() > kLongest) {
      fail(ErrorCode::invalid_argument, "error: KV override text is longer than {} bytes: {}\n", kLongest, field);
    }
    options.overrides.push_back({field.substr(0, equals), type, text});
  }
}

void set_split(Options& options, const OptionValue& value) {
  options.split = parse_tokens(value.text);
  if (options.split.empty() || *std::min_element(options.split.begin(), options.split.end()) < 1) {
    fail(ErrorCode::invalid_argument, "lengths are whole numbers from 1");
  }
}

void set_no_parse_special(Options& options, const OptionValue& /*value*/) { options.parse_special = false; }

}  // namespace brisk::cli
