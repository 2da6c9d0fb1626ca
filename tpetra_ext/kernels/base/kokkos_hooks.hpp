#pragma once
/// \file
/// Kokkos' hooks announce kernels, copies and frees, also those of others: where kernels of ours run later on a CPU,
/// all that uses what they write has to come after them, as it does on a device.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string_view>

namespace capstan::kernels::detail {

/// Calls a function before kernels and copies of whoever launches them, since those of one execution space run in
/// order; before memory is freed, for which a device waits, too; before libraries call BLAS; and before Kokkos ends.
class KokkosHooks {
 public:
  /// Takes the hooks, where it does not have them, and passes on to whoever had them. One function for a process.
  /// Local.
  static void listen(void (*before)()) {
    if (before_ == nullptr) Kokkos::push_finalize_hook([] { before_(); });
    before_ = before;
    namespace tools = Kokkos::Tools::Experimental;
    const tools::EventSet now = tools::get_callbacks();
    take(now.begin_parallel_for, &beforeKernel<&for_>, for_, tools::set_begin_parallel_for_callback);
    take(now.begin_parallel_reduce, &beforeKernel<&reduce_>, reduce_, tools::set_begin_parallel_reduce_callback);
    take(now.begin_parallel_scan, &beforeKernel<&scan_>, scan_, tools::set_begin_parallel_scan_callback);
    take(now.begin_deep_copy, &beforeCopy, copy_, tools::set_begin_deep_copy_callback);
    take(now.deallocate_data, &beforeFree, free_, tools::set_deallocate_data_callback);
    take(now.push_region, &beforeRegion, region_, tools::set_push_region_callback);
  }

 private:
  template <class Hook, class Set>
  static void take(Hook now, Hook own, Hook& others, const Set& set) {
    if (now == own) return;
    others = now;
    set(own);
  }

  template <Kokkos::Tools::beginFunction* Others>
  static void beforeKernel(const char* name, const std::uint32_t device, std::uint64_t* number) {
    before_();
    if (*Others != nullptr) (*Others)(name, device, number);
  }
  static void beforeCopy(Kokkos::Tools::SpaceHandle to, const char* toName, const void* toData,
                         Kokkos::Tools::SpaceHandle from, const char* fromName, const void* fromData,
                         std::uint64_t bytes) {
    before_();
    if (copy_ != nullptr) copy_(to, toName, toData, from, fromName, fromData, bytes);
  }
  static void beforeFree(const Kokkos::Tools::SpaceHandle space, const char* name, const void* data,
                         const std::uint64_t bytes) {
    before_();
    if (free_ != nullptr) free_(space, name, data, bytes);
  }
  /// Libraries that call BLAS announce that by a region. So do timers, which launch nothing.
  static void beforeRegion(const char* name) {
    const std::string_view text(name);
    if (text.substr(0, 6) == "Kokkos" || text.substr(0, 6) == "Tpetra") before_();
    if (region_ != nullptr) region_(name);
  }

  static inline void (*before_)() = nullptr;
  static inline Kokkos::Tools::beginFunction for_ = nullptr, reduce_ = nullptr, scan_ = nullptr;
  static inline Kokkos::Tools::beginDeepCopyFunction copy_ = nullptr;
  static inline Kokkos::Tools::deallocateDataFunction free_ = nullptr;
  static inline Kokkos::Tools::pushFunction region_ = nullptr;
};

}  // namespace capstan::kernels::detail
