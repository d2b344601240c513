// One pass over class counts on a GPU that reads every count once.
//
// What the passes of `_device_columns.py` and `_device_bernoulli.py` do by the array API,
// where each operation reads and writes the columns anew. Compiled when it is first needed,
// with COUNT, the type of the counts, and CLASSES, their number. Columns i = 0 .. n_columns - 1
// of class c lie at counts[c * stride + i]. Every block leaves its sums in a row of `sums`;
// the columns that are wanted go to `found`, in no order, as far as there is room.

constexpr double kLargest = 1.7976931348623157e308;
constexpr int kThreads = 256;
// Columns whose counts are on their way at once.
constexpr int kAhead = CLASSES <= 2 ? 4 : (CLASSES <= 4 ? 2 : 1);

typedef long long Index;

__device__ void block_sum(double value, double* place) {
  __shared__ double parts[kThreads];
  __syncthreads();
  parts[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *place = parts[0];
}

__device__ void append(Index column, Index* found, unsigned long long* n_found, Index room) {
  const Index place = (Index)atomicAdd(n_found, 1ULL);
  if (place < room) found[place] = column;
}

template <typename Visit>
__device__ void for_columns(const COUNT* __restrict__ counts, Index stride, Index n_columns,
                            Visit visit) {
  const Index step = (Index)gridDim.x * kThreads;
  for (Index first = (Index)blockIdx.x * kThreads + threadIdx.x; first < n_columns;
       first += kAhead * step) {
    double count[kAhead][CLASSES];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const Index i = first + u * step;
#pragma unroll
      for (int c = 0; c < CLASSES; ++c) {
        count[u][c] = i < n_columns ? (double)counts[c * stride + i] : 0.0;
      }
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const Index i = first + u * step;
      if (i < n_columns) visit(i, count[u]);
    }
  }
}

// Of each block: class sums, sum of G log G, columns with a count, cells that are no count.
// Wanted are columns with a count whose smoothed total reaches `least`.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_counts(const COUNT* __restrict__ counts, Index stride, Index n_columns,
                const double* __restrict__ alpha, Index alpha_step, double least, double* sums,
                Index* found, unsigned long long* n_found, Index room) {
  double own[CLASSES] = {}, whole = 0.0, filled = 0.0, bad = 0.0;
  for_columns(counts, stride, n_columns, [&](Index i, const double* count) {
    double total = 0.0;
#pragma unroll
    for (int c = 0; c < CLASSES; ++c) {
      if (!(count[c] >= 0.0 && count[c] <= kLargest)) bad += 1.0;
      own[c] += count[c];
      total += count[c];
    }
    const double smoothing = CLASSES * alpha[i * alpha_step];
    const double smoothed = total + smoothing;
    if (smoothed > 0.0) whole += smoothed * log(smoothed);
    if (total > 0.0) {
      filled += 1.0;
      if (total >= least - smoothing) append(i, found, n_found, room);
    }
  });
  double* row = sums + (Index)blockIdx.x * (CLASSES + 3);
#pragma unroll
  for (int c = 0; c < CLASSES; ++c) block_sum(own[c], row + c);
  block_sum(whole, row + CLASSES);
  block_sum(filled, row + CLASSES + 1);
  block_sum(bad, row + CLASSES + 2);
}

__device__ double times_log(double count, double share) {
  return count > 0.0 ? count * log(share) : 0.0;
}

// Of each block: sum of the null values, cells that are no count or more than their class has.
// Wanted are columns that vary and whose gain, less what rounding may have taken from it,
// reaches `least`; `gains` has it.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_presences(const COUNT* __restrict__ counts, Index stride, Index n_columns,
                   const double* __restrict__ rows, const double* __restrict__ alpha,
                   Index alpha_step, double least, double* sums, Index* found, double* gains,
                   unsigned long long* n_found, Index room) {
  double null_sum = 0.0, bad = 0.0, n_rows = 0.0, n_class[CLASSES];
#pragma unroll
  for (int c = 0; c < CLASSES; ++c) {
    n_class[c] = rows[c];
    n_rows += rows[c];
  }
  for_columns(counts, stride, n_columns, [&](Index i, const double* count) {
    const double smoothing = alpha[i * alpha_step];
    double raw = 0.0, fitted = 0.0;
#pragma unroll
    for (int c = 0; c < CLASSES; ++c) {
      if (!(count[c] >= 0.0 && count[c] <= n_class[c] * (1.0 + 1e-12))) bad += 1.0;
      raw += count[c];
      const double there = count[c] + smoothing, all = n_class[c] + 2.0 * smoothing;
      fitted += times_log(there, there / all) + times_log(all - there, (all - there) / all);
    }
    const double there = raw + CLASSES * smoothing, all = n_rows + 2.0 * CLASSES * smoothing;
    const double null_value =
        times_log(there, there / all) + times_log(all - there, (all - there) / all);
    null_sum += null_value;
    // Each term is no more than all / e, and errs by few units of it or of its count.
    const double gain = fitted - null_value, doubt = 1e-15 * (4 * CLASSES + 4) * all;
    if (raw > 0.0 && raw < n_rows * (1.0 - 1e-12) && gain + doubt >= least) {
      const Index place = (Index)atomicAdd(n_found, 1ULL);
      if (place < room) {
        found[place] = i;
        gains[place] = gain + doubt;
      }
    }
  });
  double* row = sums + (Index)blockIdx.x * 2;
  block_sum(null_sum, row);
  block_sum(bad, row + 1);
}
