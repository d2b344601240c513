// Class sums: one pass over a matrix, one table of (class, column) totals.
//
// Every kernel is an engine (how a format is walked) times a body (what is added up).
// Engines turn the stored values into small blocks of (value, weight, class, column), after
// converting them to double and checking them; bodies see only blocks. Work is shared among
// threads by COLUMN, never by row: each sum is formed by one thread in row order, so the
// result is the same on any number of threads and for dense, CSR and CSC input alike.
//
// Structure (pointers, indices, class codes) is checked here as well, because a malformed
// matrix would otherwise write outside the table.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "parallel.h"

namespace nb = nanobind;

namespace {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = std::optional<Doubles>;
using Grid = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using LongsOut = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntsOut = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kBlock = 512;          // entries per block: 4 arrays of 4 kB stay in L1
constexpr std::size_t kAhead = 24;           // entries between a prefetch and its use
constexpr std::size_t kColumnBlock = 2048;   // columns per task of the CSC engine
constexpr std::int64_t kSerialEntries = 1 << 17;  // below this, threads cost more than they save
constexpr std::int64_t kNone = -1;

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address, 1, 1);
#else
    (void)address;
#endif
}

// ---------------------------------------------------------------- values

// What a stored value may be. The numbers are shared with bayesieve/counts/_kernels.py.
enum Check { kNonNegative = 0, kFinite = 1, kPresence = 2, kZeroOne = 3, kCategory = 4 };

template <class T, int check>
inline bool allowed(T x) {
    constexpr bool real = std::is_floating_point_v<T>;
    if constexpr (check == kNonNegative) {
        if constexpr (real) return x >= T(0) && x <= std::numeric_limits<T>::max();
        else return x >= T(0);
    } else if constexpr (check == kFinite || check == kPresence) {
        if constexpr (real) return std::fabs(x) <= std::numeric_limits<T>::max();
        else return true;
    } else if constexpr (check == kZeroOne) {
        return x == T(0) || x == T(1);
    } else {  // codes fit in 31 bits, so a column never asks for a terabyte by accident
        const double value = static_cast<double>(x);
        return value >= 0.0 && value <= 2147483646.0 && value == std::floor(value);
    }
}

template <class T, int check, bool contiguous>
std::size_t load_as(const char* base, std::ptrdiff_t stride, std::size_t count,
                    double threshold, double* out) {
    auto at = [&](std::size_t i) -> T {
        if constexpr (contiguous) return reinterpret_cast<const T*>(base)[i];
        else return *reinterpret_cast<const T*>(base + static_cast<std::ptrdiff_t>(i) * stride);
    };
    bool bad = false;
    for (std::size_t i = 0; i < count; ++i) {
        const T x = at(i);
        if constexpr (check == kPresence) out[i] = static_cast<double>(x) > threshold ? 1.0 : 0.0;
        else out[i] = static_cast<double>(x);
        bad |= !allowed<T, check>(x);
    }
    if (bad)
        for (std::size_t i = 0; i < count; ++i)
            if (!allowed<T, check>(at(i))) return i;
    return count;
}

// Converts `count` values to double; returns the first offending one, or `count`.
using Load = std::size_t (*)(const char*, std::ptrdiff_t, std::size_t, double, double*);

template <class T, bool contiguous>
Load loader_of(int check) {
    switch (check) {
        case kNonNegative: return load_as<T, kNonNegative, contiguous>;
        case kFinite: return load_as<T, kFinite, contiguous>;
        case kPresence: return load_as<T, kPresence, contiguous>;
        case kZeroOne: return load_as<T, kZeroOne, contiguous>;
        case kCategory: return load_as<T, kCategory, contiguous>;
    }
    throw nb::value_error("unknown value check");
}

template <class T>
Load loader_of(int check, std::ptrdiff_t stride) {
    if (stride == static_cast<std::ptrdiff_t>(sizeof(T))) return loader_of<T, true>(check);
    return loader_of<T, false>(check);
}

Load loader(const nb::dlpack::dtype& dtype, int check, std::ptrdiff_t stride) {
    const auto code = static_cast<nb::dlpack::dtype_code>(dtype.code);
    if (code == nb::dlpack::dtype_code::Bool) return loader_of<std::uint8_t>(check, stride);
    if (code == nb::dlpack::dtype_code::Float) {
        if (dtype.bits == 32) return loader_of<float>(check, stride);
        if (dtype.bits == 64) return loader_of<double>(check, stride);
    } else if (code == nb::dlpack::dtype_code::Int) {
        if (dtype.bits == 8) return loader_of<std::int8_t>(check, stride);
        if (dtype.bits == 16) return loader_of<std::int16_t>(check, stride);
        if (dtype.bits == 32) return loader_of<std::int32_t>(check, stride);
        if (dtype.bits == 64) return loader_of<std::int64_t>(check, stride);
    } else if (code == nb::dlpack::dtype_code::UInt) {
        if (dtype.bits == 8) return loader_of<std::uint8_t>(check, stride);
        if (dtype.bits == 16) return loader_of<std::uint16_t>(check, stride);
        if (dtype.bits == 32) return loader_of<std::uint32_t>(check, stride);
        if (dtype.bits == 64) return loader_of<std::uint64_t>(check, stride);
    }
    throw nb::type_error("values must be bool, (u)int8 to (u)int64, float32 or float64");
}

// ---------------------------------------------------------------- blocks and outcome

struct Block {
    double value[kBlock];
    double weight[kBlock];
    std::int64_t cls[kBlock];
    std::int64_t col[kBlock];
};

struct Rows {
    const std::int64_t* codes;
    const double* weights;  // may be null: every row weighs one
    std::int64_t count;
    double weight(std::int64_t row) const { return weights ? weights[row] : 1.0; }
};

// The first offending position over all threads, and whether an index was out of range.
struct Outcome {
    std::atomic<std::int64_t> first_bad{std::numeric_limits<std::int64_t>::max()};
    std::atomic<bool> malformed{false};

    void bad_at(std::int64_t position) {
        std::int64_t seen = first_bad.load();
        while (position < seen && !first_bad.compare_exchange_weak(seen, position)) {}
    }
    std::int64_t result() const {
        if (malformed)
            throw nb::value_error(
                "The sparse matrix is malformed: an index is outside its shape. "
                "Hint: X.check_format(full_check=True) shows where.");
        const std::int64_t first = first_bad.load();
        return first == std::numeric_limits<std::int64_t>::max() ? kNone : first;
    }
};

Rows rows_of(const Longs& codes, const Weights& weights, std::int64_t classes) {
    Rows rows{codes.data(), nullptr, static_cast<std::int64_t>(codes.shape(0))};
    if (weights.has_value()) {
        if (static_cast<std::int64_t>(weights->shape(0)) != rows.count)
            throw nb::value_error("one weight per row is needed");
        rows.weights = weights->data();
    }
    for (std::int64_t r = 0; r < rows.count; ++r)
        if (static_cast<std::uint64_t>(rows.codes[r]) >= static_cast<std::uint64_t>(classes))
            throw nb::value_error("class codes must lie in 0 .. n_classes - 1");
    return rows;
}

// ---------------------------------------------------------------- bodies

struct Sum {
    double* out;
    std::int64_t columns;

    void entries(const Block& b, std::size_t n) const {
        const std::size_t ahead = n > kAhead ? n - kAhead : 0;
        std::size_t i = 0;
        for (; i < std::min(n, kAhead); ++i) prefetch(out + b.cls[i] * columns + b.col[i]);
        for (i = 0; i < ahead; ++i) {
            prefetch(out + b.cls[i + kAhead] * columns + b.col[i + kAhead]);
            out[b.cls[i] * columns + b.col[i]] += b.weight[i] * b.value[i];
        }
        for (; i < n; ++i) out[b.cls[i] * columns + b.col[i]] += b.weight[i] * b.value[i];
    }
    void span(std::int64_t cls, double weight, std::int64_t first, const double* value,
              std::size_t n) const {
        double* row = out + cls * columns + first;
        for (std::size_t i = 0; i < n; ++i) row[i] += weight * value[i];
    }
};

// Sums of w (x - mean), w (x - mean)^2 and, for sparse input, of w over the stored entries.
struct Centred {
    const double* mean;
    double* deviation;
    double* square;
    double* present;  // null for dense input
    std::int64_t columns;

    void add(std::int64_t at, double weight, double value) const {
        const double difference = value - mean[at];
        deviation[at] += weight * difference;
        square[at] += weight * difference * difference;
        if (present) present[at] += weight;
    }
    void entries(const Block& b, std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i)
            add(b.cls[i] * columns + b.col[i], b.weight[i], b.value[i]);
    }
    void span(std::int64_t cls, double weight, std::int64_t first, const double* value,
              std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i) add(cls * columns + first + i, weight, value[i]);
    }
};

// Weight of every (class, column, code); zeros are left to the caller for sparse input.
struct Category {
    const std::int64_t* offsets;
    double* out;
    std::int64_t width;
    bool skip_zero;

    void add(std::int64_t cls, std::int64_t col, double weight, double value) const {
        const auto code = static_cast<std::int64_t>(value);
        const std::int64_t at = offsets[col] + code;
        if ((skip_zero && code == 0) || at >= offsets[col + 1]) return;
        out[cls * width + at] += weight;
    }
    void entries(const Block& b, std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i) add(b.cls[i], b.col[i], b.weight[i], b.value[i]);
    }
    void span(std::int64_t cls, double weight, std::int64_t first, const double* value,
              std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i)
            add(cls, first + static_cast<std::int64_t>(i), weight, value[i]);
    }
};

struct ColumnMax {
    std::int64_t* out;

    void entries(const Block& b, std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i)
            out[b.col[i]] = std::max(out[b.col[i]], static_cast<std::int64_t>(b.value[i]));
    }
    void span(std::int64_t, double, std::int64_t first, const double* value,
              std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i)
            out[first + i] = std::max(out[first + i], static_cast<std::int64_t>(value[i]));
    }
};

// ---------------------------------------------------------------- engines

struct Compressed {
    const char* data;
    std::ptrdiff_t item;
    const void* indices;
    bool wide;  // 64-bit indices
    const std::int64_t* indptr;
    std::int64_t major;
    std::int64_t minor;
    std::int64_t entries;
    Load load;
    double threshold;
};

Compressed compressed(const Array& data, const Array& indices, const Longs& indptr,
                      std::int64_t minor, int check, double threshold) {
    if (data.ndim() != 1 || indices.ndim() != 1 || indptr.shape(0) < 1)
        throw nb::value_error("data, indices and indptr must be one-dimensional");
    if ((data.shape(0) > 1 && data.stride(0) != 1) ||
        (indices.shape(0) > 1 && indices.stride(0) != 1))
        throw nb::value_error("data and indices must be contiguous");
    const bool narrow = indices.dtype() == nb::dtype<std::int32_t>();
    if (!narrow && indices.dtype() != nb::dtype<std::int64_t>())
        throw nb::type_error("indices must be int32 or int64");
    Compressed x;
    x.data = static_cast<const char*>(data.data());
    x.item = data.dtype().bits / 8;
    x.indices = indices.data();
    x.wide = !narrow;
    x.indptr = indptr.data();
    x.major = static_cast<std::int64_t>(indptr.shape(0)) - 1;
    x.minor = minor;
    x.entries = x.indptr[x.major];
    x.load = loader(data.dtype(), check, x.item);
    x.threshold = threshold;
    bool monotone = x.indptr[0] == 0;
    for (std::int64_t r = 0; r < x.major; ++r) monotone &= x.indptr[r] <= x.indptr[r + 1];
    const auto stored = static_cast<std::int64_t>(std::min(data.shape(0), indices.shape(0)));
    if (!monotone || x.entries > stored)
        throw nb::value_error("The sparse matrix is malformed: indptr does not rise from 0 to nnz.");
    return x;
}

// Threads that share the columns of a CSR matrix, in stripes of 4,096 dealt out in turn.
std::int64_t stripe_count(std::int64_t entries, std::int64_t columns) {
    if (entries < kSerialEntries || columns < 4 * 4096) return 1;
    const unsigned hardware = std::thread::hardware_concurrency();
    return hardware >= 4 ? 4 : (hardware >= 2 ? 2 : 1);
}

template <class Index, class Body>
void walk_csr_stripe(const Compressed& x, const Rows& rows, const Body& body,
                     std::int64_t stripe, std::int64_t stripes, Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    const auto columns = static_cast<std::uint64_t>(x.minor);
    const std::int64_t mask = stripes - 1;
    Block block;
    double value[kBlock];
    std::int64_t row = 0;
    for (std::int64_t start = 0; start < x.entries; start += kBlock) {
        const auto n = static_cast<std::size_t>(
            std::min<std::int64_t>(kBlock, x.entries - start));
        const std::size_t good = x.load(x.data + start * x.item, x.item, n, x.threshold, value);
        if (good < n) {
            outcome.bad_at(start + static_cast<std::int64_t>(good));
            return;
        }
        std::size_t i = 0;
        std::size_t kept = 0;
        bool outside = false;
        while (i < n) {
            const std::int64_t at = start + static_cast<std::int64_t>(i);
            while (x.indptr[row + 1] <= at) ++row;
            const auto stop = static_cast<std::size_t>(
                std::min<std::int64_t>(static_cast<std::int64_t>(n), x.indptr[row + 1] - start));
            const std::int64_t cls = rows.codes[row];
            const double weight = rows.weight(row);
            for (; i < stop; ++i) {
                const auto col = static_cast<std::int64_t>(indices[start + i]);
                outside |= static_cast<std::uint64_t>(col) >= columns;
                block.value[kept] = value[i];
                block.weight[kept] = weight;
                block.cls[kept] = cls;
                block.col[kept] = col;
                kept += ((col >> 12) & mask) == stripe;
            }
        }
        if (outside) {
            outcome.malformed = true;
            return;
        }
        body.entries(block, kept);
    }
}

template <class Index, class Body>
void walk_csr(const Compressed& x, const Rows& rows, const Body& body, Outcome& outcome) {
    const std::int64_t stripes = stripe_count(x.entries, x.minor);
    bayesieve::for_each_block(
        static_cast<std::size_t>(stripes), 1, [&](std::size_t stripe, std::size_t, std::size_t) {
            walk_csr_stripe<Index>(x, rows, body, static_cast<std::int64_t>(stripe), stripes,
                                   outcome);
        });
}

template <class Index, class Body>
void walk_csc_columns(const Compressed& x, const Rows& rows, const Body& body,
                      std::int64_t first, std::int64_t last, Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    Block block;
    std::int64_t col = first;
    for (std::int64_t start = x.indptr[first]; start < x.indptr[last]; start += kBlock) {
        const auto n = static_cast<std::size_t>(
            std::min<std::int64_t>(kBlock, x.indptr[last] - start));
        const std::size_t good =
            x.load(x.data + start * x.item, x.item, n, x.threshold, block.value);
        if (good < n) {
            outcome.bad_at(start + static_cast<std::int64_t>(good));
            return;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = static_cast<std::int64_t>(indices[start + i]);
            if (static_cast<std::uint64_t>(row) >= static_cast<std::uint64_t>(rows.count)) {
                outcome.malformed = true;
                return;
            }
            while (x.indptr[col + 1] <= start + static_cast<std::int64_t>(i)) ++col;
            block.weight[i] = rows.weight(row);
            block.cls[i] = rows.codes[row];
            block.col[i] = col;
        }
        body.entries(block, n);
    }
}

template <class Index, class Body>
void walk_csc(const Compressed& x, const Rows& rows, const Body& body, Outcome& outcome) {
    const auto columns = static_cast<std::size_t>(x.major);
    const std::size_t block = x.entries < kSerialEntries ? std::max<std::size_t>(columns, 1)
                                                         : kColumnBlock;
    bayesieve::for_each_block(columns, block,
                              [&](std::size_t, std::size_t first, std::size_t last) {
                                  walk_csc_columns<Index>(
                                      x, rows, body, static_cast<std::int64_t>(first),
                                      static_cast<std::int64_t>(last), outcome);
                              });
}

template <class Body>
std::int64_t walk_compressed(const Compressed& x, bool by_row, const Rows& rows,
                             const Body& body) {
    if ((by_row ? x.major : x.minor) != rows.count)
        throw nb::value_error("one class code per row is needed");
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        if (by_row) {
            if (x.wide) walk_csr<std::int64_t>(x, rows, body, outcome);
            else walk_csr<std::int32_t>(x, rows, body, outcome);
        } else {
            if (x.wide) walk_csc<std::int64_t>(x, rows, body, outcome);
            else walk_csc<std::int32_t>(x, rows, body, outcome);
        }
    }
    return outcome.result();
}

struct Dense {
    const char* data;
    std::ptrdiff_t row_step;  // bytes
    std::ptrdiff_t col_step;
    std::int64_t rows;
    std::int64_t columns;
    Load load_row;
    Load load_column;
    double threshold;
};

Dense dense(const Array& data, int check, double threshold) {
    if (data.ndim() != 2) throw nb::value_error("a dense matrix must be two-dimensional");
    const std::ptrdiff_t item = data.dtype().bits / 8;
    Dense x;
    x.data = static_cast<const char*>(data.data());
    x.row_step = static_cast<std::ptrdiff_t>(data.stride(0)) * item;
    x.col_step = static_cast<std::ptrdiff_t>(data.stride(1)) * item;
    x.rows = static_cast<std::int64_t>(data.shape(0));
    x.columns = static_cast<std::int64_t>(data.shape(1));
    x.load_row = loader(data.dtype(), check, x.col_step);
    x.load_column = loader(data.dtype(), check, x.row_step);
    x.threshold = threshold;
    return x;
}

template <class Body>
void walk_dense_rows(const Dense& x, const Rows& rows, const Body& body, std::int64_t first,
                     std::size_t n, Outcome& outcome) {
    double value[kBlock];
    for (std::int64_t row = 0; row < x.rows; ++row) {
        const char* base = x.data + row * x.row_step + first * x.col_step;
        const std::size_t good = x.load_row(base, x.col_step, n, x.threshold, value);
        if (good < n) {
            outcome.bad_at(row * x.columns + first + static_cast<std::int64_t>(good));
            return;
        }
        body.span(rows.codes[row], rows.weight(row), first, value, n);
    }
}

template <class Body>
void walk_dense_column(const Dense& x, const Rows& rows, const Body& body, std::int64_t col,
                       Outcome& outcome) {
    Block block;
    std::fill_n(block.col, kBlock, col);
    for (std::int64_t start = 0; start < x.rows; start += kBlock) {
        const auto n =
            static_cast<std::size_t>(std::min<std::int64_t>(kBlock, x.rows - start));
        const char* base = x.data + start * x.row_step + col * x.col_step;
        const std::size_t good = x.load_column(base, x.row_step, n, x.threshold, block.value);
        if (good < n) {
            outcome.bad_at((start + static_cast<std::int64_t>(good)) * x.columns + col);
            return;
        }
        std::copy_n(rows.codes + start, n, block.cls);
        if (rows.weights) std::copy_n(rows.weights + start, n, block.weight);
        else std::fill_n(block.weight, n, 1.0);
        body.entries(block, n);
    }
}

template <class Body>
std::int64_t walk_dense(const Dense& x, const Rows& rows, const Body& body) {
    if (x.rows != rows.count) throw nb::value_error("one class code per row is needed");
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        const bool serial = x.rows * x.columns < kSerialEntries;
        const auto columns = static_cast<std::size_t>(x.columns);
        if (std::abs(x.col_step) <= std::abs(x.row_step)) {
            auto tiles = [&](std::size_t, std::size_t first, std::size_t last) {
                for (; first < last; first += kBlock)
                    walk_dense_rows(x, rows, body, static_cast<std::int64_t>(first),
                                    std::min(kBlock, last - first), outcome);
            };
            bayesieve::for_each_block(columns, serial ? std::max(columns, kBlock) : kBlock,
                                      tiles);
        } else {
            auto strip = [&](std::size_t, std::size_t first, std::size_t last) {
                for (; first < last; ++first)
                    walk_dense_column(x, rows, body, static_cast<std::int64_t>(first), outcome);
            };
            bayesieve::for_each_block(
                columns, serial ? std::max<std::size_t>(columns, 1) : 8, strip);
        }
    }
    return outcome.result();
}

void same_width(std::size_t got, std::int64_t expected) {
    if (static_cast<std::int64_t>(got) != expected)
        throw nb::value_error("the output does not have one column per feature");
}

// ---------------------------------------------------------------- tables for few classes

std::int64_t compressed_class_sums(const Array& data, const Array& indices, const Longs& indptr,
                                   bool by_row, const Longs& codes, const Weights& weights,
                                   int check, double threshold, const Table& out) {
    const auto columns = static_cast<std::int64_t>(out.shape(1));
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(out.shape(0)));
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : rows.count, check, threshold);
    if (!by_row) same_width(out.shape(1), x.major);
    return walk_compressed(x, by_row, rows, Sum{out.data(), columns});
}

std::int64_t dense_class_sums(const Array& data, const Longs& codes, const Weights& weights,
                              int check, double threshold, const Table& out) {
    const Dense x = dense(data, check, threshold);
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(out.shape(0)));
    same_width(out.shape(1), x.columns);
    return walk_dense(x, rows, Sum{out.data(), x.columns});
}

void same_shape(const Grid& mean, const Table& table) {
    if (mean.shape(0) != table.shape(0) || mean.shape(1) != table.shape(1))
        throw nb::value_error("mean and outputs must have the same shape");
}

std::int64_t compressed_centred_sums(const Array& data, const Array& indices,
                                     const Longs& indptr, bool by_row, const Longs& codes,
                                     const Weights& weights, const Grid& mean,
                                     const Table& deviation, const Table& square,
                                     const Table& present) {
    same_shape(mean, deviation);
    same_shape(mean, square);
    same_shape(mean, present);
    const auto columns = static_cast<std::int64_t>(mean.shape(1));
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(mean.shape(0)));
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : rows.count, kFinite, 0.0);
    if (!by_row) same_width(mean.shape(1), x.major);
    return walk_compressed(
        x, by_row, rows,
        Centred{mean.data(), deviation.data(), square.data(), present.data(), columns});
}

std::int64_t dense_centred_sums(const Array& data, const Longs& codes, const Weights& weights,
                                const Grid& mean, const Table& deviation, const Table& square) {
    same_shape(mean, deviation);
    same_shape(mean, square);
    const Dense x = dense(data, kFinite, 0.0);
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(mean.shape(0)));
    same_width(mean.shape(1), x.columns);
    return walk_dense(
        x, rows, Centred{mean.data(), deviation.data(), square.data(), nullptr, x.columns});
}

// The largest code of every column (0 where nothing is stored), codes checked on the way.
std::int64_t compressed_column_max(const Array& data, const Array& indices, const Longs& indptr,
                                   bool by_row, std::int64_t row_count, const LongsOut& out) {
    const auto columns = static_cast<std::int64_t>(out.shape(0));
    const std::vector<std::int64_t> codes(static_cast<std::size_t>(row_count), 0);
    const Rows rows{codes.data(), nullptr, row_count};
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : row_count, kCategory, 0.0);
    if (!by_row) same_width(out.shape(0), x.major);
    return walk_compressed(x, by_row, rows, ColumnMax{out.data()});
}

std::int64_t dense_column_max(const Array& data, const LongsOut& out) {
    const Dense x = dense(data, kCategory, 0.0);
    same_width(out.shape(0), x.columns);
    const std::vector<std::int64_t> codes(static_cast<std::size_t>(x.rows), 0);
    return walk_dense(x, Rows{codes.data(), nullptr, x.rows}, ColumnMax{out.data()});
}

void check_offsets(const Longs& offsets, const Table& out) {
    const std::int64_t* o = offsets.data();
    const auto columns = static_cast<std::int64_t>(offsets.shape(0)) - 1;
    bool fine = columns >= 0 && o[0] == 0;
    for (std::int64_t j = 0; fine && j < columns; ++j) fine = o[j] <= o[j + 1];
    if (!fine || o[columns] != static_cast<std::int64_t>(out.shape(1)))
        throw nb::value_error("offsets must rise from 0 to the width of the output");
}

std::int64_t compressed_category_sums(const Array& data, const Array& indices,
                                      const Longs& indptr, bool by_row, const Longs& codes,
                                      const Weights& weights, const Longs& offsets,
                                      const Table& out) {
    check_offsets(offsets, out);
    const auto columns = static_cast<std::int64_t>(offsets.shape(0)) - 1;
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(out.shape(0)));
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : rows.count, kCategory, 0.0);
    if (!by_row) same_width(static_cast<std::size_t>(columns), x.major);
    const auto width = static_cast<std::int64_t>(out.shape(1));
    return walk_compressed(x, by_row, rows, Category{offsets.data(), out.data(), width, true});
}

std::int64_t dense_category_sums(const Array& data, const Longs& codes, const Weights& weights,
                                 const Longs& offsets, const Table& out) {
    check_offsets(offsets, out);
    const Dense x = dense(data, kCategory, 0.0);
    const Rows rows = rows_of(codes, weights, static_cast<std::int64_t>(out.shape(0)));
    same_width(offsets.shape(0) - 1, x.columns);
    const auto width = static_cast<std::int64_t>(out.shape(1));
    return walk_dense(x, rows, Category{offsets.data(), out.data(), width, false});
}

// ---------------------------------------------------------------- tables for many classes

// CSC result (classes x columns) without any array of that size. Rows are visited class by
// class, so the classes of a column appear in rising order and each new one opens the
// column's next slot. Without `values` the slots are only counted.
struct Slots {
    std::int64_t* next;           // per column: slots so far, or the position of the last slot
    std::int32_t* last;           // per column: class + 1 of the last slot, 0 for none
    std::int32_t* classes = nullptr;
    double* values = nullptr;

    void add(std::int64_t cls, std::int64_t col, double amount) const {
        if (amount == 0.0) return;
        const auto mark = static_cast<std::int32_t>(cls + 1);
        if (last[col] != mark) {
            last[col] = mark;
            const std::int64_t at = ++next[col];
            if (values) {
                classes[at] = static_cast<std::int32_t>(cls);
                values[at] = amount;
            }
        } else if (values) {
            values[next[col]] += amount;
        }
    }
};

template <class Index>
void sparse_from_csr(const Compressed& x, const Rows& rows,
                     const std::vector<std::int64_t>& order, const Slots& slots,
                     Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    double value[kBlock];
    for (const std::int64_t row : order) {
        const std::int64_t cls = rows.codes[row];
        const double weight = rows.weight(row);
        for (std::int64_t start = x.indptr[row]; start < x.indptr[row + 1]; start += kBlock) {
            const auto n = static_cast<std::size_t>(
                std::min<std::int64_t>(kBlock, x.indptr[row + 1] - start));
            const std::size_t good =
                x.load(x.data + start * x.item, x.item, n, x.threshold, value);
            if (good < n) {  // rows come out of order: look for the first one further on too
                outcome.bad_at(start + static_cast<std::int64_t>(good));
                break;
            }
            for (std::size_t i = 0; i < n; ++i)
                if (static_cast<std::uint64_t>(indices[start + i]) >=
                    static_cast<std::uint64_t>(x.minor)) {
                    outcome.malformed = true;
                    return;
                }
            for (std::size_t i = 0; i < n; ++i) {
                const auto col = static_cast<std::int64_t>(indices[start + i]);
                if (i + 8 < n) prefetch(slots.last + indices[start + i + 8]);
                slots.add(cls, col, weight * value[i]);
            }
        }
    }
}

// One accumulator per class; each column is gathered, put in class order and emptied.
template <class Index>
void sparse_from_csc(const Compressed& x, const Rows& rows, std::int64_t class_count,
                     const Slots& slots, Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    std::vector<double> sum(static_cast<std::size_t>(class_count), 0.0);
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(class_count), 0);
    std::vector<std::int32_t> touched;
    double value[kBlock];
    for (std::int64_t col = 0; col < x.major; ++col) {
        for (std::int64_t start = x.indptr[col]; start < x.indptr[col + 1]; start += kBlock) {
            const auto n = static_cast<std::size_t>(
                std::min<std::int64_t>(kBlock, x.indptr[col + 1] - start));
            const std::size_t good =
                x.load(x.data + start * x.item, x.item, n, x.threshold, value);
            if (good < n) {
                outcome.bad_at(start + static_cast<std::int64_t>(good));
                return;
            }
            for (std::size_t i = 0; i < n; ++i) {
                const auto row = static_cast<std::int64_t>(indices[start + i]);
                if (static_cast<std::uint64_t>(row) >= static_cast<std::uint64_t>(rows.count)) {
                    outcome.malformed = true;
                    return;
                }
                const std::int64_t cls = rows.codes[row];
                if (!seen[cls]) {
                    seen[cls] = 1;
                    touched.push_back(static_cast<std::int32_t>(cls));
                }
                sum[cls] += rows.weight(row) * value[i];
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const std::int32_t cls : touched) {
            slots.add(cls, col, sum[cls]);
            sum[cls] = 0.0;
            seen[cls] = 0;
        }
        touched.clear();
    }
}

// Rows in class order, first to last within a class (counting sort).
std::vector<std::int64_t> class_order(const Rows& rows, std::int64_t class_count) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(class_count) + 1, 0);
    for (std::int64_t r = 0; r < rows.count; ++r) ++start[rows.codes[r] + 1];
    for (std::int64_t c = 0; c < class_count; ++c) start[c + 1] += start[c];
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows.count));
    for (std::int64_t r = 0; r < rows.count; ++r) order[start[rows.codes[r]]++] = r;
    return order;
}

std::int64_t walk_sparse(const Compressed& x, bool by_row, const Rows& rows,
                         std::int64_t class_count, const Slots& slots) {
    if ((by_row ? x.major : x.minor) != rows.count)
        throw nb::value_error("one class code per row is needed");
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        if (by_row) {
            const std::vector<std::int64_t> order = class_order(rows, class_count);
            if (x.wide) sparse_from_csr<std::int64_t>(x, rows, order, slots, outcome);
            else sparse_from_csr<std::int32_t>(x, rows, order, slots, outcome);
        } else {
            if (x.wide) sparse_from_csc<std::int64_t>(x, rows, class_count, slots, outcome);
            else sparse_from_csc<std::int32_t>(x, rows, class_count, slots, outcome);
        }
    }
    return outcome.result();
}

// Number of classes with a non-zero sum in each column.
std::int64_t sparse_class_slots(const Array& data, const Array& indices, const Longs& indptr,
                                bool by_row, const Longs& codes, const Weights& weights,
                                std::int64_t class_count, int check, double threshold,
                                const LongsOut& slots) {
    const auto columns = static_cast<std::int64_t>(slots.shape(0));
    const Rows rows = rows_of(codes, weights, class_count);
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : rows.count, check, threshold);
    if (!by_row) same_width(slots.shape(0), x.major);
    std::vector<std::int32_t> last(static_cast<std::size_t>(columns), 0);
    return walk_sparse(x, by_row, rows, class_count, Slots{slots.data(), last.data()});
}

// Fills the CSC arrays whose column starts are the cumulated slots.
void sparse_class_sums(const Array& data, const Array& indices, const Longs& indptr,
                       bool by_row, const Longs& codes, const Weights& weights,
                       std::int64_t class_count, int check, double threshold,
                       const Longs& starts, const IntsOut& out_classes,
                       const DoublesOut& out_values) {
    const auto columns = static_cast<std::int64_t>(starts.shape(0)) - 1;
    const Rows rows = rows_of(codes, weights, class_count);
    const Compressed x =
        compressed(data, indices, indptr, by_row ? columns : rows.count, check, threshold);
    if (!by_row) same_width(static_cast<std::size_t>(columns), x.major);
    if (static_cast<std::int64_t>(out_values.shape(0)) != starts.data()[columns] ||
        out_classes.shape(0) != out_values.shape(0))
        throw nb::value_error("outputs must have one place per slot");
    std::vector<std::int64_t> next(starts.data(), starts.data() + columns);
    for (auto& position : next) --position;
    std::vector<std::int32_t> last(static_cast<std::size_t>(columns), 0);
    walk_sparse(x, by_row, rows, class_count,
                Slots{next.data(), last.data(), out_classes.data(), out_values.data()});
}

}  // namespace

void register_class_sums(nb::module_& m) {
    using namespace nb::literals;
    m.def("compressed_class_sums", &compressed_class_sums, "data"_a, "indices"_a, "indptr"_a,
          "by_row"_a, "codes"_a, "weights"_a.none(), "check"_a, "threshold"_a,
          "out"_a.noconvert(),
          "Add the class sums of a CSR (by_row) or CSC matrix to out (K, m); return the first "
          "offending stored position or -1.");
    m.def("dense_class_sums", &dense_class_sums, "data"_a, "codes"_a, "weights"_a.none(),
          "check"_a, "threshold"_a, "out"_a.noconvert(),
          "Add the class sums of a dense matrix to out (K, m); return the first offending "
          "row * m + column or -1.");
    m.def("compressed_centred_sums", &compressed_centred_sums, "data"_a, "indices"_a,
          "indptr"_a, "by_row"_a, "codes"_a, "weights"_a.none(), "mean"_a,
          "deviation"_a.noconvert(), "square"_a.noconvert(), "present"_a.noconvert(),
          "Add w (x - mean), w (x - mean)^2 and w of every stored entry.");
    m.def("dense_centred_sums", &dense_centred_sums, "data"_a, "codes"_a, "weights"_a.none(),
          "mean"_a, "deviation"_a.noconvert(), "square"_a.noconvert(),
          "Add w (x - mean) and w (x - mean)^2 of every entry.");
    m.def("compressed_column_max", &compressed_column_max, "data"_a, "indices"_a, "indptr"_a,
          "by_row"_a, "row_count"_a, "out"_a.noconvert(),
          "Raise out (m,) to the largest category code of each column.");
    m.def("dense_column_max", &dense_column_max, "data"_a, "out"_a.noconvert(),
          "Raise out (m,) to the largest category code of each column.");
    m.def("compressed_category_sums", &compressed_category_sums, "data"_a, "indices"_a,
          "indptr"_a, "by_row"_a, "codes"_a, "weights"_a.none(), "offsets"_a,
          "out"_a.noconvert(),
          "Add the weight of every non-zero (class, column, code) to out (K, offsets[-1]).");
    m.def("dense_category_sums", &dense_category_sums, "data"_a, "codes"_a,
          "weights"_a.none(), "offsets"_a, "out"_a.noconvert(),
          "Add the weight of every (class, column, code) to out (K, offsets[-1]).");
    m.def("sparse_class_slots", &sparse_class_slots, "data"_a, "indices"_a, "indptr"_a,
          "by_row"_a, "codes"_a, "weights"_a.none(), "class_count"_a, "check"_a,
          "threshold"_a, "slots"_a.noconvert(),
          "Add to slots (m,) the number of classes with a non-zero sum in each column.");
    m.def("sparse_class_sums", &sparse_class_sums, "data"_a, "indices"_a, "indptr"_a,
          "by_row"_a, "codes"_a, "weights"_a.none(), "class_count"_a, "check"_a,
          "threshold"_a, "starts"_a, "out_classes"_a.noconvert(),
          "out_values"_a.noconvert(),
          "Fill the row indices and values of the CSC table with these column starts.");
}
