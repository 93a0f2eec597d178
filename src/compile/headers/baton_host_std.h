#pragma once
// What the host parts of a .cu file use of C++'s library, declared and never defined. Without host
// code these headers hold nothing: their use in device code is an error then, as it should be.
// Default constructors are constexpr, as variables without a mark become __device__ variables,
// which nothing constructs.
#ifdef BATON_HOST_CODE
#include <stddef.h>
#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

namespace std {

using ::abort;
using ::atof;
using ::atoi;
using ::calloc;
using ::exit;
using ::fclose;
using ::fflush;
using ::fopen;
using ::fprintf;
using ::getenv;
using ::memcmp;
using ::memmove;
using ::rand;
using ::realloc;
using ::snprintf;
using ::sprintf;
using ::srand;
using ::sscanf;
using ::strcmp;
using ::strlen;
using ::strncmp;
using ::strtol;
using ::time;

template <typename T>
struct allocator {};

// All that any container of values has.
template <typename T>
struct baton_container {
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  constexpr baton_container() {}
  baton_container(initializer_list<T>);
  explicit baton_container(size_t);
  template <typename A>
  baton_container(size_t, const A&);
  template <typename A, typename = decltype(*declval<A>())>
  baton_container(A, A);
  size_t size() const;
  size_t capacity() const;
  bool empty() const;
  void clear();
  void reserve(size_t);
  template <typename... A>
  void resize(A...);
  template <typename... A>
  void assign(const A&...);
  void assign(initializer_list<T>);
  void shrink_to_fit();
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
  const T* cbegin() const;
  const T* cend() const;
  T* rbegin() const;
  T* rend() const;
  T* data();
  const T* data() const;
  T& front();
  T& back();
  const T& front() const;
  const T& back() const;
  T& top();
  void push(const T&);
  void pop();
  void push_back(const T&);
  void push_front(const T&);
  void pop_back();
  void pop_front();
  template <typename... A>
  T& emplace_back(A&&...);
  template <typename... A>
  T* emplace(A&&...);
  template <typename... A>
  T* insert(A&&...);
  template <typename... A>
  T* erase(A...);
  template <typename A>
  T* find(const A&) const;
  template <typename A>
  size_t count(const A&) const;
  template <typename A>
  void swap(A&);
};
template <typename T>
bool operator==(const baton_container<T>&, const baton_container<T>&);
template <typename T>
bool operator!=(const baton_container<T>&, const baton_container<T>&);

template <typename T, typename... More>
struct vector : baton_container<T> {
  using baton_container<T>::baton_container;
  constexpr vector() {}
  T& operator[](size_t);
  const T& operator[](size_t) const;
  T& at(size_t);
  const T& at(size_t) const;
};
template <typename T, typename... More>
struct deque : vector<T> {
  using vector<T>::vector;
  constexpr deque() {}
};
#define BATON_CONTAINER(name)             \
  template <typename T, typename... More> \
  struct name : baton_container<T> {      \
    using baton_container<T>::baton_container; \
    constexpr name() {}                   \
  };
BATON_CONTAINER(list)
BATON_CONTAINER(forward_list)
BATON_CONTAINER(queue)
BATON_CONTAINER(priority_queue)
BATON_CONTAINER(stack)
BATON_CONTAINER(set)
BATON_CONTAINER(multiset)
BATON_CONTAINER(unordered_set)
#undef BATON_CONTAINER
#define BATON_MAP(name)                                            \
  template <typename K, typename V, typename... More>              \
  struct name : baton_container<pair<const K, V>> {                \
    using mapped_type = V;                                         \
    using baton_container<pair<const K, V>>::baton_container;      \
    constexpr name() {}                                            \
    V& operator[](const K&);                                       \
    V& at(const K&) const;                                         \
  };
BATON_MAP(map)
BATON_MAP(multimap)
BATON_MAP(unordered_map)
#undef BATON_MAP

struct string : vector<char> {
  constexpr string() {}
  string(const char*);
  string(const char*, size_t);
  string(size_t, char);
  template <typename A, typename = decltype(*declval<A>())>
  string(A, A);
  enum : size_t { npos = ~size_t(0) };
  const char* c_str() const;
  size_t length() const;
  template <typename... A>
  string& append(A...);
  template <typename... A>
  size_t find(A...) const;
  template <typename... A>
  size_t rfind(A...) const;
  template <typename... A>
  size_t find_first_of(A...) const;
  template <typename... A>
  size_t find_last_of(A...) const;
  template <typename... A>
  string substr(A...) const;
  template <typename... A>
  int compare(A...) const;
  template <typename A>
  string& operator+=(const A&);
};
using string_view = string;
string operator+(const string&, const string&);
string operator+(const string&, const char*);
string operator+(const char*, const string&);
string operator+(const string&, char);
bool operator==(const string&, const string&);
bool operator==(const string&, const char*);
bool operator!=(const string&, const string&);
bool operator!=(const string&, const char*);
bool operator<(const string&, const string&);
template <typename A>
string to_string(const A&);
int stoi(const string&);
long stol(const string&);
long long stoll(const string&);
unsigned long stoul(const string&);
float stof(const string&);
double stod(const string&);

// All that any stream has.
struct ios_base {
  using openmode = int;
  using fmtflags = int;
  // No static members: they would become variables of the module.
  enum : openmode { in = 1, out = 2, binary = 4, app = 8, ate = 16, trunc = 32 };
  enum : int { beg, cur, end };
  enum : fmtflags { fixed = 1, scientific = 2, left = 4, right = 8 };
};
struct baton_stream : ios_base {
  constexpr baton_stream() {}
  template <typename... A>
  explicit baton_stream(const A&...);
  template <typename... A>
  void open(const A&...);
  bool is_open() const;
  void close();
  bool good() const;
  bool fail() const;
  bool eof() const;
  bool bad() const;
  explicit operator bool() const;
  bool operator!() const;
  template <typename... A>
  baton_stream& read(A...);
  template <typename... A>
  baton_stream& write(A...);
  template <typename... A>
  baton_stream& getline(A...);
  template <typename... A>
  baton_stream& ignore(A...);
  template <typename... A>
  int get(A&...);
  int peek();
  template <typename... A>
  baton_stream& seekg(A...);
  template <typename... A>
  baton_stream& seekp(A...);
  size_t tellg();
  size_t gcount();
  baton_stream& flush();
  template <typename... A>
  int precision(A...);
  template <typename... A>
  int width(A...);
  template <typename... A>
  int setf(A...);
  string str() const;
  void str(const string&);
  void clear();
  template <typename A>
  baton_stream& operator<<(const A&);
  baton_stream& operator<<(baton_stream& (*)(baton_stream&));
  template <typename A>
  baton_stream& operator>>(A&);
};
using ios = ios_base;
using ostream = baton_stream;
using istream = baton_stream;
using iostream = baton_stream;
using ofstream = baton_stream;
using ifstream = baton_stream;
using fstream = baton_stream;
using ostringstream = baton_stream;
using istringstream = baton_stream;
using stringstream = baton_stream;
using streamsize = ptrdiff_t;
using streampos = ptrdiff_t;
static baton_stream cout, cerr, clog, cin;
baton_stream& endl(baton_stream&);
baton_stream& flush(baton_stream&);
baton_stream& fixed(baton_stream&);
baton_stream& scientific(baton_stream&);
baton_stream& left(baton_stream&);
baton_stream& right(baton_stream&);
baton_stream& hex(baton_stream&);
baton_stream& dec(baton_stream&);
baton_stream& boolalpha(baton_stream&);
baton_stream& getline(baton_stream&, string&);
baton_stream& getline(baton_stream&, string&, char);
int setw(int);
int setprecision(int);
int setfill(char);

struct exception {
  constexpr exception() {}
  virtual const char* what() const noexcept;
};
#define BATON_EXCEPTION(name, base) \
  struct name : base {              \
    explicit name(const string&);   \
    explicit name(const char*);     \
  };
struct baton_exception : exception {
  constexpr baton_exception() {}
};
BATON_EXCEPTION(runtime_error, baton_exception)
BATON_EXCEPTION(logic_error, baton_exception)
BATON_EXCEPTION(invalid_argument, baton_exception)
BATON_EXCEPTION(out_of_range, baton_exception)
BATON_EXCEPTION(domain_error, baton_exception)
BATON_EXCEPTION(overflow_error, baton_exception)
#undef BATON_EXCEPTION
struct bad_alloc : exception {};

template <typename T, typename... More>
struct unique_ptr {
  constexpr unique_ptr() {}
  constexpr unique_ptr(decltype(nullptr)) {}
  explicit unique_ptr(T*);
  template <typename A>
  unique_ptr(T*, A);
  T* get() const;
  T* release();
  void reset(T* = nullptr);
  T& operator*() const;
  T* operator->() const;
  T& operator[](size_t) const;
  explicit operator bool() const;
};
template <typename T, typename... More>
struct unique_ptr<T[], More...> : unique_ptr<T> {
  using unique_ptr<T>::unique_ptr;
};
template <typename T>
struct shared_ptr : unique_ptr<T> {
  using unique_ptr<T>::unique_ptr;
};
template <typename T>
bool operator==(const unique_ptr<T>&, decltype(nullptr));
template <typename T>
bool operator!=(const unique_ptr<T>&, decltype(nullptr));
template <typename T, typename... A>
unique_ptr<T> make_unique(A&&...);
template <typename T, typename... A>
shared_ptr<T> make_shared(A&&...);

template <typename Iterator, typename... A>
void sort(Iterator, Iterator, A...);
template <typename Iterator, typename... A>
void stable_sort(Iterator, Iterator, A...);
template <typename Iterator, typename... A>
void nth_element(Iterator, Iterator, Iterator, A...);
template <typename Iterator, typename A>
void generate(Iterator, Iterator, A);
template <typename Iterator, typename A>
void for_each(Iterator, Iterator, A);
template <typename Iterator, typename... A>
void shuffle(Iterator, Iterator, A&&...);
template <typename Iterator>
void random_shuffle(Iterator, Iterator);
template <typename Iterator>
void reverse(Iterator, Iterator);
template <typename Iterator, typename A>
Iterator find(Iterator, Iterator, const A&);
template <typename Iterator, typename A>
ptrdiff_t count(Iterator, Iterator, const A&);
template <typename Iterator, typename A>
Iterator fill_n(Iterator, size_t, const A&);
template <typename A, typename Iterator>
Iterator copy_n(A, size_t, Iterator);
template <typename A, typename B, typename... More>
B transform(A, A, B, More...);
template <typename A, typename B, typename... More>
bool equal(A, A, B, More...);
template <typename Iterator, typename... A>
Iterator max_element(Iterator, Iterator, A...);
template <typename Iterator, typename... A>
Iterator min_element(Iterator, Iterator, A...);
template <typename Iterator, typename... A>
Iterator unique(Iterator, Iterator, A...);
template <typename Iterator, typename A>
Iterator lower_bound(Iterator, Iterator, const A&);
template <typename Iterator, typename A>
Iterator upper_bound(Iterator, Iterator, const A&);
template <typename A>
auto begin(A& all) -> decltype(all.begin());
template <typename A>
auto end(A& all) -> decltype(all.end());
template <typename A>
ptrdiff_t distance(A, A);

struct random_device {
  constexpr random_device() {}
  unsigned operator()();
};
struct default_random_engine {
  constexpr default_random_engine() {}
  template <typename A>
  explicit default_random_engine(A);
  unsigned operator()();
  void seed(unsigned);
  static constexpr unsigned min() { return 0; }
  static constexpr unsigned max() { return ~0u; }
};
using mt19937 = default_random_engine;
using mt19937_64 = default_random_engine;
using minstd_rand = default_random_engine;
#define BATON_DISTRIBUTION(name, otherwise)  \
  template <typename T = otherwise>          \
  struct name {                              \
    constexpr name() {}                      \
    explicit name(T);                        \
    name(T, T);                              \
    template <typename A>                    \
    T operator()(A&);                        \
  };
BATON_DISTRIBUTION(uniform_real_distribution, double)
BATON_DISTRIBUTION(uniform_int_distribution, int)
BATON_DISTRIBUTION(normal_distribution, double)
BATON_DISTRIBUTION(exponential_distribution, double)
#undef BATON_DISTRIBUTION

template <intmax_t n, intmax_t d = 1>
struct ratio {};
using nano = ratio<1, 1000000000>;
using micro = ratio<1, 1000000>;
using milli = ratio<1, 1000>;
namespace chrono {
template <typename T, typename Period = ratio<1>>
struct duration {
  constexpr duration() {}
  template <typename A>
  constexpr duration(const A&) {}
  T count() const;
};
template <typename A, typename B>
duration<double> operator-(const A&, const B&);
template <typename A, typename P, typename B>
bool operator<(const duration<A, P>&, const B&);
using nanoseconds = duration<long long, nano>;
using microseconds = duration<long long, micro>;
using milliseconds = duration<long long, milli>;
using seconds = duration<long long>;
template <typename... A>
struct time_point {
  constexpr time_point() {}
  nanoseconds time_since_epoch() const;
};
struct steady_clock {
  using duration = nanoseconds;
  using time_point = chrono::time_point<steady_clock>;
  static time_point now();
};
using high_resolution_clock = steady_clock;
using system_clock = steady_clock;
template <typename To, typename A>
To duration_cast(const A&);
}  // namespace chrono

template <typename T>
struct atomic {
  constexpr atomic() {}
  template <typename A>
  constexpr atomic(A) {}
  template <typename... A>
  T load(A...) const;
  template <typename... A>
  void store(T, A...);
  template <typename... A>
  T fetch_add(T, A...);
  T operator++();
  T operator++(int);
  operator T() const;
};
struct nullopt_t {};
constexpr nullopt_t nullopt;
template <typename T>
struct optional {
  constexpr optional() {}
  constexpr optional(nullopt_t) {}
  optional(const T&);
  bool has_value() const;
  T& value() const;
  T value_or(const T&) const;
  T& operator*() const;
  T* operator->() const;
  explicit operator bool() const;
};

struct mutex {
  constexpr mutex() {}
  void lock();
  void unlock();
};
template <typename A>
struct lock_guard {
  explicit lock_guard(A&);
};
struct thread {
  constexpr thread() {}
  template <typename... A>
  explicit thread(A&&...);
  void join();
  void detach();
};
template <typename F>
struct function;
template <typename R, typename... A>
struct function<R(A...)> {
  constexpr function() {}
  template <typename F>
  function(F);
  R operator()(A...) const;
  explicit operator bool() const;
};

}  // namespace std
#endif
