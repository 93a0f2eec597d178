// Epilogues of all-reduces: those of the kernels between peers and of the kernel after another
// transport give the same bits, which are near the exact values.

#include "peer/epilogue_kernels.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/array/float_convert.h"
#include "baton/schedule.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "peer/peer_rank.h"
#include "world/reduce.h"
#include "world/test_ranks.h"

namespace baton::peer::epilogue_kernels_test {
namespace {

constexpr Schedule kSerial = {ScheduleKind::kSerial, 0};
constexpr Schedule kSchedules[] = {
    kSerial,
    {ScheduleKind::kLate, 0},
    {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0},
    {ScheduleKind::kRandom, 1},
};

Device device_of(std::uint32_t rank) {
  return Device::open(rank == 0 ? "sim:h200" : "sim:h200:" + std::to_string(rank));
}

struct Case {
  std::uint32_t ranks = 2;
  DType dtype = DType::kF32;
  Shots shots = Shots::kOne;
  std::uint64_t rows = 3, row = 128;
  bool adds = true, norms = true;
  std::uint64_t offset = 0;  // bytes, of all elements in their buffers
  float epsilon = 1e-5f;

  std::uint64_t count() const { return rows * row; }
  std::uint64_t bytes() const { return count() * size_of(dtype); }
};

std::string text_of(const Case& c) {
  return fmt::format("{} ranks, {}, {} shots, {} rows of {} at {}{}{}", c.ranks, to_string(c.dtype),
                     static_cast<int>(c.shots), c.rows, c.row, c.offset, c.adds ? ", add" : "",
                     c.norms ? ", rms_norm" : "");
}

// Numbers of both signs that depend on the seed.
std::string elements_of(DType dtype, std::uint64_t count, std::uint32_t seed) {
  std::string bytes(count * size_of(dtype), '\0');
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto mixed = static_cast<std::uint32_t>((k + 1) * 2654435761u + seed * 40503u);
    const float value = static_cast<float>(static_cast<int>(mixed >> 12 & 0xfff) - 2048) / 97.0f;
    const std::uint64_t bits = encode_float(dtype, value);
    std::memcpy(bytes.data() + k * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

double element(DType dtype, const std::string& bytes, std::uint64_t k) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + k * size_of(dtype), size_of(dtype));
  return decode_float(dtype, bits);
}

constexpr std::uint32_t kAddSeed = 100, kWeightSeed = 101;

std::string reduced(const Case& c) {
  std::vector<std::string> parts;
  std::vector<const char*> places;
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    parts.push_back(elements_of(c.dtype, c.count(), rank));
  }
  for (const std::string& part : parts) places.push_back(part.data());
  std::string result(c.bytes(), '\0');
  world::reduce(ReduceOp::kSum, c.dtype, c.count(), places, result.data());
  return result;
}

// A device with the buffers of a case, and elements to reduce.
class Buffers {
 public:
  Buffers(const Device& device, const Case& c, const std::string& elements)
      : case_(c),
        stream_(device),
        results_(device, c.offset + c.bytes()),
        add_(device, c.offset + c.bytes()),
        weight_(device, c.offset + c.row * size_of(c.dtype)),
        normed_(device, c.offset + c.bytes()) {
    put(results_, elements);
    put(add_, elements_of(c.dtype, c.count(), kAddSeed));
    put(weight_, elements_of(c.dtype, c.row, kWeightSeed));
  }

  DeviceAddress results() const { return results_.address() + case_.offset; }
  Epilogue epilogue() const {
    Epilogue epilogue;
    if (case_.adds) epilogue.add = add_.address() + case_.offset;
    if (!case_.norms) return epilogue;
    epilogue.weight = weight_.address() + case_.offset;
    epilogue.normed = normed_.address() + case_.offset;
    epilogue.row = case_.row;
    epilogue.epsilon = case_.epsilon;
    return epilogue;
  }
  const Stream& stream() const { return stream_; }

  struct Contents {
    std::string results, normed;
    bool operator==(const Contents&) const = default;
  };
  Contents get() const { return {get(results_), case_.norms ? get(normed_) : std::string()}; }

 private:
  void put(const Memory& memory, const std::string& bytes) const {
    memory.upload(bytes.data(), bytes.size(), case_.offset, stream_);
    stream_.synchronize();
  }
  std::string get(const Memory& memory) const {
    std::string bytes(case_.bytes(), '\0');
    memory.download(bytes.data(), bytes.size(), case_.offset, stream_);
    stream_.synchronize();
    return bytes;
  }

  const Case case_;
  const Stream stream_;
  const Memory results_, add_, weight_, normed_;
};

// What the epilogue makes of the elements that the host has reduced.
Buffers::Contents finished(const Case& c, const Device& device) {
  const Buffers buffers(device, c, reduced(c));
  EpilogueKernels kernels(device);
  enqueue(kernels.launch_of({buffers.results(), c.count(), c.dtype, buffers.epilogue()}),
          buffers.stream());
  return buffers.get();
}

void expect_near_exact(const Case& c, const Buffers::Contents& got) {
  const std::string sums = reduced(c);
  const std::string add = elements_of(c.dtype, c.count(), kAddSeed);
  const std::string weight = elements_of(c.dtype, c.row, kWeightSeed);
  const double tolerance = c.dtype == DType::kF32 ? 2e-6 : c.dtype == DType::kF16 ? 1e-3 : 8e-3;
  for (std::uint64_t row = 0; row < c.rows; ++row) {
    double squares = 0;
    for (std::uint64_t k = row * c.row; k < (row + 1) * c.row; ++k) {
      // The sum of two short floats, or one of f32, is rounded once.
      const auto sum = static_cast<float>(element(c.dtype, sums, k)) +
                       (c.adds ? static_cast<float>(element(c.dtype, add, k)) : 0.0f);
      const double want = decode_float(c.dtype, encode_float(c.dtype, sum));
      ASSERT_EQ(element(c.dtype, got.results, k), want) << "element " << k;
      squares += want * want;
    }
    if (!c.norms) continue;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(c.row) + c.epsilon);
    for (std::uint64_t k = row * c.row; k < (row + 1) * c.row; ++k) {
      const double want =
          element(c.dtype, got.results, k) * scale * element(c.dtype, weight, k % c.row);
      ASSERT_NEAR(element(c.dtype, got.normed, k), want, tolerance * (std::abs(want) + 1e-3))
          << "element " << k;
    }
  }
}

// All ranks must get the bits of the kernel that works alone, and no findings.
void expect_same_by_peers(const Case& c, const Schedule& schedule, int turns = 1) {
  SCOPED_TRACE(text_of(c) + " " + to_string(schedule));
  const Buffers::Contents want = finished(c, device_of(0));
  const auto failures = world::on_ranks(c.ranks, [&](const World& world) {
    const Device device = device_of(world.rank());
    const std::shared_ptr<PeerRank> peer = PeerRank::make(device, world);
    const auto session = device.driver().simulator->begin(
        device.native_context(),
        {.schedule = schedule, .watch = driver::Simulator::Watch::kOn, .alone = true});
    for (int turn = 0; turn < turns; ++turn) {
      const Buffers buffers(device, c, elements_of(c.dtype, c.count(), world.rank()));
      const AllReduce step = {buffers.results(), buffers.results(), c.count(),
                              c.dtype,           ReduceOp::kSum,    buffers.epilogue()};
      enqueue(peer->launch_of(step, c.shots), buffers.stream());
      EXPECT_TRUE(buffers.get() == want) << "rank " << world.rank();
      world.meet("the end of a turn");
    }
    for (const driver::Finding& finding : session->take_findings()) {
      ADD_FAILURE() << to_string(finding.kind) << ": " << finding.message;
    }
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
}

// Rows of a part of a pack, of many packs, and of more than a slot holds.
TEST(EpilogueKernels, IsNearTheExactValues) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const std::uint64_t row : {1ull, 7ull, 128ull, 2048ull, 5000ull, 20000ull}) {
      for (const std::uint64_t offset : {0ull, 4ull}) {
        const Case c{.dtype = dtype, .row = row, .offset = offset};
        SCOPED_TRACE(text_of(c));
        expect_near_exact(c, finished(c, device_of(0)));
      }
    }
    const Case alone[] = {{.dtype = dtype, .norms = false}, {.dtype = dtype, .adds = false}};
    for (const Case& c : alone) expect_near_exact(c, finished(c, device_of(0)));
  }
}

// Places decide which instructions load and store, and no bits.
TEST(EpilogueKernels, DoesNotDependOnPlaces) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::uint64_t row : {128ull, 9000ull}) {
      const Case even{.dtype = dtype, .row = row};
      Case odd = even;
      odd.offset = size_of(dtype);
      EXPECT_TRUE(finished(even, device_of(0)) == finished(odd, device_of(0))) << text_of(odd);
    }
  }
}

TEST(EpilogueKernels, OfNothingButZerosIsFinite) {
  const Case c{.row = 64, .adds = false};
  const Device device = device_of(0);
  const Buffers buffers(device, c, std::string(c.bytes(), '\0'));
  EpilogueKernels kernels(device);
  enqueue(kernels.launch_of({buffers.results(), c.count(), c.dtype, buffers.epilogue()}),
          buffers.stream());
  const std::string normed = buffers.get().normed;
  for (std::uint64_t k = 0; k < c.count(); ++k) EXPECT_EQ(element(c.dtype, normed, k), 0);
}

TEST(Epilogue, HasTheSameBitsByPeers) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const std::uint32_t ranks : {2u, 3u, 4u}) {
      for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
        expect_same_by_peers({.ranks = ranks, .dtype = dtype, .shots = shots}, kSerial);
      }
    }
  }
}

TEST(Epilogue, TakesRowsOfEveryLength) {
  for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
    for (const std::uint64_t row : {1ull, 5ull, 1000ull, 3000ull, 9001ull}) {
      for (const std::uint64_t offset : {0ull, 4ull}) {
        expect_same_by_peers({.shots = shots, .row = row, .offset = offset}, kSerial);
      }
    }
    // More than all slots hold.
    expect_same_by_peers({.dtype = DType::kBF16, .shots = shots, .rows = 70, .row = 8192}, kSerial);
    expect_same_by_peers({.shots = shots, .rows = 300, .norms = false}, kSerial);
    expect_same_by_peers({.shots = shots, .rows = 300, .adds = false}, kSerial);
  }
}

TEST(Epilogue, HasNoRaceUnderAnySchedule) {
  for (const Schedule& schedule : kSchedules) {
    for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
      expect_same_by_peers({.shots = shots, .rows = 5, .row = 600}, schedule, 3);
    }
  }
}

}  // namespace
}  // namespace baton::peer::epilogue_kernels_test
