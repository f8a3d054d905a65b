
@functools.cache
def _launcher():
    from . import build
    library = build.library("@NAME@", HERE / "kernels.cu", HERE / "launcher.cpp", @FLAGS@)
    library.@NAME@_scratch_bytes.restype = ctypes.c_size_t
    library.@NAME@_scratch_bytes.argtypes = [ctypes.c_int64] * @AXES@
    library.@NAME@.argtypes = [ctypes.c_void_p, ctypes.c_void_p, @TYPES@]
    return library


def _call(device, arguments, axes):
    """Launches on the device's current stream."""
    library = _launcher()
    scratch, size = None, library.@NAME@_scratch_bytes(*axes)
    if size:
        scratch = torch.empty(size, dtype=torch.uint8, device=device)
    with torch.cuda.device(device):
        code = library.@NAME@(torch.cuda.current_stream().cuda_stream, scratch.data_ptr() if size else None, *arguments, *axes)
    if code != 0:
        raise RuntimeError(f"@NAME@ was not launched: CUDA error {code}")

