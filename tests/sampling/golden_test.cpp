// Expected values: golden/sampling/cases.json, whose README gives formulas and the tolerance.
#include "base/file.hpp"
#include "sampling/candidates.hpp"
#include "sampling/sampler_list.hpp"
#include "test_support/paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace brisk::sampling {
namespace {

using Json = nlohmann::json;

constexpr float kTolerance = 2e-5F;

struct Setup {
  Params params;
  std::vector<int32_t> history;
};

// Everything off, so that a case runs only the steps that it names.
Params neutral() {
  Params params;
  params.top_k = 0;
  params.top_p = 1.0F;
  params.min_p = 0.0F;
  params.temperature = 1.0F;
  return params;
}

bool add_step(Setup& setup, const Json& step) {
  Params& p = setup.params;
  const std::string name = step.at("sampler");
  p.min_keep = step.value("min_keep", p.min_keep);
  if (name == "top_k") {
    p.top_k = step.at("k");
  } else if (name == "top_p") {
    p.top_p = step.at("p");
  } else if (name == "min_p") {
    p.min_p = step.at("p");
  } else if (name == "temperature") {
    p.temperature = step.at("t");
  } else if (name == "penalties") {
    p.repeat_last_n = step.at("last_n");
    p.repeat_penalty = step.value("repeat", 1.0F);
    p.frequency_penalty = step.value("frequency", 0.0F);
    p.presence_penalty = step.value("presence", 0.0F);
    setup.history = step.at("history").get<std::vector<int32_t>>();
  } else {
    return false;
  }
  p.order.push_back(name);
  return true;
}

std::optional<Setup> setup_of(const Json& item) {
  Setup setup{neutral(), {}};
  for (const auto& step : item.at("steps")) {
    if (!add_step(setup, step)) return std::nullopt;
  }
  return setup;
}

void check_case(const Json& item, const std::vector<float>& logits, const Setup& setup) {
  Candidates candidates;
  candidates.assign(logits, {});
  for (const auto& step : build_steps(setup.params)) {
    for (const int32_t token : setup.history) step->accept(token);
    step->apply(candidates);
  }
  candidates.sort();
  candidates.softmax();
  const auto ids = item.at("ids").get<std::vector<int32_t>>();
  const auto probs = item.at("probs").get<std::vector<float>>();
  // A token that the temperature made impossible is left out of the recording.
  std::vector<Candidate> got(candidates.items().begin(), candidates.items().end());
  std::erase_if(got, [](const Candidate& c) { return c.p == 0.0F; });
  ASSERT_EQ(got.size(), ids.size()) << item.dump();
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(got[i].id, ids[i]) << item.dump();
    EXPECT_NEAR(got[i].p, probs[i], kTolerance) << item.dump();
  }
}

TEST(SamplingGolden, EveryCaseOfTheSupportedSamplers) {
  const Json data = Json::parse(read_text_file(test::data_file("golden/sampling/cases.json")));
  size_t n_checked = 0;
  for (const auto& item : data.at("cases")) {
    const auto setup = setup_of(item);
    if (!setup) continue;
    check_case(item, data.at("vectors").at(item.at("vector")).get<std::vector<float>>(), *setup);
    ++n_checked;
  }
  // top_k 60, top_p 71, min_p 72, temperature 48, penalties 48, mixed 12.
  EXPECT_EQ(n_checked, 311U);
}

}  // namespace
}  // namespace brisk::sampling
