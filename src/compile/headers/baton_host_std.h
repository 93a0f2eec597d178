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

template <typename _T>
struct result_of;
template <typename _F, typename... _A>
struct result_of<_F(_A...)> {
  using type = decltype(declval<_F>()(declval<_A>()...));
};
template <typename _T>
using result_of_t = typename result_of<_T>::type;
// No constant: it would become a variable of the module.
enum piecewise_construct_t { piecewise_construct };

template <typename _T>
struct allocator {};

// All that any container of values has.
template <typename _T>
struct baton_container {
  using value_type = _T;
  using iterator = _T*;
  using const_iterator = const _T*;
  constexpr baton_container() {}
  baton_container(initializer_list<_T>);
  explicit baton_container(size_t);
  template <typename _A>
  baton_container(size_t, const _A&);
  template <typename _A, typename = decltype(*declval<_A>())>
  baton_container(_A, _A);
  size_t size() const;
  size_t capacity() const;
  bool empty() const;
  void clear();
  void reserve(size_t);
  template <typename... _A>
  void resize(_A...);
  template <typename... _A>
  void assign(const _A&...);
  void assign(initializer_list<_T>);
  void shrink_to_fit();
  _T* begin();
  _T* end();
  const _T* begin() const;
  const _T* end() const;
  const _T* cbegin() const;
  const _T* cend() const;
  _T* rbegin() const;
  _T* rend() const;
  _T* data();
  const _T* data() const;
  _T& front();
  _T& back();
  const _T& front() const;
  const _T& back() const;
  _T& top();
  void push(const _T&);
  void pop();
  void push_back(const _T&);
  void push_front(const _T&);
  void pop_back();
  void pop_front();
  template <typename... _A>
  _T& emplace_back(_A&&...);
  template <typename... _A>
  _T* emplace(_A&&...);
  template <typename... _A>
  _T* insert(_A&&...);
  template <typename... _A>
  _T* erase(_A...);
  template <typename _A>
  _T* find(const _A&) const;
  template <typename _A>
  size_t count(const _A&) const;
  template <typename _A>
  void swap(_A&);
};
template <typename _T>
bool operator==(const baton_container<_T>&, const baton_container<_T>&);
template <typename _T>
bool operator!=(const baton_container<_T>&, const baton_container<_T>&);

template <typename _T, typename... More>
struct vector : baton_container<_T> {
  using baton_container<_T>::baton_container;
  constexpr vector() {}
  _T& operator[](size_t);
  const _T& operator[](size_t) const;
  _T& at(size_t);
  const _T& at(size_t) const;
};
template <typename _T, typename... More>
struct deque : vector<_T> {
  using vector<_T>::vector;
  constexpr deque() {}
};
#define BATON_CONTAINER(name)             \
  template <typename _T, typename... More> \
  struct name : baton_container<_T> {      \
    using baton_container<_T>::baton_container; \
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
  template <typename _K, typename _V, typename... More>              \
  struct name : baton_container<pair<const _K, _V>> {                \
    using mapped_type = _V;                                         \
    using baton_container<pair<const _K, _V>>::baton_container;      \
    constexpr name() {}                                            \
    _V& operator[](const _K&);                                       \
    _V& at(const _K&) const;                                         \
  };
BATON_MAP(map)
BATON_MAP(multimap)
BATON_MAP(unordered_map)
#undef BATON_MAP

struct string : vector<char> {
  using size_type = size_t;
  constexpr string() {}
  string(const char*);
  string(const char*, size_t);
  string(size_t, char);
  template <typename _A, typename = decltype(*declval<_A>())>
  string(_A, _A);
  enum : size_t { npos = ~size_t(0) };
  const char* c_str() const;
  size_t length() const;
  template <typename... _A>
  string& append(_A...);
  template <typename... _A>
  size_t find(_A...) const;
  template <typename... _A>
  size_t rfind(_A...) const;
  template <typename... _A>
  size_t find_first_of(_A...) const;
  template <typename... _A>
  size_t find_last_of(_A...) const;
  template <typename... _A>
  string substr(_A...) const;
  template <typename... _A>
  string& replace(_A...);
  template <typename... _A>
  string& insert(_A...);
  template <typename... _A>
  string& erase(_A...);
  template <typename... _A>
  int compare(_A...) const;
  template <typename _A>
  string& operator+=(const _A&);
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
template <typename _A>
string to_string(const _A&);
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
  template <typename... _A>
  explicit baton_stream(const _A&...);
  template <typename... _A>
  void open(const _A&...);
  bool is_open() const;
  void close();
  bool good() const;
  bool fail() const;
  bool eof() const;
  bool bad() const;
  explicit operator bool() const;
  bool operator!() const;
  template <typename... _A>
  baton_stream& read(_A...);
  template <typename... _A>
  baton_stream& write(_A...);
  template <typename... _A>
  baton_stream& getline(_A...);
  template <typename... _A>
  baton_stream& ignore(_A...);
  template <typename... _A>
  int get(_A&...);
  int peek();
  template <typename... _A>
  baton_stream& seekg(_A...);
  template <typename... _A>
  baton_stream& seekp(_A...);
  size_t tellg();
  size_t gcount();
  baton_stream& flush();
  template <typename... _A>
  int precision(_A...);
  template <typename... _A>
  int width(_A...);
  template <typename... _A>
  int setf(_A...);
  string str() const;
  void str(const string&);
  void clear();
  template <typename _A>
  baton_stream& operator<<(const _A&);
  baton_stream& operator<<(baton_stream& (*)(baton_stream&));
  template <typename _A>
  baton_stream& operator>>(_A&);
};
template <typename _T>
struct char_traits {};
template <typename _T, typename Traits = char_traits<_T>>
struct basic_ostream : baton_stream {};
template <typename _T, typename Traits = char_traits<_T>>
struct basic_istream : baton_stream {};
template <typename _T, typename... More>
struct basic_ostringstream : baton_stream {};
template <typename _T, typename... More>
struct basic_istringstream : baton_stream {};
template <typename _T, typename... More>
struct basic_stringstream : baton_stream {};
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

template <typename _T, typename... More>
struct unique_ptr {
  constexpr unique_ptr() {}
  constexpr unique_ptr(decltype(nullptr)) {}
  explicit unique_ptr(_T*);
  template <typename _A>
  unique_ptr(_T*, _A);
  _T* get() const;
  _T* release();
  void reset(_T* = nullptr);
  _T& operator*() const;
  _T* operator->() const;
  _T& operator[](size_t) const;
  explicit operator bool() const;
};
template <typename _T, typename... More>
struct unique_ptr<_T[], More...> : unique_ptr<_T> {
  using unique_ptr<_T>::unique_ptr;
};
template <typename _T>
struct shared_ptr : unique_ptr<_T> {
  using unique_ptr<_T>::unique_ptr;
};
template <typename _T>
bool operator==(const unique_ptr<_T>&, decltype(nullptr));
template <typename _T>
bool operator!=(const unique_ptr<_T>&, decltype(nullptr));
template <typename _T, typename... _A>
unique_ptr<_T> make_unique(_A&&...);
template <typename _T, typename... _A>
shared_ptr<_T> make_shared(_A&&...);

template <typename Iterator, typename... _A>
void sort(Iterator, Iterator, _A...);
template <typename Iterator, typename... _A>
void stable_sort(Iterator, Iterator, _A...);
template <typename Iterator, typename... _A>
void nth_element(Iterator, Iterator, Iterator, _A...);
template <typename Iterator, typename _A>
void generate(Iterator, Iterator, _A);
template <typename Iterator, typename _A>
void for_each(Iterator, Iterator, _A);
template <typename Iterator, typename... _A>
void shuffle(Iterator, Iterator, _A&&...);
template <typename Iterator>
void random_shuffle(Iterator, Iterator);
template <typename Iterator, typename _A, typename... More>
_A partial_sum(Iterator, Iterator, _A, More...);
template <typename Iterator, typename _A>
_A reverse_copy(Iterator, Iterator, _A);
template <typename Iterator, typename _A>
Iterator find_if(Iterator, Iterator, _A);
template <typename Iterator>
void reverse(Iterator, Iterator);
template <typename Iterator, typename _A>
Iterator find(Iterator, Iterator, const _A&);
template <typename Iterator, typename _A>
ptrdiff_t count(Iterator, Iterator, const _A&);
template <typename Iterator, typename _A>
Iterator fill_n(Iterator, size_t, const _A&);
template <typename _A, typename Iterator>
Iterator copy_n(_A, size_t, Iterator);
template <typename _A, typename _B, typename... More>
_B transform(_A, _A, _B, More...);
template <typename _A, typename _B, typename... More>
bool equal(_A, _A, _B, More...);
template <typename Iterator, typename... _A>
Iterator max_element(Iterator, Iterator, _A...);
template <typename Iterator, typename... _A>
Iterator min_element(Iterator, Iterator, _A...);
template <typename Iterator, typename... _A>
Iterator unique(Iterator, Iterator, _A...);
template <typename Iterator, typename _A>
Iterator lower_bound(Iterator, Iterator, const _A&);
template <typename Iterator, typename _A>
Iterator upper_bound(Iterator, Iterator, const _A&);
template <typename _A>
auto begin(_A& all) -> decltype(all.begin());
template <typename _A>
auto end(_A& all) -> decltype(all.end());
template <typename _A>
ptrdiff_t distance(_A, _A);

struct random_device {
  constexpr random_device() {}
  unsigned operator()();
};
struct default_random_engine {
  constexpr default_random_engine() {}
  template <typename _A>
  explicit default_random_engine(_A);
  unsigned operator()();
  void seed(unsigned);
  static constexpr unsigned min() { return 0; }
  static constexpr unsigned max() { return ~0u; }
};
using mt19937 = default_random_engine;
using mt19937_64 = default_random_engine;
using minstd_rand = default_random_engine;
#define BATON_DISTRIBUTION(name, otherwise)  \
  template <typename _T = otherwise>          \
  struct name {                              \
    constexpr name() {}                      \
    explicit name(_T);                        \
    name(_T, _T);                              \
    template <typename _A>                    \
    _T operator()(_A&);                        \
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
template <typename _T, typename Period = ratio<1>>
struct duration {
  constexpr duration() {}
  template <typename _A>
  constexpr duration(const _A&) {}
  _T count() const;
};
template <typename _A, typename _B>
duration<double> operator-(const _A&, const _B&);
template <typename _A, typename _P, typename _B>
double operator/(const duration<_A, _P>&, const _B&);
template <typename _A, typename _P, typename _B>
bool operator<(const duration<_A, _P>&, const _B&);
using nanoseconds = duration<long long, nano>;
using microseconds = duration<long long, micro>;
using milliseconds = duration<long long, milli>;
using seconds = duration<long long>;
template <typename... _A>
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
template <typename To, typename _A>
To duration_cast(const _A&);
}  // namespace chrono

enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
template <typename _T>
struct atomic {
  _T baton_value;
  constexpr atomic() : baton_value() {}
  constexpr atomic(_T value) : baton_value(value) {}
  template <typename... _A>
  _T load(_A...) const;
  template <typename... _A>
  void store(_T, _A...);
  template <typename... _A>
  _T fetch_add(_T, _A...);
  template <typename... _A>
  _T fetch_sub(_T, _A...);
  template <typename... _A>
  _T exchange(_T, _A...);
  template <typename... _A>
  bool compare_exchange_strong(_T&, _T, _A...);
  template <typename... _A>
  bool compare_exchange_weak(_T&, _T, _A...);
  _T operator=(_T);
  _T operator++();
  _T operator++(int);
  operator _T() const;
};
using atomic_bool = atomic<bool>;
using atomic_char = atomic<char>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_size_t = atomic<size_t>;
struct nullopt_t {};
constexpr nullopt_t nullopt;
template <typename _T>
struct optional {
  constexpr optional() {}
  constexpr optional(nullopt_t) {}
  optional(const _T&);
  bool has_value() const;
  _T& value() const;
  _T value_or(const _T&) const;
  _T& operator*() const;
  _T* operator->() const;
  explicit operator bool() const;
};

struct mutex {
  constexpr mutex() {}
  void lock();
  void unlock();
};
template <typename _A>
struct lock_guard {
  explicit lock_guard(_A&);
};
struct thread {
  constexpr thread() {}
  template <typename... _A>
  explicit thread(_A&&...);
  void join();
  void detach();
};
template <typename _F>
struct function;
template <typename _R, typename... _A>
struct function<_R(_A...)> {
  constexpr function() {}
  template <typename _F>
  function(_F);
  _R operator()(_A...) const;
  explicit operator bool() const;
};

}  // namespace std
#endif
