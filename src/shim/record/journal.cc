#include "shim/record/journal.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <utility>

#include "base/hash/hash.h"

namespace baton::recorder {
namespace {

using record::ChunkHeader;
using record::EventHeader;
using record::RecordHeader;

// The file of this process. `g_generation` counts the processes that fork made of this one: what a
// thread has mapped of another is not its own.
std::mutex g_mutex;
std::atomic<std::uint32_t> g_generation{1};
std::atomic<std::uint64_t> g_order{1};
std::atomic<bool> g_stopped{false};
int g_file = -1;
RecordHeader* g_header = nullptr;
std::uint32_t g_threads = 0;
std::uint64_t g_chunks = 0;
bool g_has_names = false;
std::string* g_path = nullptr;  // of the file
void (*g_write_names)() = nullptr;
std::string* g_driver = nullptr;
int g_driver_version = 0;

struct Writer {
  char* chunk = nullptr;
  std::uint32_t used = 0;
  std::uint32_t generation = 0;
  std::uint32_t thread = 0;
};
// Has no destructor: the CUDA runtime unloads its libraries when those of the thread have run.
thread_local Writer t_writer;

// Gives the chunk back when the thread ends. What the thread notes after that begins another one.
// The writer is an object of its own, as compilers drop what a destructor stores in its own object.
struct ChunkOfThread {
  bool is_used = false;
  ~ChunkOfThread() {
    if (t_writer.chunk != nullptr) munmap(t_writer.chunk, record::kChunkBytes);
    t_writer = {};
  }
};
thread_local ChunkOfThread t_chunk;

// Recording ends here, the program goes on: `failure` is the system's reason.
void stop(int failure) {
  if (g_stopped.exchange(true)) return;
  if (g_header != nullptr) g_header->stopped = static_cast<std::uint32_t>(failure);
  std::fprintf(stderr, "baton record: recording stops: %s: %s\n", record_folder().c_str(),
               std::strerror(failure));
}

void after_fork() {
  // The file is the parent's.
  if (g_file >= 0) close(g_file);
  g_file = -1;
  if (g_header != nullptr) munmap(g_header, record::kHeaderBytes);
  g_header = nullptr;
  g_threads = 0;
  g_chunks = 0;
  g_has_names = false;
  g_order = 1;
  ++g_generation;
}

// Room that the disk certainly has: a write to memory whose page has none would end the process.
void* map_room(std::uint64_t offset, std::uint64_t bytes) {
  if (const int failure =
          posix_fallocate(g_file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
      failure != 0) {
    stop(failure);
    return nullptr;
  }
  void* const room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g_file, static_cast<off_t>(offset));
  if (room == MAP_FAILED) {
    stop(errno);
    return nullptr;
  }
  return room;
}

void copy_text(std::span<char> to, std::string_view from) {
  const std::size_t size = std::min(from.size(), to.size() - 1);
  std::memcpy(to.data(), from.data(), size);
  to[size] = '\0';
}

// With the mutex held.
bool open_file() {
  if (g_file >= 0) return true;
  static const bool once = [] {
    pthread_atfork([] { g_mutex.lock(); }, [] { g_mutex.unlock(); },
                   [] {
                     after_fork();
                     g_mutex.unlock();
                   });
    return true;
  }();
  static_cast<void>(once);
  std::string path;
  for (unsigned attempt = 0;; ++attempt) {
    path = record_folder() + "/" + std::to_string(getpid()) +
           (attempt == 0 ? "" : "-" + std::to_string(attempt)) + record::kEventsEnding;
    g_file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (g_file >= 0) break;
    // An earlier process had the number, or this one was another program before.
    if (errno != EEXIST || attempt == 1000) {
      stop(errno);
      return false;
    }
  }
  auto* const header = static_cast<RecordHeader*>(map_room(0, record::kHeaderBytes));
  if (header == nullptr) return false;
  std::memset(static_cast<void*>(header), 0, record::kHeaderBytes);
  header->version = record::kVersion;
  header->header_bytes = record::kHeaderBytes;
  header->chunk_bytes = record::kChunkBytes;
  header->process = static_cast<std::uint32_t>(getpid());
  header->driver_version = static_cast<std::uint32_t>(g_driver_version);
  if (g_driver != nullptr) copy_text(header->driver, *g_driver);
  char program[sizeof header->program];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size > 0) copy_text(header->program, {program, static_cast<std::size_t>(size)});
  std::memcpy(header->magic, record::kMagic, sizeof header->magic);
  g_header = header;
  delete g_path;
  g_path = new std::string(path);
  return true;
}

bool new_chunk(Writer& writer) {
  bool is_first = false;
  {
    const std::lock_guard lock(g_mutex);
    if (g_stopped || !open_file()) return false;
    is_first = !std::exchange(g_has_names, true);
    const std::uint32_t generation = g_generation;
    if (writer.generation != generation) writer.thread = ++g_threads;
    if (writer.chunk != nullptr) munmap(writer.chunk, record::kChunkBytes);
    writer.generation = generation;
    writer.chunk = static_cast<char*>(
        map_room(record::kHeaderBytes + g_chunks * record::kChunkBytes, record::kChunkBytes));
    if (writer.chunk == nullptr) {
      writer.generation = 0;
      return false;
    }
    ++g_chunks;
    t_chunk.is_used = true;  // so that its destructor runs
    writer.used = sizeof(ChunkHeader);
    auto* const header = reinterpret_cast<ChunkHeader*>(writer.chunk);
    *header = {0, writer.thread, writer.used, 0};
    std::atomic_ref(header->magic).store(record::kChunkMagic, std::memory_order_release);
  }
  if (is_first && g_write_names != nullptr) g_write_names();
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

// A file that is there is whole: it gets its name at the end.
int write_image(const std::string& path, std::string_view bytes) {
  if (access(path.c_str(), F_OK) == 0) return 0;
  const std::string part =
      path + "." + std::to_string(getpid()) + "." + std::to_string(next_order()) + ".part";
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int failure = write_all(file, bytes) ? 0 : errno;
  if (close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && rename(part.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) unlink(part.c_str());
  return failure;
}

}  // namespace

const std::string& record_folder() {
  static const auto& folder = *[] {
    const char* const value = std::getenv("BATON_RECORD");
    return new std::string(value == nullptr ? "" : value);
  }();
  return folder;
}

std::uint64_t next_order() {
  return g_order.fetch_add(1, std::memory_order_relaxed);
}

EventHeader* note(record::EventKind kind, std::uint32_t function, std::uint64_t order,
                  std::int32_t result, std::initializer_list<EventPart> parts,
                  std::string_view text) {
  text = text.substr(0, 4096);
  std::uint32_t size = sizeof(EventHeader);
  for (const EventPart& part : parts) size += part.size;
  size = (size + static_cast<std::uint32_t>(text.size()) + 7U) & ~7U;
  Writer& writer = t_writer;
  if (writer.chunk == nullptr ||
      writer.generation != g_generation.load(std::memory_order_relaxed) ||
      writer.used + size > record::kChunkBytes) {
    if (g_stopped.load(std::memory_order_relaxed) ||
        sizeof(ChunkHeader) + size > record::kChunkBytes || !new_chunk(writer)) {
      return nullptr;
    }
  }
  char* at = writer.chunk + writer.used;
  auto* const event = reinterpret_cast<EventHeader*>(at);
  *event = {size, kind, static_cast<std::uint16_t>(text.size()), order, function, result};
  at += sizeof(EventHeader);
  for (const EventPart& part : parts) {
    if (part.size != 0) std::memcpy(at, part.bytes, part.size);
    at += part.size;
  }
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  writer.used += size;
  std::atomic_ref(reinterpret_cast<ChunkHeader*>(writer.chunk)->used)
      .store(writer.used, std::memory_order_release);
  return event;
}

void remark(std::string_view text) {
  note(record::EventKind::kRemark, 0, next_order(), 0, {}, text);
}

void name_driver(std::string_view library, int version) {
  g_driver = new std::string(library);
  g_driver_version = version;
}

record::ImageNote save_image(std::string_view bytes, std::uint64_t module) {
  record::ImageNote saved = {module, bytes.size(), {}};
  const Sha256Digest digest = sha256(bytes);
  const std::string path = record_folder() + "/" + record::kImages + "/" + to_hex(digest);
  if (const int failure = write_image(path, bytes); failure != 0) {
    remark("an image of " + std::to_string(bytes.size()) +
           " bytes is not in the record: " + std::strerror(failure));
    return saved;
  }
  std::copy(digest.begin(), digest.end(), saved.digest);
  return saved;
}

std::string event_file() {
  const std::lock_guard lock(g_mutex);
  return g_stopped || !open_file() ? std::string() : *g_path;
}

void set_names(void (*write_names)()) {
  g_write_names = write_names;
}

}  // namespace baton::recorder
