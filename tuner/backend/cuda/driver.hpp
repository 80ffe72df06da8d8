// SPDX-License-Identifier: Apache-2.0
// The driver's functions: those that launch in an application's own streams, and those that the
// runtime lacks or has only since 12.8. For the .cpp files of this folder alone: it includes CUDA's
// headers.
#pragma once

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/family/candidate.hpp"

#include <cudaTypedefs.h>

namespace tuner::backend {

/// libcuda, opened when first needed: linked, it would tie the program to machines with a driver.
/// Throws Error(no_device) when there is none or it lacks a function.
struct DriverApi {
  SharedLibrary library{"libcuda.so.1", SharedLibrary::Origin::driver};
  PFN_cuInit_v2000 init = library.symbol("cuInit");
  PFN_cuGetErrorName_v6000 error_name = library.symbol("cuGetErrorName");
  PFN_cuGetErrorString_v6000 error_string = library.symbol("cuGetErrorString");
  PFN_cuDeviceGet_v2000 device_get = library.symbol("cuDeviceGet");
  PFN_cuDeviceGetCount_v2000 device_count = library.symbol("cuDeviceGetCount");
  PFN_cuDeviceGetName_v2000 device_name = library.symbol("cuDeviceGetName");
  PFN_cuCtxGetDevice_v2000 current_device = library.symbol("cuCtxGetDevice");
  PFN_cuDevicePrimaryCtxRetain_v7000 retain = library.symbol("cuDevicePrimaryCtxRetain");
  PFN_cuDevicePrimaryCtxRelease_v11000 release = library.symbol("cuDevicePrimaryCtxRelease_v2");
  PFN_cuCtxGetCurrent_v4000 current_context = library.symbol("cuCtxGetCurrent");
  PFN_cuCtxSetCurrent_v4000 set_current_context = library.symbol("cuCtxSetCurrent");
  PFN_cuLibraryLoadData_v12000 load_library = library.symbol("cuLibraryLoadData");
  PFN_cuLibraryUnload_v12000 unload_library = library.symbol("cuLibraryUnload");
  PFN_cuLibraryGetKernel_v12000 get_kernel = library.symbol("cuLibraryGetKernel");
  PFN_cuLibraryGetGlobal_v12000 get_global = library.symbol("cuLibraryGetGlobal");
  PFN_cuLibraryGetManaged_v12000 get_managed = library.symbol("cuLibraryGetManaged");
  PFN_cuKernelGetFunction_v12000 get_function = library.symbol("cuKernelGetFunction");
  PFN_cuFuncLoad_v12040 load_function = library.symbol("cuFuncLoad");
  PFN_cuKernelGetAttribute_v12000 get_attribute = library.symbol("cuKernelGetAttribute");
  PFN_cuKernelSetAttribute_v12000 set_attribute = library.symbol("cuKernelSetAttribute");
  PFN_cuKernelGetParamInfo_v12040 parameter_info = library.symbol("cuKernelGetParamInfo");
  PFN_cuFuncGetParamInfo_v12040 function_parameter = library.symbol("cuFuncGetParamInfo");
  PFN_cuLaunchKernelEx_v11060 launch_kernel = library.symbol("cuLaunchKernelEx");
  PFN_cuStreamGetId_v12000 stream_id = library.symbol("cuStreamGetId");
  PFN_cuStreamGetCaptureInfo_v11030 capture_info = library.symbol("cuStreamGetCaptureInfo_v2");
  PFN_cuStreamGetCaptureInfo_v12030 captured_last = library.symbol("cuStreamGetCaptureInfo_v3");
  PFN_cuGraphNodeGetType_v10000 node_type = library.symbol("cuGraphNodeGetType");
  PFN_cuGraphNodeGetDependencies_v12030 node_dependencies =
      library.symbol("cuGraphNodeGetDependencies_v2");
  PFN_cuGraphKernelNodeGetParams_v12000 kernel_node =
      library.symbol("cuGraphKernelNodeGetParams_v2");
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_capture_mode =
      library.symbol("cuThreadExchangeStreamCaptureMode");
  PFN_cuStreamBeginCapture_v10010 begin_capture = library.symbol("cuStreamBeginCapture_v2");
  PFN_cuStreamEndCapture_v10000 end_capture = library.symbol("cuStreamEndCapture");
  PFN_cuGraphInstantiateWithFlags_v11040 instantiate_graph =
      library.symbol("cuGraphInstantiateWithFlags");
  PFN_cuGraphLaunch_v10000 launch_graph = library.symbol("cuGraphLaunch");
  PFN_cuGraphDestroy_v10000 destroy_graph = library.symbol("cuGraphDestroy");
  PFN_cuGraphExecDestroy_v10000 destroy_instance = library.symbol("cuGraphExecDestroy");
  PFN_cuUserObjectCreate_v11030 create_user_object = library.symbol("cuUserObjectCreate");
  PFN_cuUserObjectRelease_v11030 release_user_object = library.symbol("cuUserObjectRelease");
  PFN_cuGraphRetainUserObject_v11030 retain_user_object = library.symbol("cuGraphRetainUserObject");
  PFN_cuStreamCreate_v2000 create_stream = library.symbol("cuStreamCreate");
  PFN_cuStreamDestroy_v4000 destroy_stream = library.symbol("cuStreamDestroy_v2");
  PFN_cuStreamSynchronize_v2000 synchronize = library.symbol("cuStreamSynchronize");
  PFN_cuEventCreate_v2000 create_event = library.symbol("cuEventCreate");
  PFN_cuEventDestroy_v4000 destroy_event = library.symbol("cuEventDestroy_v2");
  PFN_cuEventRecord_v2000 record_event = library.symbol("cuEventRecord");
  PFN_cuEventQuery_v2000 query_event = library.symbol("cuEventQuery");
  PFN_cuEventElapsedTime_v2000 elapsed_time = library.symbol("cuEventElapsedTime");
  PFN_cuMemAlloc_v3020 allocate = library.symbol("cuMemAlloc_v2");
  PFN_cuMemFree_v3020 free = library.symbol("cuMemFree_v2");
  PFN_cuMemsetD8Async_v3020 memset = library.symbol("cuMemsetD8Async");
  PFN_cuMemsetD32Async_v3020 memset_32 = library.symbol("cuMemsetD32Async");
  PFN_cuTensorMapEncodeTiled_v12000 encode_tensor_map = library.symbol("cuTensorMapEncodeTiled");
  PFN_cuMemcpyAsync_v4000 copy = library.symbol("cuMemcpyAsync");
};

/// The driver, opened at the first call. Throws as DriverApi does.
[[nodiscard]] const DriverApi& driver_api();

/// As `attempt` for the runtime's codes.
[[nodiscard]] Expected<void, Failure> attempt(const DriverApi& api, CUresult result);

/// Enqueues a kernel on a stream. A programmatic one may begin before the launch ahead of it ends.
[[nodiscard]] CUresult launch(const DriverApi& api, CUkernel kernel,
                              const family::Geometry& geometry, void** arguments, CUstream stream);

/// While it lives, calls of this thread neither fail for nor spoil a capture that another thread
/// has under way in the mode `global`.
class CaptureBystander {
 public:
  explicit CaptureBystander(const DriverApi& api);
  ~CaptureBystander();
  CaptureBystander(const CaptureBystander&) = delete;
  CaptureBystander& operator=(const CaptureBystander&) = delete;

 private:
  const DriverApi& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace tuner::backend
