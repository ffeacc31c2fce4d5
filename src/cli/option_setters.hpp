#pragma once

#include "cli/option_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace brisk::cli {

// Setters that check or convert. They throw Error(invalid_argument); the parser adds the option's name.

void set_model(Options& options, const OptionValue& value);
void set_verbose(Options& options, const OptionValue& value);
void set_cpu_mask(Options& options, const OptionValue& value);
void set_cpu_range(Options& options, const OptionValue& value);
void set_load_mode(Options& options, const OptionValue& value);
void set_gpu_layers(Options& options, const OptionValue& value);
void set_device(Options& options, const OptionValue& value);
void set_deprecated(Options& options, const OptionValue& value);
void set_accepted(Options& options, const OptionValue& value);  ///< has its effect by there being nothing to change
void set_cache_type_k(Options& options, const OptionValue& value);
void set_cache_type_v(Options& options, const OptionValue& value);
void set_rope_scaling(Options& options, const OptionValue& value);
void set_rope_scale(Options& options, const OptionValue& value);
void set_prompt(Options& options, const OptionValue& value);
void set_prompt_file(Options& options, const OptionValue& value);
void set_prompt_binary_file(Options& options, const OptionValue& value);
void set_system_prompt_file(Options& options, const OptionValue& value);
void set_tokens(Options& options, const OptionValue& value);
void set_reverse_prompt(Options& options, const OptionValue& value);
void set_conversation(Options& options, const OptionValue& value);
void set_interactive_first(Options& options, const OptionValue& value);
void set_in_prefix_bos(Options& options, const OptionValue& value);
void set_in_prefix(Options& options, const OptionValue& value);
void set_in_suffix(Options& options, const OptionValue& value);
void set_jinja(Options& options, const OptionValue& value);
void set_chat_template_file(Options& options, const OptionValue& value);
void set_samplers(Options& options, const OptionValue& value);
void set_sampler_letters(Options& options, const OptionValue& value);
void set_seed(Options& options, const OptionValue& value);
void set_temperature(Options& options, const OptionValue& value);
void set_logit_bias(Options& options, const OptionValue& value);
void set_override_kv(Options& options, const OptionValue& value);
void set_split(Options& options, const OptionValue& value);
void set_no_parse_special(Options& options, const OptionValue& value);

/// Fields of a comma list; a field in double quotes keeps its commas, "" inside quotes is one quote.
std::vector<std::string> split_commas(std::string_view list);

/// Token ids of "1 2, 3" or, with a leading '@', of that file.
std::vector<int32_t> parse_tokens(std::string_view text);

}  // namespace brisk::cli
