#pragma once

/// \file
/// The one place where views are taken of what a Tpetra object keeps on this rank.
///
/// Where a device has a memory that the host cannot read, Tpetra keeps two copies, and throws when the one is asked for
/// while a view of the other is alive. Tpetra itself, a preconditioner and the application may ask for either. So a
/// view is held as long as it takes to launch what works on it: never across a call that is given the object, and never
/// in a member that outlives the call which took it. It is taken anew for each use, as the numbers may have changed.
///
/// On CPUs both copies are one, and Tpetra throws nothing. There a ViewWatch, which all unit tests have, sees what
/// would have thrown.

#include <Kokkos_Core.hpp>
#include <Tpetra_Access.hpp>
#include <utility>

#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan::compat {

/// The copy that a view is of.
enum class ViewSide { Device, Host };

/// Is told of views while they are alive. For tests.
class ViewWatch {
 public:
  /// \param memory of the object: the same for all its views, those of columns among them
  virtual void taken(const void* memory, ViewSide side) = 0;
  virtual void released(const void* memory, ViewSide side) noexcept = 0;
  /// Others get to see objects now, and may ask for either copy.
  virtual void handedOver(const char* to) = 0;

  /// The watch of this process; null: nobody watches. Set it while no view is alive.
  static ViewWatch*& current() {
    static ViewWatch* watch = nullptr;
    return watch;
  }

 protected:
  ~ViewWatch() = default;
};

namespace detail {

// The overload taking int is the better match for the literal 0 where it exists.
template <class View>
auto memoryOf(const View& view, int)
    -> decltype(static_cast<const void*>(view.impl_track().template get_record<typename View::memory_space>())) {
  const void* const allocation = view.impl_track().template get_record<typename View::memory_space>();
  return allocation != nullptr ? allocation : static_cast<const void*>(view.data());
}
template <class View>
const void* memoryOf(const View& view, long) {
  return view.data();
}

/// A view is alive, as long as this is.
class ViewClaim {
 public:
  ViewClaim() = default;
  template <class View>
  ViewClaim(const View& view, ViewSide side) : watch_(ViewWatch::current()), side_(side) {
    if (watch_ == nullptr) return;
    memory_ = memoryOf(view, 0);
    watch_->taken(memory_, side_);
  }
  ViewClaim(ViewClaim&& other) noexcept
      : watch_(std::exchange(other.watch_, nullptr)), memory_(other.memory_), side_(other.side_) {}
  ViewClaim& operator=(ViewClaim&&) = delete;
  ~ViewClaim() {
    if (watch_ != nullptr) watch_->released(memory_, side_);
  }

 private:
  ViewWatch* watch_ = nullptr;
  const void* memory_ = nullptr;
  ViewSide side_ = ViewSide::Device;
};

}  // namespace detail

/// What a Tpetra object keeps on this rank, as long as this lives: a view, or what is made of views. Hand *held to
/// kernels, and keep no copy of it.
template <class Value>
class Held {
 public:
  Held(Value value, detail::ViewClaim first, detail::ViewClaim second = {})
      : value_(std::move(value)), first_(std::move(first)), second_(std::move(second)) {}

  const Value& operator*() const& { return value_; }
  const Value& operator*() const&& = delete;  // it would be of an object that is gone
  const Value* operator->() const { return &value_; }

 private:
  Value value_;
  detail::ViewClaim first_, second_;
};

/// To be called before code that is not Capstan's is given vectors or matrices: no view may be alive, and kernels that
/// have been delayed run now (kernels::handOver()). \param to whom; for tests. Local.
template <class Exec>
void handOver(const char* to) {
  kernels::handOver<Exec>();
  if (ViewWatch* const watch = ViewWatch::current(); watch != nullptr) watch->handedOver(to);
}

/// A multivector's rows on this rank, n x columns, on the device. Local.
/// \param access Tpetra::Access::ReadOnly, ReadWrite or OverwriteAll
template <class MultiVector, class Access>
auto deviceView(MultiVector& v, Access access) {
  auto view = v.getLocalViewDevice(access);
  detail::ViewClaim claim(view, ViewSide::Device);
  return Held<decltype(view)>(std::move(view), std::move(claim));
}

/// The same on the host, to which Tpetra copies it where the device's copy is newer. Local.
template <class MultiVector, class Access>
auto hostView(MultiVector& v, Access access) {
  auto view = v.getLocalViewHost(access);
  detail::ViewClaim claim(view, ViewSide::Host);
  return Held<decltype(view)>(std::move(view), std::move(claim));
}

/// The first column of a multivector, as a view of rank 1. Local.
template <class MultiVector, class Access>
auto deviceColumn(MultiVector& v, Access access) {
  auto view = v.getLocalViewDevice(access);
  detail::ViewClaim claim(view, ViewSide::Device);
  auto column = Kokkos::subview(view, Kokkos::ALL(), 0);
  return Held<decltype(column)>(std::move(column), std::move(claim));
}

/// The local part of a fill-complete Tpetra::CrsMatrix: graph.row_map, graph.entries and values. Local.
template <class Matrix>
auto deviceMatrix(const Matrix& a) {
  auto local = a.getLocalMatrixDevice();
  detail::ViewClaim values(local.values, ViewSide::Device), entries(local.graph.entries, ViewSide::Device);
  return Held<decltype(local)>(std::move(local), std::move(values), std::move(entries));
}
template <class Matrix>
auto hostMatrix(const Matrix& a) {
  auto local = a.getLocalMatrixHost();
  detail::ViewClaim values(local.values, ViewSide::Host), entries(local.graph.entries, ViewSide::Host);
  return Held<decltype(local)>(std::move(local), std::move(values), std::move(entries));
}

/// The same of its graph alone: row_map and entries. Local.
template <class Matrix>
auto deviceGraph(const Matrix& a) {
  auto local = a.getCrsGraph()->getLocalGraphDevice();
  detail::ViewClaim entries(local.entries, ViewSide::Device);
  return Held<decltype(local)>(std::move(local), std::move(entries));
}
template <class Matrix>
auto hostGraph(const Matrix& a) {
  auto local = a.getCrsGraph()->getLocalGraphHost();
  detail::ViewClaim entries(local.entries, ViewSide::Host);
  return Held<decltype(local)>(std::move(local), std::move(entries));
}

}  // namespace capstan::compat
