#include "backend/registry.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace brisk {
namespace {

class FakeDevice : public Device {
 public:
  FakeDevice(std::string name, DeviceType type) : name_(std::move(name)), type_(type) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string description() const override { return "fake"; }
  [[nodiscard]] DeviceType type() const override { return type_; }
  [[nodiscard]] std::pair<uint64_t, uint64_t> memory() const override { return {0, 0}; }
  [[nodiscard]] bool supports(const Graph&, const Node&) const override { return false; }
  std::unique_ptr<Buffer> allocate(uint64_t) override { return nullptr; }
  std::vector<TensorStorage> load_weights(std::span<const WeightSource>, const WeightOptions&,
                                          std::vector<std::unique_ptr<Buffer>>&) override {
    return {};
  }
  std::unique_ptr<Stream> new_stream(const ThreadOptions&) override { return nullptr; }

 private:
  std::string name_;
  DeviceType type_;
};

class FakeBackend : public Backend {
 public:
  FakeBackend(std::string name, DeviceType type, uint32_t version = kBackendApiVersion)
      : name_(std::move(name)), device_(name_ + "0", type), version_(version) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] uint32_t api_version() const override { return version_; }
  [[nodiscard]] std::span<Device* const> devices() override { return devices_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> features() const override { return {}; }

 private:
  std::string name_;
  FakeDevice device_;
  Device* devices_[1] = {&device_};
  uint32_t version_;
};

std::unique_ptr<Backend> fake(const char* name, DeviceType type, uint32_t version = kBackendApiVersion) {
  return std::make_unique<FakeBackend>(name, type, version);
}

TEST(Registry, FindsDevicesByNameAndType) {
  Registry registry;
  registry.add(fake("Cuda", DeviceType::gpu));
  registry.add(fake("CPU", DeviceType::cpu));
  registry.add(nullptr);
  ASSERT_EQ(registry.backends().size(), 2u);
  ASSERT_EQ(registry.devices().size(), 2u);
  EXPECT_EQ(registry.devices()[0]->name(), "Cuda0") << "in the order of preference";
  ASSERT_NE(registry.find_device("cUdA0"), nullptr);
  EXPECT_EQ(registry.find_device("cUdA0")->type(), DeviceType::gpu);
  EXPECT_EQ(registry.find_device("cuda"), nullptr);
  EXPECT_EQ(registry.first_of(DeviceType::cpu)->name(), "CPU0");
  EXPECT_EQ(registry.first_of(DeviceType::accelerator), nullptr);
}

TEST(Registry, TheFirstOfAnEqualNameStays) {
  Registry registry;
  registry.add(fake("cpu", DeviceType::cpu));
  registry.add(fake("CPU", DeviceType::gpu));
  ASSERT_EQ(registry.devices().size(), 1u);
  EXPECT_EQ(registry.devices()[0]->type(), DeviceType::cpu);
}

TEST(Registry, AnotherApiVersionIsRefusedWithBothNumbers) {
  Registry registry;
  const uint32_t other = kBackendApiVersion + 41;
  try {
    registry.add(fake("old", DeviceType::gpu, other));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    const std::string message = error.what();
    EXPECT_NE(message.find("'old'"), std::string::npos);
    EXPECT_NE(message.find(std::to_string(other)), std::string::npos);
    EXPECT_NE(message.find(std::to_string(kBackendApiVersion)), std::string::npos);
  }
  EXPECT_TRUE(registry.backends().empty());
}

}  // namespace
}  // namespace brisk
