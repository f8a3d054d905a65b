// SPDX-License-Identifier: Apache-2.0
// What a captured host function does with tensors beside launching kernels: filling, copying, gathering, reducing,
// uploading constants. Trusted, and timed as the solution's own kernels are. elements.cuh stands in front of this text;
// the structures are those of host_ops.cpp, numbers of 8 bytes each.

#define ACCELOPT_AXES 8
#define ACCELOPT_THREADS 256

// ---- elements, whole numbers exactly ----

struct Element {
  bool whole;  // of an integer type
  i64 number;
  double value;
};

__device__ inline Element load_any(int dtype, const void* from) {
  Element out = {true, 0, 0};
  switch (dtype) {
    case kInt64:
    case kUint64:
      out.number = *(const i64*)from;
      break;
    case kInt32:
      out.number = *(const int*)from;
      break;
    case kInt16:
      out.number = *(const short*)from;
      break;
    case kInt8:
      out.number = *(const signed char*)from;
      break;
    case kUint32:
      out.number = *(const u32*)from;
      break;
    case kUint16:
      out.number = *(const u16*)from;
      break;
    case kUint8:
    case kBool:
      out.number = *(const u8*)from;
      break;
    default:
      out.whole = false;
      out.value = load_element(dtype, from, 0);
      return out;
  }
  out.value = dtype == kUint64 ? (double)(u64)out.number : (double)out.number;
  return out;
}

/// As the hardware converts: towards zero, to the nearest that there is, NaN to 0.
__device__ inline i64 truncated(double value, double low, double high, i64 lowest, i64 highest) {
  if (is_nan(value)) return 0;
  if (value >= high) return highest;
  if (value <= low) return lowest;
  return (i64)value;
}

/// As PyTorch converts: narrow floats from float32.
__device__ inline void store_any(int dtype, void* to, Element element, bool from_uint64) {
  const double value = element.value;
  const float single = !element.whole ? (float)value : from_uint64 ? (float)(u64)element.number : (float)element.number;
  i64 number = element.number;
  if (!element.whole) {
    number = dtype == kInt64 || dtype == kUint64
                 ? truncated(value, -0x1p63, 0x1p63, (i64)0x8000000000000000ULL, 0x7fffffffffffffffLL)
             : dtype == kUint32 ? truncated(value, 0, 0x1p32, 0, 0xffffffffLL)
                                : truncated(value, -0x1p31, 0x1p31, -2147483647LL - 1, 2147483647LL);
  }
  switch (dtype) {
    case kFloat64:
      *(double*)to = value;
      return;
    case kFloat32:
      *(float*)to = single;
      return;
    case kFloat16:
      *(u16*)to = (u16)double_to_small(single, 10, 15, 5, true);
      return;
    case kBfloat16:
      *(u16*)to = (u16)double_to_small(single, 7, 127, 8, true);
      return;
    case kE4m3:
      *(u8*)to = (u8)double_to_small(single, 3, 7, 4, false);
      return;
    case kE5m2:
      *(u8*)to = (u8)double_to_small(single, 2, 15, 5, true);
      return;
    case kInt64:
    case kUint64:
      *(i64*)to = number;
      return;
    case kInt32:
    case kUint32:
      *(u32*)to = (u32)number;
      return;
    case kInt16:
    case kUint16:
      *(u16*)to = (u16)number;
      return;
    case kInt8:
    case kUint8:
      *(u8*)to = (u8)number;
      return;
    default:
      *(u8*)to = element.whole ? number != 0 : value != 0;
  }
}

/// `bytes` of them, 1, 2, 4 or 8.
__device__ inline void store_bits(char* to, u64 bits, i64 bytes) {
  if (bytes == 8) *(u64*)to = bits;
  if (bytes == 4) *(u32*)to = (u32)bits;
  if (bytes == 2) *(u16*)to = (u16)bits;
  if (bytes == 1) *(u8*)to = (u8)bits;
}

__device__ inline u64 load_bits(const char* from, i64 bytes) {
  return bytes == 8 ? *(const u64*)from : bytes == 4 ? *(const u32*)from : bytes == 2 ? *(const u16*)from : *(const u8*)from;
}

// ---- places ----

/// Axes that two views walk in step; strides in bytes, the innermost axis last.
struct Walk {
  i64 axes;
  i64 shape[ACCELOPT_AXES];
  i64 to[ACCELOPT_AXES];
  i64 from[ACCELOPT_AXES];
};
struct Place {
  i64 to;
  i64 from;
};

template <class Index>
__device__ inline Place walked(const Walk& walk, Index i) {
  Place out = {0, 0};
  for (int axis = (int)walk.axes - 1; axis >= 0; --axis) {
    const Index extent = (Index)walk.shape[axis];
    const Index rest = i / extent;
    const i64 at = (i64)(i - rest * extent);
    out.to += at * walk.to[axis];
    out.from += at * walk.from[axis];
    i = rest;
  }
  return out;
}

/// Division of 32-bit numbers takes a fraction of the time.
__device__ inline Place place_of(const Walk& walk, u64 i, bool small) {
  return small ? walked<u32>(walk, (u32)i) : walked<u64>(walk, i);
}

// ---- fill, copy, upload ----

struct FillJob {
  i64 count;
  i64 item_bytes;
  u64 bits;
  Walk walk;
};

extern "C" __global__ void accelopt_host_fill(char* to, const FillJob job) {
  const bool small = job.count < (1LL << 32);
  ACCELOPT_EACH(i, job.count) store_bits(to + place_of(job.walk, i, small).to, job.bits, job.item_bytes);
}

struct CopyJob {
  i64 count;
  i64 to_dtype;
  i64 from_dtype;
  i64 item_bytes;  // 0: to be converted
  Walk walk;
};

extern "C" __global__ void accelopt_host_copy(char* to, const char* from, const CopyJob job) {
  const bool small = job.count < (1LL << 32);
  ACCELOPT_EACH(i, job.count) {
    const Place place = place_of(job.walk, i, small);
    if (job.item_bytes != 0) {
      store_bits(to + place.to, load_bits(from + place.from, job.item_bytes), job.item_bytes);
    } else {
      store_any((int)job.to_dtype, to + place.to, load_any((int)job.from_dtype, from + place.from),
                job.from_dtype == kUint64);
    }
  }
}

/// Without gaps on either side, 16 bytes a thread and turn.
extern "C" __global__ void accelopt_host_copy_plain(char* to, const char* from, i64 bytes) {
  struct alignas(16) Four {
    u32 words[4];
  };
  const i64 whole = bytes / (i64)sizeof(Four);
  ACCELOPT_EACH(i, whole) ((Four*)to)[i] = ((const Four*)from)[i];
  ACCELOPT_EACH(i, bytes % (i64)sizeof(Four)) to[whole * sizeof(Four) + i] = from[whole * sizeof(Four) + i];
}

struct UploadJob {
  i64 bytes;
  u64 words[480];
};

extern "C" __global__ void accelopt_host_upload(char* to, const UploadJob job) {
  ACCELOPT_EACH(i, job.bytes) to[i] = (char)(job.words[i / 8] >> (8 * (i % 8)));
}

// ---- gather ----

struct GatherJob {
  i64 count;  // elements of `to`
  i64 row;    // elements of one row
  i64 rows;   // of `from`
  i64 to_row;
  i64 from_row;
  i64 index_step;
  i64 index_dtype;
  i64 item_bytes;
  Walk walk;  // within a row
};

/// An index that is out of range leaves its row of `to` as it is.
extern "C" __global__ void accelopt_host_gather(char* to, const char* from, const char* index, const GatherJob job) {
  ACCELOPT_EACH(i, job.count) {
    const u64 row = i / (u64)job.row;
    i64 wanted = load_any((int)job.index_dtype, index + (i64)row * job.index_step).number;
    if (wanted < 0) wanted += job.rows;
    if (wanted < 0 || wanted >= job.rows) continue;
    const Place place = place_of(job.walk, i % (u64)job.row, job.row < (1LL << 32));
    store_bits(to + (i64)row * job.to_row + place.to,
               load_bits(from + wanted * job.from_row + place.from, job.item_bytes), job.item_bytes);
  }
}

// ---- sum, abs().amax() ----

struct ReduceJob {
  i64 outputs;
  i64 length;  // elements that make one output
  i64 parts;   // blocks that share one output
  i64 from_dtype;
  i64 to_dtype;
  i64 largest;  // 1: the largest absolute value; 0: the sum
  Walk kept;    // outputs: `to` and `from`
  Walk reduced;  // the elements of one: `from`
};

/// What is summed up: whole numbers as such, floats in the precision that PyTorch sums them in.
struct Sum {
  i64 number;
  double value;
};

__device__ inline Sum joined(Sum left, Sum right, const ReduceJob& job) {
  Sum out = {0, 0};
  if (job.largest != 0) {
    out.number = left.number > right.number ? left.number : right.number;
    out.value = is_nan(left.value) || is_nan(right.value) ? as_double(0x7ff8000000000000ULL)
                                                          : larger(left.value, right.value);
    return out;
  }
  out.number = left.number + right.number;
  out.value = job.from_dtype == kFloat64 ? left.value + right.value : (double)((float)left.value + (float)right.value);
  return out;
}

__device__ inline Sum sum_of(const char* from, const ReduceJob& job, i64 begin, i64 end, i64 step) {
  Sum sum = {0, 0};
  const bool small = job.length < (1LL << 32);
  for (i64 i = begin; i < end; i += step) {
    const Element one = load_any((int)job.from_dtype, from + place_of(job.reduced, (u64)i, small).from);
    Sum own = {one.number, one.whole ? 0 : one.value};
    if (job.largest != 0) {
      own.number = own.number < 0 ? -own.number : own.number;
      own.value = size_of_value(own.value);
    }
    sum = joined(sum, own, job);
  }
  return sum;
}

__device__ inline void store_sum(char* to, Sum sum, const ReduceJob& job) {
  const bool whole = job.from_dtype >= kInt64;
  const Element out = {whole, sum.number, whole ? (double)sum.number : sum.value};
  store_any((int)job.to_dtype, to, out, false);
}

/// A thread an output, for those of few elements.
extern "C" __global__ void accelopt_host_reduce_each(char* to, const char* from, const ReduceJob job) {
  ACCELOPT_EACH(i, job.outputs) {
    const Place place = place_of(job.kept, i, job.outputs < (1LL << 32));
    store_sum(to + place.to, sum_of(from + place.from, job, 0, job.length, 1), job);
  }
}

/// Some blocks an output: what each finds lies in `found`, 16 bytes each, until the next kernel joins it.
extern "C" __global__ void accelopt_host_reduce(Sum* found, const char* from, const ReduceJob job) {
  __shared__ Sum shared[ACCELOPT_THREADS];
  const i64 each = (job.length + job.parts - 1) / job.parts;
  for (i64 work = blockIdx.x; work < job.outputs * job.parts; work += gridDim.x) {
    const Place place = place_of(job.kept, (u64)(work / job.parts), job.outputs < (1LL << 32));
    const i64 begin = (work % job.parts) * each;
    const i64 end = begin + each < job.length ? begin + each : job.length;
    shared[threadIdx.x] = sum_of(from + place.from, job, begin + threadIdx.x, end, ACCELOPT_THREADS);
    __syncthreads();
    for (int half = ACCELOPT_THREADS / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) shared[threadIdx.x] = joined(shared[threadIdx.x], shared[threadIdx.x + half], job);
      __syncthreads();
    }
    if (threadIdx.x == 0) found[work] = shared[0];
    __syncthreads();
  }
}

extern "C" __global__ void accelopt_host_reduce_last(char* to, const Sum* found, const ReduceJob job) {
  ACCELOPT_EACH(i, job.outputs) {
    Sum sum = found[i * job.parts];
    for (i64 part = 1; part < job.parts; ++part) sum = joined(sum, found[i * job.parts + part], job);
    store_sum(to + place_of(job.kept, i, job.outputs < (1LL << 32)).to, sum, job);
  }
}
