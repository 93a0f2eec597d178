#include "pdl/origin/memory_dependence.h"

#include <gtest/gtest.h>

#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::memory_dependence_test {
namespace {

// p0 and p1 are addresses in %a and %b, and %r1 is a number of the thread.
bool depends(const std::string& body, const std::string& variables = "") {
  return depends_on_contents(*footprint_of(body, variables).code);
}

TEST(MemoryDependence, ValuesDecideNothing) {
  EXPECT_FALSE(depends("ld.global.f32 %f1, [%a]; st.global.f32 [%b], %f1;"));
  EXPECT_FALSE(depends("ld.global.f32 %f1, [%a]; add.f32 %f1, %f1, %f1; st.global.f32 [%b], %f1;"));
  EXPECT_FALSE(depends("setp.ne.u64 %p1, %c, 0; @%p1 st.global.f32 [%b], %f1;")) << "a parameter";
}

TEST(MemoryDependence, AnIndexFromMemory) {
  EXPECT_TRUE(depends("ld.global.u64 %d1, [%a]; add.s64 %d9, %b, %d1; st.global.f32 [%d9], %f1;"));
  EXPECT_TRUE(depends("ld.global.u64 %d1, [%a]; ld.global.f32 %f1, [%d1];")) << "a pointer";
  EXPECT_TRUE(depends("atom.global.add.u64 %d1, [%a], 1; st.global.f32 [%d1], %f1;"));
}

TEST(MemoryDependence, ABranchOnMemory) {
  EXPECT_TRUE(
      depends("ld.global.u64 %d1, [%a]; setp.ne.u64 %p1, %d1, 0;"
              "@%p1 st.global.f32 [%b], %f1;"));
  EXPECT_TRUE(
      depends("ld.global.u64 %d1, [%a]; setp.ne.u64 %p1, %d1, 0; @%p1 bra over;"
              "st.global.f32 [%b], %f1; over:"));
  EXPECT_FALSE(
      depends("ld.global.u64 %d1, [%a]; setp.ne.u64 %p1, %d1, 0;"
              "selp.b64 %d2, %b, %c, %p1; st.global.u64 [%b], %d2;"))
      << "which value is stored says nothing of where";
}

TEST(MemoryDependence, ASizeFromMemory) {
  const std::string shared = ".shared .u64 room[32];";
  const std::string copy = "cp.async.ca.shared.global [room], [%a], 4, %r5;";
  EXPECT_TRUE(depends("ld.global.u32 %r5, [%a];" + copy, shared));
  EXPECT_FALSE(depends("mov.u32 %r5, %tid.x;" + copy, shared));
}

TEST(MemoryDependence, ThroughSharedAndLocalMemory) {
  const std::string shared = ".shared .u64 room[32];";
  EXPECT_TRUE(depends("ld.shared.u64 %d1, [room]; add.s64 %d9, %b, %d1; st.global.f32 [%d9], %f1;",
                      shared));
  EXPECT_TRUE(
      depends(".local .u64 kept; ld.global.u64 %d1, [%a]; st.local.u64 [kept], %d1;"
              "ld.local.u64 %d2, [kept]; st.global.f32 [%d2], %f1;"));
  const std::string pointer = ".local .u64 kept; mov.u64 %d3, kept; cvta.local.u64 %d3, %d3;";
  EXPECT_TRUE(depends(pointer +
                      "ld.global.u64 %d1, [%a]; st.u64 [%d3], %d1; ld.local.u64 %d2, [kept];"
                      "st.global.f32 [%d2], %f1;"))
      << "by a generic address";
  EXPECT_FALSE(
      depends(".local .u64 kept; st.local.u64 [kept], %b; ld.local.u64 %d2, [kept];"
              "st.global.f32 [%d2], %f1;"));
}

TEST(MemoryDependence, WhatCannotBeFollowed) {
  EXPECT_TRUE(depends("call other;", ".extern .func other;"));
}

}  // namespace
}  // namespace baton::overlap::memory_dependence_test
