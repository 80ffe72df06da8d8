// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/read_only_memory.hpp"

#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cudaTypedefs.h>

namespace tuner::backend {
namespace {

/// The driver's functions for virtual memory; the runtime has none.
struct VirtualMemory {
  template <class Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(driver_function(name));
  }

  PFN_cuMemGetAllocationGranularity_v10020 granularity =
      find<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity");
  PFN_cuMemAddressReserve_v10020 reserve =
      find<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve");
  PFN_cuMemAddressFree_v10020 free = find<PFN_cuMemAddressFree_v10020>("cuMemAddressFree");
  PFN_cuMemCreate_v10020 create = find<PFN_cuMemCreate_v10020>("cuMemCreate");
  PFN_cuMemRelease_v10020 release = find<PFN_cuMemRelease_v10020>("cuMemRelease");
  PFN_cuMemMap_v10020 map = find<PFN_cuMemMap_v10020>("cuMemMap");
  PFN_cuMemUnmap_v10020 unmap = find<PFN_cuMemUnmap_v10020>("cuMemUnmap");
  PFN_cuMemSetAccess_v10020 set_access = find<PFN_cuMemSetAccess_v10020>("cuMemSetAccess");
};

const VirtualMemory& driver() {
  static const VirtualMemory functions;
  return functions;
}

void check(CUresult result, const char* action) {
  if (result == CUDA_SUCCESS) return;
  throw Error(ErrorCode::failure, fmt::format("cannot {} read-only GPU memory: driver error {}",
                                              action, static_cast<int>(result)));
}

}  // namespace

class ReadOnlyMemory::Mapping {
 public:
  Mapping(int ordinal, std::size_t size_bytes) {
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
    std::size_t page = 0;
    check(driver().granularity(&page, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "find the page size of");
    size_bytes_ = (size_bytes + page - 1) / page * page;
  }
  /// After a fault each call fails, and the process that faulted ends.
  ~Mapping() {
    if (mapped_) driver().unmap(address_, size_bytes_);
    if (created_) driver().release(memory_);
    if (address_ != 0) driver().free(address_, size_bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void make() {
    check(driver().reserve(&address_, size_bytes_, 0, 0, 0), "reserve addresses for");
    check(driver().create(&memory_, size_bytes_, &properties_, 0), "allocate");
    created_ = true;
    check(driver().map(address_, size_bytes_, 0, memory_, 0), "map");
    mapped_ = true;
    allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
  void allow(CUmemAccess_flags access) {
    const CUmemAccessDesc allowed{.location = properties_.location, .flags = access};
    check(driver().set_access(address_, size_bytes_, &allowed, 1), "protect");
  }
  [[nodiscard]] std::byte* get() const { return reinterpret_cast<std::byte*>(address_); }

 private:
  CUmemAllocationProp properties_{};
  std::size_t size_bytes_ = 0;
  CUdeviceptr address_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  bool created_ = false, mapped_ = false;
};

void ReadOnlyMemory::Unmap::operator()(Mapping* mapping) const noexcept {
  delete mapping;
}

ReadOnlyMemory::ReadOnlyMemory(int ordinal, std::size_t size_bytes)
    : mapping_(new Mapping(ordinal, size_bytes)) {
  mapping_->make();
}

bool ReadOnlyMemory::is_supported(int ordinal) {
  const auto attribute =
      reinterpret_cast<PFN_cuDeviceGetAttribute_v2000>(driver_function("cuDeviceGetAttribute"));
  int supported = 0;
  return attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, ordinal) ==
             CUDA_SUCCESS &&
         supported != 0;
}

std::byte* ReadOnlyMemory::get() const {
  return mapping_->get();
}

void ReadOnlyMemory::protect() {
  mapping_->allow(CU_MEM_ACCESS_FLAGS_PROT_READ);
}

}  // namespace tuner::backend
