#include "tvm_ffi/module_object.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "tvm_ffi/failure.h"

// The layout of ModuleObj, and its table of virtual functions. Both are the same in apache-tvm-ffi
// 0.1.0 to 0.1.15 (extra/module.h). No exception leaves a function here: the libraries may have
// other C++ runtimes.

namespace baton::tvm_ffi {
namespace {

// The head of a module: the object proper begins after the table.
struct ModuleHead {
  void* const* table;
  Object object;
  Object* imports;         // Array<Any>
  Object* import_lookups;  // Map<String, Function>
};
static_assert(sizeof(ModuleHead) == 48 && offsetof(ModuleHead, object) == 8);

struct ModuleObject {
  ModuleHead head;
  std::shared_ptr<BundleModule> bundle;
};

// Results of tvm-ffi's types. Their destructors are not trivial, as those of tvm-ffi: that decides
// how a function returns them.
struct ReturnedObject {
  Object* object;       // null: nothing
  ~ReturnedObject() {}  // NOLINT: not trivial by design
};
struct ReturnedAny {
  Any any;
  ~ReturnedAny() {}  // NOLINT: not trivial by design
};

// A text of a module's function; None if there is none.
template <typename Make>
Any text_or_none(const Make& make) noexcept {
  Any result{};
  try {
    const std::optional<std::string> text = make();
    if (!text) return result;
    const ByteArray bytes = byte_array(*text);
    if (runtime().StringFromByteArray(&bytes, &result) != 0) return Any{};
  } catch (...) {
    return Any{};
  }
  return result;
}

enum Property : int { kBinarySerializable = 1, kRunnable = 2 };

// The virtual functions in the order of ModuleObj. `this` is a ModuleObject. Its table takes the
// functions that are empty here from libtvm_ffi itself, which may throw to itself.
class ModuleMethods final {
 public:
  virtual const char* kind() const { return "baton"; }
  virtual int GetPropertyMask() const { return kBinarySerializable | kRunnable; }
  virtual ReturnedObject GetFunction(const Any& name) {
    try {
      if (auto found = find(name)) return {make_function(bundle(), *found).release()};
    } catch (...) {
      // Without memory there is no function.
    }
    return {nullptr};
  }
  virtual bool ImplementsFunction(const Any& name) {
    try {
      return find(name).has_value();
    } catch (...) {
      return false;
    }
  }
  virtual ReturnedAny GetFunctionDoc(const Any& name) {
    return {text_or_none([&]() -> std::optional<std::string> {
      const auto found = find(name);
      if (!found) return std::nullopt;
      return describe_function(bundle()->parts(), *found);
    })};
  }
  virtual ReturnedAny GetFunctionMetadata(const Any& name) {
    return {text_or_none([&]() -> std::optional<std::string> {
      const auto found = find(name);
      if (!found || found->kind == FunctionName::Kind::kKernel) return std::nullopt;
      std::string schema = bundle()->parts().type_schema();
      // A text of JSON inside of JSON.
      std::string quoted;
      for (const char c : schema) {
        if (c == '"') quoted += '\\';
        quoted += c;
      }
      return fmt::format(R"({{"type_schema":"{}"}})", quoted);
    })};
  }
  virtual void WriteToFile(const Any&, const Any&) const {}
  virtual ReturnedObject GetWriteFormats() const { return {nullptr}; }
  virtual ReturnedAny SaveToBytes() const {
    Any result{};
    if (save(result)) return {result};
    // That of libtvm_ffi throws its own error.
    using Save = ReturnedAny (*)(const ModuleMethods*);
    return reinterpret_cast<Save>(runtime().module_vtable[kTableHead + kSaveToBytes])(this);
  }
  virtual ReturnedAny InspectSource(const Any&) const { return {Any{}}; }
  virtual void ImportModule(const void*) {}
  virtual void ClearImports() {}

  static constexpr std::size_t kTableHead = 2;  // offset to the top, type information
  static constexpr std::size_t kFunctions = 12;
  static constexpr std::size_t kSaveToBytes = 8;
  static constexpr std::size_t kOfTvmFfi[] = {6, 7, 9, 10, 11};

 private:
  const std::shared_ptr<BundleModule>& bundle() const {
    return reinterpret_cast<const ModuleObject*>(this)->bundle;
  }
  std::optional<FunctionName> find(const Any& name) const {
    const auto text = text_of(name);
    if (!text) return std::nullopt;
    return find_function(bundle()->parts(), *text);
  }
  bool save(Any& result) const noexcept {
    try {
      const std::string contents = bundle()->bytes();
      const ByteArray bytes = byte_array(contents);
      return runtime().BytesFromByteArray(&bytes, &result) == 0;
    } catch (...) {
      return false;
    }
  }
};

using Table = std::array<void*, ModuleMethods::kTableHead + ModuleMethods::kFunctions>;

Table make_table() {
  const ModuleMethods methods;
  void* const* mine = nullptr;
  std::memcpy(&mine, static_cast<const void*>(&methods), sizeof(mine));
  void* const* const theirs = runtime().module_vtable;
  Table table{};
  // A ModuleObj is what it is to everyone else.
  std::copy_n(theirs, ModuleMethods::kTableHead, table.begin());
  std::copy_n(mine, ModuleMethods::kFunctions, table.begin() + ModuleMethods::kTableHead);
  for (const std::size_t i : ModuleMethods::kOfTvmFfi) {
    table[ModuleMethods::kTableHead + i] = theirs[ModuleMethods::kTableHead + i];
  }
  return table;
}

void delete_module(void* self, int flags) {
  auto* const module =
      reinterpret_cast<ModuleObject*>(static_cast<std::byte*>(self) - offsetof(ModuleHead, object));
  if ((flags & kNoStrongReference) != 0) {
    runtime().ObjectDecRef(module->head.imports);
    runtime().ObjectDecRef(module->head.import_lookups);
    module->bundle.reset();
  }
  if ((flags & kNoWeakReference) != 0) delete module;
}

}  // namespace

ObjectRef make_module(std::shared_ptr<BundleModule> bundle) {
  static const Table table = make_table();
  ObjectRef imports = call_global("ffi.Array"), lookups = call_global("ffi.Map");
  auto* const module = new ModuleObject{{table.data() + ModuleMethods::kTableHead,
                                         {Object::kOneReference, kModule, 0, delete_module},
                                         imports.get(),
                                         lookups.get()},
                                        std::move(bundle)};
  imports.release();
  lookups.release();
  return ObjectRef(&module->head.object);
}

}  // namespace baton::tvm_ffi
