#include "cli/program_list.hpp"

#include "cli/edit_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace brisk::cli {
namespace {

constexpr std::array<ProgramRow, 47> kRows{{
    {"run", "run", "", "answer a prompt, or chat", run_command},
    {"tk", "tokenize", "llama-tokenize", "show the tokens of a text", tokenize_command},
    {"in", "inspect", "", "show metadata and tensors of a model file, and what is wrong with it", inspect_command},
    {"px", "perplexity", "llama-perplexity", "measure how well a model predicts a text", perplexity_command},
    {"lg", "logits", "", "write the logits of all positions of a prompt", logits_command},
    {"dev", "devices", "", "list the devices", devices_command},
    {"ver", "version", "", "print version and build", version_command},
    {"help", "help", "", "print this, or with a command its options", help_command},
    {"cp", "", "llama-completion", "text completion", run_command},
    {"cli", "", "llama-cli", "chat client", run_command},
    {"sv", "serve", "llama-server", "HTTP server", nullptr},
    {"bench", "bench", "llama-bench", "measure speed", bench_command},
    {"qu", "quantize", "llama-quantize", "make a model smaller", nullptr},
    {"im", "imatrix", "llama-imatrix", "collect an importance matrix", nullptr},
    {"em", "embedding", "llama-embedding", "embeddings of texts", nullptr},
    {"rt", "", "llama-retrieval", "search in texts", nullptr},
    {"pk", "", "llama-passkey", "find a key in filler", nullptr},
    {"pl", "", "llama-parallel", "simulate many clients", nullptr},
    {"ba", "", "llama-batched", "several continuations at once", nullptr},
    {"bb", "", "llama-batched-bench", "speed of batches", nullptr},
    {"sp", "", "llama-speculative llama-speculative-simple", "speculative decoding", nullptr},
    {"lk", "", "llama-lookup llama-lookup-create llama-lookup-stats", "drafts from n-grams", nullptr},
    {"lm", "", "llama-lookup-merge", "merge n-gram files", nullptr},
    {"la", "", "llama-lookahead", "look-ahead decoding", nullptr},
    {"df", "", "llama-diffusion-cli", "diffusion models", nullptr},
    {"mt", "", "llama-mtmd-cli llama-llava-cli llama-gemma3-cli llama-minicpmv-cli llama-qwen2vl-cli",
     "images and sound", nullptr},
    {"tt", "", "llama-tts", "text to speech", nullptr},
    {"ft", "", "llama-finetune", "training", nullptr},
    {"fp", "", "llama-fit-params", "fit settings to memory", nullptr},
    {"db", "", "llama-debug llama-eval-callback", "look into a run", nullptr},
    {"cv", "", "llama-cvector-generator", "make control vectors", nullptr},
    {"xl", "", "llama-export-lora", "merge adapters", nullptr},
    {"dl", "download", "", "download models", nullptr},
    {"rs", "", "llama-results", "compare results", nullptr},
    {"sm", "", "llama-simple", "smallest example", nullptr},
    {"sc", "", "llama-simple-chat", "smallest chat", nullptr},
    {"gg", "", "llama-gguf", "read and write test files", nullptr},
    {"gs", "", "llama-gguf-split", "split and merge model files", nullptr},
    {"gh", "", "llama-gguf-hash", "hashes of model files", nullptr},
    {"gr", "", "llama-gbnf-validator", "check a grammar", nullptr},
    {"gl", "", "llama-gritlm", "embeddings and text", nullptr},
    {"id", "", "llama-idle", "speed after pauses", nullptr},
    {"if", "", "llama-infill", "code infill", nullptr},
    {"ss", "", "llama-save-load-state", "state files", nullptr},
    {"c2", "", "llama-convert-llama2c-to-ggml", "convert old models", nullptr},
    {"qs", "", "llama-quantize-stats llama-q8dot llama-vdot", "old measurements", nullptr},
    {"rpc", "", "rpc-server ggml-rpc-server", "lend a device to others", nullptr},
}};

std::string_view name_of(const ProgramRow& row) {
  return row.command.empty() ? row.aliases.substr(0, row.aliases.find(' ')) : row.command;
}

}  // namespace

std::span<const ProgramRow> program_list() { return kRows; }

const ProgramRow* find_command(std::string_view command) {
  const auto it = std::find_if(kRows.begin(), kRows.end(),
                               [&](const ProgramRow& row) { return !command.empty() && row.command == command; });
  return it == kRows.end() ? nullptr : &*it;
}

const ProgramRow* find_alias(std::string_view program_name) {
  const auto it = std::find_if(kRows.begin(), kRows.end(), [&](const ProgramRow& row) {
    return !program_name.empty() && has_word(row.aliases, program_name);
  });
  return it == kRows.end() ? nullptr : &*it;
}

std::string unknown_command(std::string_view command) {
  std::string_view nearest;
  size_t best = too_far_from(command);
  for (const auto& row : kRows) {
    if (row.run == nullptr || row.command.empty()) continue;
    const size_t distance = edit_distance(command, row.command);
    if (distance >= best) continue;
    best = distance;
    nearest = row.command;
  }
  const std::string hint = nearest.empty() ? "" : fmt::format("did you mean {}?\n", nearest);
  return fmt::format("error: unknown command '{}'\n{}'brisk help' lists the commands\n", command, hint);
}

std::string program_names(std::string_view codes) {
  std::string out;
  const auto add = [&](std::string_view name) { out += fmt::format("{}{}", out.empty() ? "" : ", ", name); };
  if (has_word(codes, "all")) add("*all*");
  const bool for_run = !has_word(codes, "all") && (has_word(codes, "cp") || has_word(codes, "cli"));
  for (const auto& row : kRows) {
    if (!has_word(codes, row.code) && !(for_run && row.code == "run")) continue;
    // Rows for all programs name only those that are not among them.
    if (has_word(codes, "all") && row.code != "in" && row.code != "dl") continue;
    add(name_of(row));
  }
  return out;
}

}  // namespace brisk::cli
