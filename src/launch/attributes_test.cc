#include "baton/attributes.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <new>
#include <set>

#include "baton/device.h"
#include "baton/error.h"
#include "baton/launch.h"
#include "launch/attribute_table.h"
#include "launch/native_config.h"

namespace baton::attributes_test {
namespace {

using launch::AttributeBuilder;
using launch::FieldValue;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(auto function) {
  try {
    function();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.message();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

const CUlaunchAttribute& native(const LaunchAttribute& attribute) {
  return *launch::native_attributes({&attribute, 1});
}

TEST(AttributeTable, HasARowForEveryAttributeOfTheDriver) {
  // CUDA 13's CU_LAUNCH_ATTRIBUTE_*, without IGNORE, and the two of CUDA 13.2.
  for (const std::uint32_t id : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18}) {
    EXPECT_NE(launch::find_row(AttributeId{id}), nullptr) << id;
  }
  EXPECT_EQ(launch::find_row(AttributeId{0}), nullptr);
  EXPECT_EQ(launch::find_row(AttributeId{15}), nullptr);
  EXPECT_EQ(launch::find_row(AttributeId{31}), nullptr);
  EXPECT_EQ(launch::find_row(AttributeId{4000}), nullptr);
}

TEST(AttributeTable, RowsAreConsistent) {
  std::set<std::string_view> names;
  for (const launch::AttributeRow& row : launch::attribute_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(launch::find_row(row.id), &row);
    EXPECT_EQ(launch::find_row(row.name), &row);
    std::uint64_t taken = 0;
    for (const launch::AttributeField& field : row.fields) {
      ASSERT_LE(field.offset + field.size, LaunchAttribute::kValueBytes);
      const std::uint64_t bytes = ((std::uint64_t{1} << field.size) - 1) << field.offset;
      EXPECT_EQ(taken & bytes, 0u) << row.name << "." << field.name;
      taken |= bytes;
      const std::string leaf = field.name.empty()
                                   ? std::string(row.name)
                                   : std::string(row.name) + "." + std::string(field.name);
      EXPECT_EQ(launch::find_leaf(leaf).row, &row);
      EXPECT_EQ(launch::find_leaf(leaf).field, field.name);
    }
  }
  EXPECT_EQ(launch::find_leaf("cluster").row, nullptr);
  EXPECT_EQ(launch::find_leaf("cluster.w").row, nullptr);
  EXPECT_EQ(launch::find_leaf("clusters.x").row, nullptr);
}

TEST(Attributes, HaveTheDriversLayout) {
  const LaunchAttribute blocks = cluster({2, 3, 4});
  EXPECT_EQ(native(blocks).id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(native(blocks).value.clusterDim.x, 2u);
  EXPECT_EQ(native(blocks).value.clusterDim.y, 3u);
  EXPECT_EQ(native(blocks).value.clusterDim.z, 4u);
  EXPECT_EQ(native(preferred_cluster(6)).value.preferredClusterDim.x, 6u);
  EXPECT_EQ(native(pdl()).value.programmaticStreamSerializationAllowed, 1);
  EXPECT_EQ(native(cooperative()).value.cooperative, 1);
  EXPECT_EQ(native(priority(-5)).value.priority, -5);
  EXPECT_EQ(native(mem_sync_domain(MemSyncDomain::kRemote)).value.memSyncDomain,
            CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  EXPECT_EQ(native(mem_sync_domain_map(2, 3)).value.memSyncDomainMap.default_, 2);
  EXPECT_EQ(native(mem_sync_domain_map(2, 3)).value.memSyncDomainMap.remote, 3);
  EXPECT_EQ(native(preferred_shared_memory_carveout(40)).value.sharedMemCarveout, 40u);
  EXPECT_EQ(native(nvlink_util_centric_scheduling()).value.nvlinkUtilCentricScheduling, 1u);
  EXPECT_EQ(native(device_updatable_node()).value.deviceUpdatableKernelNode.deviceUpdatable, 1);
  EXPECT_EQ(native(cluster_scheduling_policy(ClusterSchedulingPolicy::kLoadBalancing))
                .value.clusterSchedulingPolicyPreference,
            CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
  const LaunchAttribute window = access_policy_window(
      0x7fff12345678, 1 << 20, 0.25f, AccessProperty::kPersisting, AccessProperty::kStreaming);
  const CUaccessPolicyWindow& value = native(window).value.accessPolicyWindow;
  EXPECT_EQ(value.base_ptr, reinterpret_cast<void*>(0x7fff12345678));
  EXPECT_EQ(value.num_bytes, 1u << 20);
  EXPECT_EQ(value.hitRatio, 0.25f);
  EXPECT_EQ(value.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
  EXPECT_EQ(value.missProp, CU_ACCESS_PROPERTY_STREAMING);
}

TEST(Attributes, OfEventsWantEventsWithoutTiming) {
  const Device device = Device::open("sim:tiny");
  const Event event(device, false);
  const Event timing(device);
  const CUlaunchAttributeValue value = native(programmatic_event(event, true)).value;
  EXPECT_EQ(value.programmaticEvent.event, event.native());
  EXPECT_EQ(value.programmaticEvent.triggerAtBlockStart, 1);
  EXPECT_EQ(native(launch_completion_event(event)).value.launchCompletionEvent.event,
            event.native());
  EXPECT_THAT(refusal_of([&] { programmatic_event(timing); }), HasSubstr("without timing"));
  EXPECT_THAT(refusal_of([&] { launch_completion_event(timing); }), HasSubstr("without timing"));
}

TEST(Attributes, RefuseValuesThatNoDeviceTakes) {
  EXPECT_THAT(refusal_of([] { preferred_shared_memory_carveout(101); }),
              AllOf(HasSubstr("preferred_shared_memory_carveout is 101"), HasSubstr("100")));
  EXPECT_THAT(refusal_of([] { preferred_shared_memory_carveout(-1); }), HasSubstr("-1"));
  EXPECT_THAT(refusal_of([] {
                access_policy_window(0, 1, 1.5f, AccessProperty::kNormal, AccessProperty::kNormal);
              }),
              AllOf(HasSubstr("hit_ratio is 1.5"), HasSubstr("from 0 to 1")));
  EXPECT_THAT(refusal_of([] {
                access_policy_window(0, 1, NAN, AccessProperty::kNormal, AccessProperty::kNormal);
              }),
              HasSubstr("hit_ratio"));
  EXPECT_THAT(refusal_of([] {
                access_policy_window(0, 1, 1, AccessProperty::kNormal, AccessProperty::kPersisting);
              }),
              AllOf(HasSubstr("miss_prop"), HasSubstr("normal, streaming")));
  EXPECT_THAT(refusal_of([] { LaunchAttribute(AttributeId::kPriority, nullptr, 65); }),
              AllOf(HasSubstr("priority"), HasSubstr("65"), HasSubstr("64")));
}

TEST(AttributeBuilder, TakesTextNumbersAndDefaults) {
  AttributeBuilder window(*launch::find_row("access_policy_window"));
  window.set("base_ptr", std::int64_t{4096});
  window.set("num_bytes", std::int64_t{64});
  window.set("hit_ratio", std::int64_t{1});
  window.set("hit_prop", std::string_view("persisting"));
  EXPECT_EQ(window.build(), access_policy_window(4096, 64, 1, AccessProperty::kPersisting,
                                                 AccessProperty::kNormal));
  AttributeBuilder blocks(*launch::find_row("cluster"));
  blocks.set("x", std::int64_t{2});
  EXPECT_EQ(blocks.build(), cluster(2));
}

TEST(AttributeBuilder, NamesWhatIsWrong) {
  const auto set = [](std::string_view name, std::string_view field, FieldValue value) {
    return refusal_of([&] { AttributeBuilder(*launch::find_row(name)).set(field, value); });
  };
  EXPECT_THAT(set("cluster", "w", std::int64_t{1}), HasSubstr("cluster has no field \"w\""));
  EXPECT_THAT(set("cluster", "x", std::int64_t{0}), HasSubstr("cluster.x is 0"));
  EXPECT_THAT(set("cluster", "x", std::int64_t{1} << 32), HasSubstr("4294967296"));
  EXPECT_THAT(set("cluster", "x", 2.0), HasSubstr("cluster.x is 2"));
  EXPECT_THAT(set("cooperative", "", std::int64_t{2}), HasSubstr("true or false"));
  EXPECT_THAT(set("cluster_scheduling_policy", "", std::string_view("spred")),
              AllOf(HasSubstr("default, spread, load_balancing"), HasSubstr("\"spread\"")));
  EXPECT_THAT(set("mem_sync_domain_map", "default", std::int64_t{256}), HasSubstr("255"));
  EXPECT_THAT(refusal_of([] { AttributeBuilder(*launch::find_row("cluster")).build(); }),
              HasSubstr("cluster.x is missing"));
  EXPECT_THAT(refusal_of([] {
                AttributeBuilder twice(*launch::find_row("priority"));
                twice.set("", std::int64_t{1});
                twice.set("", std::int64_t{1});
              }),
              HasSubstr("priority is given twice"));
}

TEST(LaunchAttributes, WriteOnlyTheSlotsInUseAndThoseWhole) {
  alignas(LaunchAttributes) unsigned char poisoned[sizeof(LaunchAttributes)];
  std::memset(poisoned, 0xA5, sizeof(poisoned));
  // Otherwise the compiler leaves the poison out: no code may read what was there before the
  // object.
  asm volatile("" : : "r"(poisoned) : "memory");
  auto* attributes = new (poisoned) LaunchAttributes;
  attributes->set(cluster(2));
  attributes->set(pdl());
  const auto all = attributes->all();
  ASSERT_EQ(all.size(), 2u);
  const auto* slots = reinterpret_cast<const unsigned char*>(all.data());
  CUlaunchAttribute expected[2];
  std::memset(expected, 0, sizeof(expected));
  expected[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  expected[0].value.clusterDim.x = 2;
  expected[0].value.clusterDim.y = expected[0].value.clusterDim.z = 1;
  expected[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  expected[1].value.programmaticStreamSerializationAllowed = 1;
  EXPECT_EQ(std::memcmp(slots, expected, sizeof(expected)), 0);
  for (const unsigned char* rest = slots + sizeof(expected); rest < poisoned + sizeof(poisoned);
       ++rest) {
    ASSERT_EQ(*rest, 0xA5) << rest - slots;
  }
}

TEST(LaunchAttributes, FlagsThatAreOffAreLeftOut) {
  const LaunchAttributes off{pdl(false), cooperative(false)};
  EXPECT_TRUE(off.empty());
  LaunchAttributes attributes{cooperative(), pdl(), priority(1)};
  attributes.set(pdl(false));
  EXPECT_EQ(attributes, (LaunchAttributes{cooperative(), priority(1)}));
  EXPECT_FALSE(attributes.pdl());
  EXPECT_TRUE(attributes.cooperative());
}

TEST(LaunchAttributes, TheLastValueOfAnAttributeStands) {
  const LaunchAttributes attributes{priority(1), cluster(2), priority(3)};
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes.find(AttributeId::kPriority)->as<int>(), 3);
  // Written is sent, also where it is one block.
  EXPECT_EQ(LaunchAttributes{cluster(1)}.cluster(), Dim3(1));
  EXPECT_EQ(LaunchAttributes{}.cluster(), std::nullopt);
}

TEST(LaunchAttributes, TakeEveryIdAndAreFull) {
  LaunchAttributes attributes;
  for (std::uint32_t id = 100; id < 100 + LaunchAttributes::kCapacity; ++id) {
    attributes.set(LaunchAttribute(AttributeId{id}, id));
  }
  EXPECT_THAT(refusal_of([&] { attributes.set(cluster(2)); }),
              AllOf(HasSubstr("at most 20"), HasSubstr("cluster")));
  const LaunchAttributes copy = attributes;
  EXPECT_EQ(copy, attributes);
  EXPECT_EQ(copy.find(AttributeId{105})->as<int>(), 105);
  EXPECT_EQ(copy.find(AttributeId{105})->name(), "attribute 105");
}

}  // namespace
}  // namespace baton::attributes_test
