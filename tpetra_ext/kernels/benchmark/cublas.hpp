#pragma once
/// \file
/// cuBLAS beside the kernels: what a solver would call that has no kernels of its own.

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace capstan::kernels::bench {

/// The few routines that stand beside a kernel, for column-major matrices in device memory. The library is looked up
/// when the program runs, so that it is needed neither to build nor to run the benchmark.
class Cublas {
 public:
  /// Null where the loader finds no libcublas of version 11 to 13.
  static std::unique_ptr<Cublas> load() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}) {
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return std::unique_ptr<Cublas>(new Cublas(library, name));
    }
    return nullptr;
  }
  ~Cublas() { destroy_(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  const std::string& name() const { return name_; }

  /// C = Q^T V: Q is n x k, V is n x s, C is k x s.
  void innerProducts(int n, int k, int s, const double* Q, const double* V, double* C, int ldC) const {
    const double one = 1, zero = 0;
    check(gemm_(handle_, transposed, plain, k, s, n, &one, Q, n, V, n, &zero, C, ldC));
  }
  /// V -= Q R: Q is n x k, R is k x s, V is n x s.
  void update(int n, int k, int s, const double* Q, const double* R, int ldR, double* V) const {
    const double one = 1, minusOne = -1;
    check(gemm_(handle_, plain, plain, n, s, k, &minusOne, Q, n, R, ldR, &one, V, n));
  }
  /// V U^-1 in place of V: V is n x s, U upper triangular.
  void triangularSolve(int n, int s, const double* U, int ldU, double* V) const {
    const double one = 1;
    check(trsm_(handle_, right, upper, plain, nonUnit, n, s, &one, U, ldU, V, n));
  }

 private:
  // Values of cublas_api.h, which have been the same in all versions.
  enum { plain = 0, transposed = 1, right = 1, upper = 1, nonUnit = 0 };
  using Handle = void*;
  using Create = int (*)(Handle*);
  using Destroy = int (*)(Handle);
  using Gemm = int (*)(Handle, int, int, int, int, int, const double*, const double*, int, const double*, int,
                       const double*, double*, int);
  using Trsm = int (*)(Handle, int, int, int, int, int, int, const double*, const double*, int, double*, int);

  Cublas(void* library, const char* name) : name_(name) {
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
      if (function == nullptr) throw std::runtime_error(name_ + " has no " + symbol);
    };
    Create create = nullptr;
    find(create, "cublasCreate_v2");
    find(destroy_, "cublasDestroy_v2");
    find(gemm_, "cublasDgemm_v2");
    find(trsm_, "cublasDtrsm_v2");
    check(create(&handle_));
  }
  void check(int status) const {
    if (status != 0) throw std::runtime_error(name_ + " failed with status " + std::to_string(status));
  }

  std::string name_;
  Handle handle_ = nullptr;
  Destroy destroy_ = nullptr;
  Gemm gemm_ = nullptr;
  Trsm trsm_ = nullptr;
};

}  // namespace capstan::kernels::bench
