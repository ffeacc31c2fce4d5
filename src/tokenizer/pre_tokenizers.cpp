#include "tokenizer/pre_tokenizers.hpp"

namespace brisk::tokenizer {

namespace {

// Pieces that patterns share, written @NAME@. Whitespace is spelled out because PCRE2's \s also holds U+180E.
// Quantifiers are possessive (++, *+) only where nothing behind them could make use of backtracking.
struct Macro {
  std::string_view name;
  std::string_view text;
};

constexpr Macro kMacros[] = {
    {"@WS@", R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"@GPT2@", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"},
    {"@CI@", R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]))"},
    {"@CJK@", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)"},
    {"@PUNCTW@", R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"},
    {"@PUNCT3@", R"(@PUNCTW@|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|@WS@)"},
    // The two halves of a camel-case word: upper and caseless, lower and caseless.
    {"@UP@", R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"},
    {"@LOW@", R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"},
    {"@LEAD@", R"([^\r\n\p{L}\p{N}]?)"},
    {"@CAMEL@", R"(@LEAD@@UP@*@LOW@+|@LEAD@@UP@+@LOW@*)"},
    {"@CAMELCI@", R"(@LEAD@@UP@*@LOW@+@CI@?|@LEAD@@UP@+@LOW@*@CI@?)"},
    // The same as llama.cpp has them: case is seen for ASCII only.
    {"@UPA@", R"((?:(?=\p{L})[^a-z]))"},
    {"@LOWA@", R"((?:(?=\p{L})[^A-Z]))"},
    {"@UPAM@", R"((?:(?=[\p{L}\p{M}])[^a-z]))"},
    {"@LOWAM@", R"((?:(?=[\p{L}\p{M}])[^A-Z]))"},
    // Kimi's classes: the camel-case halves without Han. General categories partition Unicode, so the complement of
    // the other categories and Han is the wanted difference, as one character class.
    {"@UPK@", R"([^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}])"},
    {"@LOWK@", R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}])"},
    // DeepSeek-LLM's letters.
    {"@LAT@",
     R"(A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}ῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎ\x{AB70}-\x{ABBF}ﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃)"},
};

using Stage = std::string_view;

constexpr Stage kDefault[] = {R"([\p{P}\$\+<=>\^~\|]+)", "@GPT2@", R"(\p{N}+)", "[0-9][0-9][0-9]"};
constexpr Stage kGpt2[] = {"@GPT2@"};
constexpr Stage kStarcoder[] = {R"(\p{N})", "@GPT2@"};
constexpr Stage kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", "@GPT2@", "[0-9][0-9][0-9]"};
constexpr Stage kLlama3[] = {R"(@CI@|@LEAD@\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
// The look-behind keeps the search for a line break from being repeated for every piece of a long run of blanks: once
// it has failed in a run, the rest of that run follows a blank.
constexpr Stage kJais2[] = {
    R"(@CI@|@LEAD@\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|(?<![\t\x{B}\f \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}])\s*[\r\n]+)"
    R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
constexpr Stage kQwen2[] = {R"(@CI@|@LEAD@\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kQwen35[] = {R"(@CI@|@LEAD@[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kUfakzeka[] = {R"(@LEAD@\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kSeed[] = {R"(@CI@|@LEAD@\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|@WS@)"};
constexpr Stage kBailing[] = {R"(@CI@|@LEAD@\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Stage kExaoneMoe[] = {
    R"(@CI@|@LEAD@\p{L}(?:\p{M}| ?\p{L})*+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Stage kMinicpm5[] = {R"(\p{N}{1,3})", R"(@CI@|@LEAD@\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kTekken[] = {R"(@CAMEL@|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kTekkenCompat[] = {R"(@LEAD@@UPA@*@LOWA@+|@LEAD@@UPA@+@LOWA@*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kGpt4o[] = {R"(@CAMELCI@|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kGpt4oCompat[] = {
    R"(@LEAD@@UPA@*@LOWA@+@CI@?|@LEAD@@UPA@+@LOWA@*@CI@?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kGraniteMultiCompat[] = {
    R"(@LEAD@@UPAM@*@LOWAM@+@CI@?|@LEAD@@UPAM@+@LOWAM@*@CI@?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kTinyAya[] = {kStageDigitGroupsAtBoundary, kGpt4o[0]};
constexpr Stage kTinyAyaCompat[] = {kStageDigitGroups,
                                    R"(@LEAD@[\p{L}\p{M}]+@CI@?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kYoutuScripts =
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[！…“”‘’—：；，\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+|@CJK@)";
constexpr Stage kYoutu[] = {kYoutuScripts, R"(@CAMELCI@|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kYoutuCompat[] = {kYoutuScripts, R"(@LEAD@[\p{L}\p{M}]+@CI@?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|@WS@)"};
constexpr Stage kEastAsian = R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr Stage kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian, R"(\p{N})"};
// The fourth is \s+$ for a segment's end, found without a try at every blank of a run.
constexpr Stage kDeepseekLlm[] = {R"([\r\n])",        "\\s?[@LAT@]+", R"(\s?[!-/:-~！-／：-～‘-‟\x{3000}-。]+)",
                                  R"((?<!\s)\s++\z)", kEastAsian,     R"(\p{N}+)"};
constexpr Stage kDeepseekV3[] = {R"(\p{N}{1,3})", "@CJK@", "@PUNCT3@"};
constexpr Stage kSpark[] = {R"(\p{N}{1,3})", "@CJK@",
                            R"(@PUNCTW@|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)",
                            R"(\p{N})"};
constexpr Stage kAfmoe[] = {
    kStageDigitGroups,
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{309F}\x{30A0}-\x{30FF}\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)",
    "@PUNCT3@"};
constexpr Stage kKimi[] = {
    R"(\p{Han}+|@LEAD@@UPK@*@LOWK@+@CI@?|@LEAD@@UPK@+@LOWK@*@CI@?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kKimiCompat[] = {
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B820}-\x{2CEAF}\x{2CEB0}-\x{2EBEF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]+)"
    R"(|@LEAD@[^\P{L}\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B820}-\x{2CEAF}\x{2CEB0}-\x{2EBEF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]+@CI@?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|@WS@)"};
constexpr Stage kBloomWords = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr Stage kBloom[] = {kBloomWords};
constexpr Stage kViking[] = {kBloomWords, R"(\p{N})"};
constexpr Stage kChameleon[] = {"<sentinel:[0-9]+>", "(?:IMGIMG)[A-I]{1,4}Z",   R"([\t\n]|    |  )",
                                R"(\p{N})",          R"([\p{P}!-/:-@\[-`{-~])", "@GPT2@"};
constexpr Stage kSuperbpe[] = {R"(\p{N}+)", kStageDigitGroups};
constexpr Stage kLaguna[] = {R"([^\n]+|[\n]+)", kQwen2[0]};
constexpr Stage kLines[] = {R"([^\n]+|[\n]+)"};
constexpr Stage kWords[] = {R"(\S+)"};

constexpr SplitRules kDefaultRules{"default", kDefault, {}};
constexpr SplitRules kGpt2Rules{"gpt2", kGpt2, {}};
constexpr SplitRules kStarcoderRules{"starcoder", kStarcoder, {}};
constexpr SplitRules kFalconRules{"falcon", kFalcon, {}};
constexpr SplitRules kLlama3Rules{"llama3", kLlama3, {}};
constexpr SplitRules kJais2Rules{"jais2", kJais2, {}};
constexpr SplitRules kQwen2Rules{"qwen2", kQwen2, {}};
constexpr SplitRules kQwen35Rules{"qwen35", kQwen35, {}};
constexpr SplitRules kUfakzekaRules{"ufakzeka", kUfakzeka, {}};
constexpr SplitRules kSeedRules{"seed-coder", kSeed, {}};
constexpr SplitRules kBailingRules{"bailingmoe", kBailing, {}};
constexpr SplitRules kExaoneMoeRules{"exaone-moe", kExaoneMoe, {}};
constexpr SplitRules kMinicpm5Rules{"minicpm5", kMinicpm5, {}};
constexpr SplitRules kTekkenRules{"tekken", kTekken, kTekkenCompat};
constexpr SplitRules kGpt4oRules{"gpt-4o", kGpt4o, kGpt4oCompat};
constexpr SplitRules kGraniteMultiRules{"granite-embed-multi", kGpt4o, kGraniteMultiCompat};
constexpr SplitRules kTinyAyaRules{"tiny_aya", kTinyAya, kTinyAyaCompat};
constexpr SplitRules kYoutuRules{"youtu", kYoutu, kYoutuCompat};
constexpr SplitRules kDeepseekCoderRules{"deepseek-coder", kDeepseekCoder, {}};
constexpr SplitRules kDeepseekLlmRules{"deepseek-llm", kDeepseekLlm, {}};
constexpr SplitRules kDeepseekV3Rules{"deepseek-v3", kDeepseekV3, {}};
constexpr SplitRules kSparkRules{"spark2_5", kSpark, {}};
constexpr SplitRules kAfmoeRules{"afmoe", kAfmoe, {}};
constexpr SplitRules kKimiRules{"kimi-k2", kKimi, kKimiCompat};
constexpr SplitRules kBloomRules{"bloom", kBloom, {}};
constexpr SplitRules kVikingRules{"viking", kViking, {}};
constexpr SplitRules kChameleonRules{"chameleon", kChameleon, {}};
constexpr SplitRules kSuperbpeRules{"superbpe", kSuperbpe, {}};
constexpr SplitRules kLagunaRules{"laguna", kLaguna, {}};
constexpr SplitRules kLinesRules{"lines", kLines, {}};
constexpr SplitRules kWordsRules{"words", kWords, {}};

constexpr PreTokenizer kRows[] = {
    {.name = "default", .rules = &kDefaultRules},
    {.name = "llama3", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "llama-bpe", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "jina-v5-nano", .rules = &kLlama3Rules, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .rules = &kLlama3Rules},
    {.name = "smaug-bpe", .rules = &kLlama3Rules},
    {.name = "chatglm-bpe", .rules = &kLlama3Rules, .no_default_bos = true},
    {.name = "glm4", .rules = &kLlama3Rules, .ignore_merges = true, .no_default_bos = true},
    {.name = "glm5", .rules = &kLlama3Rules, .ignore_merges = true, .no_default_bos = true},
    {.name = "jais-2", .rules = &kJais2Rules},
    {.name = "minicpm5", .rules = &kMinicpm5Rules, .ignore_merges = true},
    {.name = "deepseek-llm", .rules = &kDeepseekLlmRules, .clean_spaces = false},
    {.name = "deepseek-coder", .rules = &kDeepseekCoderRules, .clean_spaces = false},
    {.name = "deepseek-v3", .rules = &kDeepseekV3Rules, .clean_spaces = false},
    {.name = "hunyuan-dense", .rules = &kDeepseekV3Rules, .clean_spaces = false},
    {.name = "joyai-llm", .rules = &kDeepseekV3Rules, .clean_spaces = false},
    {.name = "hy_v4", .rules = &kDeepseekV3Rules, .clean_spaces = false},
    {.name = "spark2_5", .rules = &kSparkRules, .clean_spaces = false},
    {.name = "youtu", .rules = &kYoutuRules, .ignore_merges = true, .clean_spaces = false},
    {.name = "falcon", .rules = &kFalconRules},
    {.name = "starcoder", .rules = &kStarcoderRules},
    {.name = "refact", .rules = &kStarcoderRules},
    {.name = "codeshell", .rules = &kStarcoderRules},
    {.name = "exaone", .rules = &kStarcoderRules},
    {.name = "minerva-7b", .rules = &kStarcoderRules},
    {.name = "mellum2", .rules = &kStarcoderRules},
    {.name = "command-r", .rules = &kStarcoderRules, .clean_spaces = false},
    {.name = "smollm", .rules = &kStarcoderRules, .clean_spaces = false},
    {.name = "gpt-2", .rules = &kGpt2Rules},
    {.name = "phi-2", .rules = &kGpt2Rules},
    {.name = "jina-es", .rules = &kGpt2Rules},
    {.name = "jina-de", .rules = &kGpt2Rules},
    {.name = "jina-v2-es", .rules = &kGpt2Rules},
    {.name = "jina-v2-de", .rules = &kGpt2Rules},
    {.name = "gigachat", .rules = &kGpt2Rules},
    {.name = "a.x-4.0", .rules = &kGpt2Rules},
    {.name = "mellum", .rules = &kGpt2Rules},
    {.name = "modern-bert", .rules = &kGpt2Rules},
    {.name = "exaone4", .rules = &kGpt2Rules},
    {.name = "mpt", .rules = &kGpt2Rules},
    {.name = "olmo", .rules = &kGpt2Rules},
    {.name = "jais", .rules = &kGpt2Rules},
    {.name = "jina-v1-en", .rules = &kGpt2Rules, .add_sep = true},
    {.name = "jina-v2-code", .rules = &kGpt2Rules, .add_sep = true},
    {.name = "roberta-bpe", .rules = &kGpt2Rules, .add_sep = true},
    {.name = "trillion", .rules = &kGpt2Rules, .clean_spaces = false},
    {.name = "granite-docling", .rules = &kGpt2Rules, .clean_spaces = false},
    {.name = "qwen2", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "deepseek-r1-qwen", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "kormo", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "f2llmv2", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "hunyuan", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "solar-open", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "grok-2", .rules = &kQwen2Rules, .clean_spaces = false, .nfc = true},
    {.name = "stablelm2", .rules = &kQwen2Rules, .nfc = true},
    {.name = "megrez", .rules = &kQwen2Rules, .nfc = true},
    {.name = "qwen35", .rules = &kQwen35Rules, .clean_spaces = false, .nfc = true},
    {.name = "ufakzeka", .rules = &kUfakzekaRules, .clean_spaces = false},
    {.name = "laguna", .rules = &kLagunaRules, .clean_spaces = false},
    {.name = "poro-chat", .rules = &kBloomRules, .clean_spaces = false},
    {.name = "bloom", .rules = &kBloomRules},
    {.name = "gpt3-finnish", .rules = &kBloomRules},
    {.name = "viking", .rules = &kVikingRules, .clean_spaces = false},
    {.name = "tekken", .rules = &kTekkenRules, .ignore_merges = true, .add_bos = true, .clean_spaces = false},
    {.name = "chameleon", .rules = &kChameleonRules, .add_bos = true, .clean_spaces = false},
    {.name = "gpt-4o", .rules = &kGpt4oRules, .clean_spaces = false},
    {.name = "llama4", .rules = &kGpt4oRules, .clean_spaces = false},
    {.name = "kanana2", .rules = &kGpt4oRules, .clean_spaces = false},
    {.name = "talkie", .rules = &kGpt4oRules, .clean_spaces = false},
    {.name = "minimax-m2", .rules = &kGpt4oRules, .clean_spaces = false},
    {.name = "granite-embed-multi-97m", .rules = &kGraniteMultiRules, .ignore_merges = true, .clean_spaces = false},
    {.name = "tiny_aya", .rules = &kTinyAyaRules, .clean_spaces = false},
    {.name = "cohere2moe", .rules = &kTinyAyaRules, .clean_spaces = false},
    {.name = "superbpe", .rules = &kSuperbpeRules, .clean_spaces = false},
    {.name = "bailingmoe", .rules = &kBailingRules, .clean_spaces = false},
    {.name = "bailingmoe2", .rules = &kBailingRules, .clean_spaces = false},
    {.name = "llada-moe", .rules = &kBailingRules, .clean_spaces = false},
    {.name = "seed-coder", .rules = &kSeedRules, .clean_spaces = false},
    {.name = "kimi-k2", .rules = &kKimiRules, .clean_spaces = false, .optional_merges = true},
    {.name = "afmoe", .rules = &kAfmoeRules, .clean_spaces = false},
    {.name = "exaone-moe", .rules = &kExaoneMoeRules},
    {.name = "gemma4",
     .rules = &kLinesRules,
     .escape_spaces = true,
     .raw = true,
     .force_add_bos = true,
     .keep_newline_runs = true},
    {.name = "granite-embed-multi-311m",
     .rules = &kLinesRules,
     .escape_spaces = true,
     .raw = true,
     .force_add_bos = true,
     .keep_newline_runs = true},
    {.name = "sarvam-moe", .rules = &kLinesRules, .clean_spaces = false, .escape_spaces = true, .raw = true},
    {.name = "whitespace", .rules = &kWordsRules, .raw = true},
};

// \s in a pattern becomes this class, \S its complement.
constexpr std::string_view kSpaces =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

std::string expand_macros(std::string text) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Macro& macro : kMacros) {
      for (size_t at = 0; (at = text.find(macro.name, at)) != std::string::npos; at += macro.text.size()) {
        text.replace(at, macro.name.size(), macro.text);
        changed = true;
      }
    }
  }
  return text;
}

std::string expand_spaces(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (escaped == 's') {
        out += in_class ? std::string(kSpaces) : "[" + std::string(kSpaces) + "]";
      } else if (escaped == 'S') {
        out += "[^" + std::string(kSpaces) + "]";
      } else {
        out += {c, escaped};
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

}  // namespace

std::span<const PreTokenizer> pre_tokenizers() { return kRows; }

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizer& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string expand_pattern(std::string_view stage) { return expand_spaces(expand_macros(std::string(stage))); }

}  // namespace brisk::tokenizer
