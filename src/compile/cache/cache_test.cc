#include <gtest/gtest.h>

#include <map>

#include "compile/cache/cache_case.h"
#include "compile/cache/cache_entry.h"

namespace baton::compiler::cache_test {
namespace {

TEST_F(CacheTest, GivesBackWhatWasStored) {
  EXPECT_FALSE(cache_.find(kKey));
  cache_.store(kKey, sample());
  const auto found = cache_.find(kKey);
  ASSERT_TRUE(found);
  expect_equal(*found, sample());
  EXPECT_FALSE(cache_.find(std::string(64, 'b')));
}

// Names, bytes and times of everything in a folder.
std::map<fs::path, std::pair<std::string, fs::file_time_type>> snapshot(const fs::path& folder) {
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    all[entry.path()] = {entry.is_regular_file() ? read_file(entry.path()) : "",
                         entry.last_write_time()};
  }
  return all;
}

TEST_F(CacheTest, ReadsLayersAndNeverWritesThem) {
  const fs::path first = folder_.path() / "first";
  const fs::path second = folder_.path() / "second";
  Cache(CacheSettings{first}).store(key_of(1), sample());
  for (int number : {1, 2}) Cache(CacheSettings{second}).store(key_of(number), sample());
  // One entry of the upper layer is damaged, which the lower one has whole.
  const fs::path damaged = first / "00" / (key_of(1) + ".entry");
  write_file_atomically(damaged, read_file(damaged).substr(0, 200));
  const auto before = std::pair(snapshot(first), snapshot(second));

  const Cache cache(CacheSettings{cache_.directory(), {first, second, folder_.path() / "none"}});
  const auto made = [] { return Cache::Made{sample(), true}; };
  const auto never = []() -> Cache::Made { throw std::logic_error("it is in a layer"); };
  EXPECT_TRUE(cache.get(key_of(1), never).hit);
  EXPECT_TRUE(cache.get(key_of(2), never).hit);
  expect_equal(*cache.find(key_of(2)), sample());
  EXPECT_FALSE(cache.get(key_of(3), made).hit);
  EXPECT_TRUE(cache.get(key_of(3), never).hit);
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.counters().hits, 3u);
  cache.clear();
  EXPECT_EQ(std::pair(snapshot(first), snapshot(second)), before);
}

TEST_F(CacheTest, CopiesWholeEntries) {
  for (int number : {1, 2, 3, 4}) cache_.store(key_of(number), sample());
  write_file_atomically(path_of(3), read_file(path_of(3)).substr(0, 300));
  const Cache other(CacheSettings{folder_.path() / "other"});
  other.store(key_of(4), sample());
  const Cache::Copied copied = other.import_from(cache_);
  EXPECT_EQ(copied.entries, 2u);
  EXPECT_EQ(copied.known, 1u);
  EXPECT_EQ(copied.damaged, 1u);
  EXPECT_EQ(other.list().size(), 3u);
  EXPECT_TRUE(other.verify().damaged.empty());
  expect_equal(*other.find(key_of(2)), sample());
  EXPECT_EQ(other.import_from(cache_).known, 3u);
}

TEST_F(CacheTest, ListsAndClears) {
  cache_.store(kKey, sample());
  cache_.store(std::string(64, 'b'), sample());
  const auto entries = cache_.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "norm.cu");
  EXPECT_EQ(entries[0].arch, "sm_90a");
  EXPECT_EQ(entries[0].entries, sample().entries);
  EXPECT_EQ(entries[0].seconds, 0.125);
  EXPECT_EQ(entries[0].size, fs::file_size(entries[0].path));
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.clear(), 2u);
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_EQ(cache_.clear(), 0u);
}

TEST_F(CacheTest, AnEmptyFolderIsAnEmptyCache) {
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.clear(), 0u);
}

TEST_F(CacheTest, AnEntryWithManyNamesIsListed) {
  Result result = sample();
  result.name = std::string(100'000, 'n');
  for (int i = 0; i < 2'000; ++i) result.entries.push_back(std::string(110, 'x'));
  result.entries.emplace_back(200'000, 'y');
  ASSERT_TRUE(cache_.store(kKey, result));
  const std::vector<Cache::Entry> listed = cache_.list();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].damage, "");
  EXPECT_EQ(listed[0].entries.front(), "rmsnorm<float>");
  const std::size_t shown = listed[0].entries.size() - 1;
  EXPECT_EQ(listed[0].entries.back(),
            "… and " + std::to_string(result.entries.size() - shown) + " more");
  EXPECT_LT(shown, result.entries.size());
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.find(kKey)->symbols, result.symbols);
  // As many as fit, to the last byte of the bound.
  const std::string bytes = write_entry(result, kKey);
  EXPECT_TRUE(read_summary(std::string_view(bytes).substr(0, kMaxSummary)));
}

TEST(CacheFolder, IsChosenByTheEnvironment) {
  setenv("BATON_CACHE_DIR", "/chosen", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/chosen/compile");
  unsetenv("BATON_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/xdg/baton/compile");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/home/somebody/.cache/baton/compile");
  unsetenv("HOME");
  EXPECT_FALSE(Cache::open_default());
}

TEST(CacheSize, IsChosenByTheEnvironment) {
  setenv("BATON_CACHE_DIR", "/chosen", 1);
  const auto size_for = [](const char* text) {
    setenv("BATON_CACHE_SIZE", text, 1);
    const auto cache = Cache::open_default();
    return cache ? cache->max_bytes() : 0;
  };
  const std::uint64_t otherwise = CacheSettings{}.max_bytes;
  EXPECT_EQ(size_for("4096"), 4096u);
  EXPECT_EQ(size_for("3K"), 3072u);
  EXPECT_EQ(size_for("16G"), std::uint64_t{16} << 30);
  EXPECT_EQ(size_for("0"), 0u);
  LogCapture log;
  for (const char* wrong : {"much", "-1", "1X", "1GB", "99999999999999999999", "99999999T"}) {
    EXPECT_EQ(size_for(wrong), otherwise) << wrong;
  }
  EXPECT_TRUE(log.has("BATON_CACHE_SIZE is \"much\""));
  unsetenv("BATON_CACHE_SIZE");
  EXPECT_EQ(Cache::open_default()->max_bytes(), otherwise);
  unsetenv("BATON_CACHE_DIR");
}

}  // namespace
}  // namespace baton::compiler::cache_test
