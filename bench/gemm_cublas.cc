#include "baton/error.h"
#include "gemm_foreign.h"

#ifdef BATON_BENCH_CUBLAS

#include <cublasLt.h>
#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "base/system/dynamic_library.h"

namespace baton::bench {

namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::kDriver, fmt::format("{} failed with status {}", what, status));
}

// The library as loaded at run time: its entries by name, and one handle.
class Library {
 public:
  explicit Library(DynamicLibrary library) : library_(std::move(library)) {
    check(get<decltype(&cublasLtCreate)>("cublasLtCreate")(&handle_), "cublasLtCreate");
    matmul = get<decltype(&cublasLtMatmul)>("cublasLtMatmul");
  }
  ~Library() { get<decltype(&cublasLtDestroy)>("cublasLtDestroy")(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Function>
  Function get(const char* name) const {
    void* const symbol = library_.symbol(name);
    if (symbol == nullptr) {
      throw Error(ErrorCode::kNotFound, fmt::format("{} has no {}", library_.name(), name));
    }
    return reinterpret_cast<Function>(symbol);
  }
  cublasLtHandle_t handle() const { return handle_; }

  decltype(&cublasLtMatmul) matmul = nullptr;

 private:
  DynamicLibrary library_;
  cublasLtHandle_t handle_ = nullptr;
};

// One product, the library's way: its matrices are in columns, so it has outᵀ = weights · inᵀ, and
// the weights, which are in rows, count as transposed. Descriptors live until the end.
class Product {
 public:
  Product(std::shared_ptr<Library> library, const GemmShape& shape, const Memory& workspace)
      : library_(std::move(library)), scale_(shape.scale()), workspace_(workspace.address()) {
    const cudaDataType type = shape.fp8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
    const auto rows = static_cast<std::uint64_t>(shape.rows);
    const auto columns = static_cast<std::uint64_t>(shape.columns);
    const auto batch = static_cast<std::uint64_t>(shape.batch);
    check(library_->get<decltype(&cublasLtMatmulDescCreate)>("cublasLtMatmulDescCreate")(
              &operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    const auto set =
        library_->get<decltype(&cublasLtMatmulDescSetAttribute)>("cublasLtMatmulDescSetAttribute");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)), "TRANSA");
    const auto layout = [&](cublasLtMatrixLayout_t& to, cudaDataType of, std::uint64_t down,
                            std::uint64_t across) {
      check(library_->get<decltype(&cublasLtMatrixLayoutCreate)>("cublasLtMatrixLayoutCreate")(
                &to, of, down, across, static_cast<std::int64_t>(down)),
            "cublasLtMatrixLayoutCreate");
    };
    layout(weights_, type, columns, rows);
    layout(in_, type, columns, batch);
    layout(out_, CUDA_R_16BF, rows, batch);
  }
  ~Product() {
    const auto destroy =
        library_->get<decltype(&cublasLtMatrixLayoutDestroy)>("cublasLtMatrixLayoutDestroy");
    for (const auto layout : {weights_, in_, out_}) destroy(layout);
    library_->get<decltype(&cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy")(operation_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  std::vector<cublasLtMatmulAlgo_t> choices(int count) const {
    cublasLtMatmulPreference_t preference = nullptr;
    check(library_->get<decltype(&cublasLtMatmulPreferenceCreate)>(
              "cublasLtMatmulPreferenceCreate")(&preference),
          "cublasLtMatmulPreferenceCreate");
    check(library_->get<decltype(&cublasLtMatmulPreferenceSetAttribute)>(
              "cublasLtMatmulPreferenceSetAttribute")(preference,
                                                      CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &kCublasWorkspace, sizeof(kCublasWorkspace)),
          "MAX_WORKSPACE_BYTES");
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
    int found = 0;
    // A shape that it has nothing for is a status of its own, and an empty list here.
    library_->get<decltype(&cublasLtMatmulAlgoGetHeuristic)>("cublasLtMatmulAlgoGetHeuristic")(
        library_->handle(), operation_, weights_, in_, out_, out_, preference, count,
        results.data(), &found);
    library_->get<decltype(&cublasLtMatmulPreferenceDestroy)>("cublasLtMatmulPreferenceDestroy")(
        preference);
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < found; ++i) {
      if (results[static_cast<std::size_t>(i)].state != CUBLAS_STATUS_SUCCESS) continue;
      algorithms.push_back(results[static_cast<std::size_t>(i)].algo);
    }
    return algorithms;
  }

  void enqueue(const cublasLtMatmulAlgo_t& algorithm, CUdeviceptr weights, CUdeviceptr in,
               CUdeviceptr out, CUstream stream) const {
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    const float zero = 0;
    check(library_->matmul(library_->handle(), operation_, &scale_, pointer(weights), weights_,
                           pointer(in), in_, &zero, pointer(out), out_, pointer(out), out_,
                           &algorithm, pointer(workspace_), kCublasWorkspace, stream),
          "cublasLtMatmul");
  }

 private:
  std::shared_ptr<Library> library_;
  float scale_;
  CUdeviceptr workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t weights_ = nullptr, in_ = nullptr, out_ = nullptr;
};

class CublasGemm : public ForeignGemm {
 public:
  CublasGemm(std::shared_ptr<const Product> product, const cublasLtMatmulAlgo_t& algorithm)
      : product_(std::move(product)), algorithm_(algorithm) {}

  void enqueue(CUdeviceptr weights, CUdeviceptr in, CUdeviceptr out, CUstream stream) override {
    product_->enqueue(algorithm_, weights, in, out, stream);
  }

 private:
  std::shared_ptr<const Product> product_;
  cublasLtMatmulAlgo_t algorithm_;
};

}  // namespace

ForeignGemms cublas_gemms(const GemmShape& shape, const Memory& workspace,
                          const std::string& library, int count) {
  const std::array names = {library};
  std::string why;
  std::optional<DynamicLibrary> loaded = DynamicLibrary::open(names, &why);
  if (!loaded) return {{}, why};
  // Its kernels stay loaded as long as the context: so does it.
  loaded->leak();
  const auto opened = std::make_shared<Library>(std::move(*loaded));
  const auto product = std::make_shared<const Product>(opened, shape, workspace);
  ForeignGemms result;
  for (const cublasLtMatmulAlgo_t& algorithm : product->choices(count)) {
    result.gemms.push_back({fmt::format("choice {}", result.gemms.size() + 1), false,
                            std::make_unique<CublasGemm>(product, algorithm)});
  }
  if (result.gemms.empty()) result.absent = "it has nothing for this shape";
  return result;
}

}  // namespace baton::bench

#else

namespace baton::bench {

ForeignGemms cublas_gemms(const GemmShape&, const Memory&, const std::string&, int) {
  return {{}, "not built: cublasLt.h was not found"};
}

}  // namespace baton::bench

#endif
