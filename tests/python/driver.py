"""Launches by the driver API, for tests of `activate` that need no framework."""
import ctypes
import struct

import numpy as np


class Device:
    """The driver that this process has loaded."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status != 0:
            raise RuntimeError(f"{name} gave {status}")

    def array(self, values):
        values = np.ascontiguousarray(values)
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(values.nbytes))
        self.call("cuMemcpyHtoD_v2", address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes))
        return address

    def values(self, address, like):
        out = np.empty_like(like)
        self.call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(out.nbytes))
        return out

    def launch(self, ptx, name, grid, block, *args):
        """Of addresses, and floats; to its end."""
        self.start(ptx, name, grid, block, *args)
        self.call("cuCtxSynchronize")

    def start(self, ptx, name, grid, block, *args):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        values = [ctypes.create_string_buffer(struct.pack("f", a) if isinstance(a, float) else struct.pack("Q", a.value))
                  for a in args]
        addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, addresses, None)
