#include "world/launcher.h"

#include <gtest/gtest.h>

#include <map>

#include "baton/error.h"

namespace baton::world::launcher_test {
namespace {

using Environment = std::map<std::string, std::string>;

std::optional<LaunchedRank> rank_in(const Environment& environment) {
  return launched_rank([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end() || found->second.empty()) return std::nullopt;
    return found->second;
  });
}

std::string refusal_in(const Environment& environment) {
  try {
    rank_in(environment);
  } catch (const Error& failure) {
    return failure.message();
  }
  return "";
}

TEST(LauncherTest, EachLauncherIsKnownByItsVariables) {
  EXPECT_FALSE(rank_in({}));
  auto rank = rank_in({{"OMPI_COMM_WORLD_RANK", "1"},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                       {"OMPI_MCA_ess_base_jobid", "1286471681"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "mpirun");
  EXPECT_EQ(rank->rank, 1u);
  EXPECT_EQ(rank->ranks, 4u);
  EXPECT_EQ(rank->local_rank, 1u);
  EXPECT_EQ(rank->host, "127.0.0.1");
  rank = rank_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"PMI_PORT", "host:40001"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "mpiexec");
  EXPECT_EQ(rank->rank, 2u);
  rank = rank_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_LOCALID", "0"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "srun");
  rank = rank_in({{"RANK", "3"},
                  {"WORLD_SIZE", "8"},
                  {"LOCAL_RANK", "1"},
                  {"LOCAL_WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "node1"},
                  {"MASTER_PORT", "29500"},
                  {"SLURM_PROCID", "1"},
                  {"SLURM_STEP_NUM_TASKS", "4"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "torchrun");
  EXPECT_EQ(rank->ranks, 8u);
  EXPECT_EQ(rank->local_rank, 1u);
  EXPECT_EQ(rank->host, "node1");
  EXPECT_EQ(rank->port, 29500);
}

// torchrun's own store listens at MASTER_PORT.
TEST(LauncherTest, RanksOfTorchrunMeetBesideItsStore) {
  const auto rank = rank_in({{"RANK", "0"},
                             {"WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_EQ(rank->port, 29501);
}

// A batch script has the variables of its first task.
TEST(LauncherTest, ASlurmBatchScriptIsNoRank) {
  EXPECT_FALSE(rank_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
}

TEST(LauncherTest, RunsOfOneMachineMeetAtPortsOfTheirOwn) {
  const auto port = [](const std::string& job) {
    return rank_in({{"OMPI_COMM_WORLD_RANK", "0"},
                    {"OMPI_COMM_WORLD_SIZE", "2"},
                    {"OMPI_MCA_ess_base_jobid", job}})
        ->port;
  };
  EXPECT_EQ(port("1"), port("1"));
  EXPECT_NE(port("1"), port("2"));
}

TEST(LauncherTest, AnEnvironmentThatMakesNoSenseIsRefused) {
  EXPECT_EQ(refusal_in({{"RANK", "two"}, {"WORLD_SIZE", "2"}}),
            "the environment has RANK = \"two\"; it must be a number from 0 to 1024");
  EXPECT_EQ(
      refusal_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
      "the environment has RANK = 2 and WORLD_SIZE = 2; ranks count from 0, so the rank must be "
      "less than their number");
  EXPECT_EQ(refusal_in({{"OMPI_COMM_WORLD_RANK", "0"},
                        {"OMPI_COMM_WORLD_SIZE", "4"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            "mpirun started 4 ranks, 2 of them on this machine; set MASTER_ADDR to the address of "
            "the machine of rank 0, and MASTER_PORT to a free port there");
  EXPECT_EQ(refusal_in({{"RANK", "0"},
                        {"WORLD_SIZE", "2"},
                        {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", "70000"}}),
            "the environment has MASTER_PORT = \"70000\"; it must be a number from 1 to 65534");
  EXPECT_EQ(refusal_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "0"}}),
            "the environment has MASTER_PORT = \"0\"; it must be a number from 1 to 65534");
  EXPECT_EQ(
      refusal_in(
          {{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "2"}}),
      "the environment has LOCAL_RANK = 2 and LOCAL_WORLD_SIZE = 2; ranks count from 0, so the "
      "rank must be less than their number");
}

// Each of them would run alone, and write the files of all.
TEST(LauncherTest, HalfARankIsRefused) {
  EXPECT_EQ(refusal_in({{"RANK", "1"}}),
            "the environment has RANK = \"1\" and no WORLD_SIZE; set both in each of several "
            "ranks, or neither in a run of one");
  EXPECT_EQ(refusal_in({{"WORLD_SIZE", "2"}, {"RANK", ""}}),
            "the environment has WORLD_SIZE = \"2\" and no RANK; set both in each of several "
            "ranks, or neither in a run of one");
  EXPECT_NE(refusal_in({{"OMPI_COMM_WORLD_SIZE", "2"}}), "");
  EXPECT_NE(refusal_in({{"PMI_RANK", "0"}}), "");
  EXPECT_NE(refusal_in({{"SLURM_STEP_NUM_TASKS", "2"}}), "");
  // mpirun tells all that is needed.
  const auto rank =
      rank_in({{"RANK", "0"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->rank, 1u);
}

// RANK and WORLD_SIZE that were left from a run of one make each process of mpirun a run of one.
TEST(LauncherTest, VariablesOfAnEarlierRunAreRefused) {
  const Environment two = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  Environment left = two;
  left.insert({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_EQ(refusal_in(left),
            "the environment has WORLD_SIZE = 1 and OMPI_COMM_WORLD_SIZE = 2; for the ranks of "
            "mpirun, unset RANK and WORLD_SIZE");
  // A process of torchrun that mpirun started is a rank of torchrun's.
  left.insert({"TORCHELASTIC_RUN_ID", "none"});
  EXPECT_EQ(rank_in(left)->ranks, 1u);
  // A script may give its processes more ranks than srun gave it.
  Environment more = {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  more.insert({{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(rank_in(more)->ranks, 16u);
}

}  // namespace
}  // namespace baton::world::launcher_test
