// Walks over dense, CSR and CSC matrices that hand blocks of entries to a body.
//
// A body adds up what it is given: entries(block, n) for any n entries, and
// span(class, weight, first_column, values, n) for neighbours in one dense row. Work is
// shared among threads by column, or by class where the body keeps classes apart, never by
// row: each sum is formed by one thread in row order, so the result is the same on any number
// of threads and for every format.
//
// Structure (pointers, indices, class codes) is checked here as well, because a malformed
// matrix would otherwise write outside the table. Another thread may change the matrix while it
// is walked: pointers are copied before they are checked, and values and indices are checked
// where they have been copied to, so that what is used is what was checked.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "kernel.h"
#include "value_loader.h"

namespace bayesieve::class_sums {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = std::optional<Doubles>;

constexpr std::size_t kBlock = 512;          // entries per block: 4 arrays of 4 kB stay in L1
constexpr std::size_t kColumnBlock = 2048;   // columns per task of the CSC engine
constexpr std::int64_t kSerialEntries = 1 << 17;  // below this, threads cost more than they save
constexpr std::size_t kPace = 1 << 17;  // entries between two polls: a millisecond at most
constexpr std::int64_t kNone = -1;

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

inline Rows rows_of(const Longs& codes, const Weights& weights, std::int64_t classes) {
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

struct Compressed {
    const char* data;
    std::ptrdiff_t item;
    const void* indices;
    bool wide;  // 64-bit indices
    std::vector<std::int64_t> indptr;  // a copy
    std::int64_t major;
    std::int64_t minor;
    std::int64_t entries;
    Load load;
    double threshold;
};

inline Compressed compressed(const Array& data, const Array& indices, const Longs& indptr,
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
    x.indptr.assign(indptr.data(), indptr.data() + indptr.shape(0));
    x.major = static_cast<std::int64_t>(indptr.shape(0)) - 1;
    x.minor = minor;
    x.entries = x.indptr.back();
    x.load = loader(data.dtype(), check, x.item);
    x.threshold = threshold;
    bool monotone = x.indptr[0] == 0;
    const std::int64_t* p = x.indptr.data();
    for (std::int64_t r = 0; r < x.major; ++r) monotone &= p[r] <= p[r + 1];
    const auto stored = static_cast<std::int64_t>(std::min(data.shape(0), indices.shape(0)));
    if (!monotone || x.entries > stored)
        throw nb::value_error("The sparse matrix is malformed: indptr does not rise from 0 to nnz.");
    return x;
}

// Threads that share the columns of a CSR matrix, in stripes of 4,096 dealt out in turn.
inline std::int64_t stripe_count(std::int64_t entries, std::int64_t columns) {
    if (entries < kSerialEntries || columns < 4 * 4096) return 1;
    const std::size_t threads = available_threads();
    return threads >= 4 ? 4 : (threads >= 2 ? 2 : 1);
}

template <class Index, class Body>
void walk_csr_stripe(const Compressed& x, const Rows& rows, const Body& body,
                     std::int64_t stripe, std::int64_t stripes, Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    const auto columns = static_cast<std::uint64_t>(x.minor);
    const std::int64_t mask = stripes - 1;
    const std::int64_t* const indptr = x.indptr.data();
    Pace pace(kPace);
    Block block;
    double value[kBlock];
    std::int64_t row = 0;
    for (std::int64_t start = 0; start < x.entries; start += kBlock) {
        const auto n = static_cast<std::size_t>(
            std::min<std::int64_t>(kBlock, x.entries - start));
        pace.spend(n);
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
            while (indptr[row + 1] <= at) ++row;
            const auto stop = static_cast<std::size_t>(
                std::min<std::int64_t>(static_cast<std::int64_t>(n), indptr[row + 1] - start));
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

// Which thread takes the rows of which class, if that shares the entries fairly; else empty.
inline std::vector<std::int64_t> class_owners(const Compressed& x, const Rows& rows,
                                              std::int64_t workers) {
    if (workers < 2) return {};
    std::vector<std::int64_t> entries;
    for (std::int64_t r = 0; r < rows.count; ++r) {
        const auto cls = static_cast<std::size_t>(rows.codes[r]);
        if (cls >= entries.size()) entries.resize(cls + 1, 0);
        entries[cls] += x.indptr[r + 1] - x.indptr[r];
    }
    std::vector<std::size_t> order(entries.size());
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t p, std::size_t q) { return entries[p] > entries[q]; });
    std::vector<std::int64_t> owner(entries.size()), load(static_cast<std::size_t>(workers), 0);
    for (const std::size_t c : order) {  // largest class first, to the least loaded thread
        const auto least = std::min_element(load.begin(), load.end()) - load.begin();
        owner[c] = least;
        load[static_cast<std::size_t>(least)] += entries[c];
    }
    const std::int64_t largest = *std::max_element(load.begin(), load.end());
    if (static_cast<double>(largest) * static_cast<double>(workers) >
        1.4 * static_cast<double>(x.entries))
        return {};
    return owner;
}

// Rows of some classes only: a body that keeps classes apart needs no other sharing, and no
// thread reads what another one adds.
template <class Index, class Body>
void walk_csr_classes(const Compressed& x, const Rows& rows, const Body& body,
                      const std::vector<std::int64_t>& owner, std::int64_t worker,
                      Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    const auto columns = static_cast<std::uint64_t>(x.minor);
    const std::int64_t* const indptr = x.indptr.data();
    Pace pace(kPace);
    Block block;
    std::size_t filled = 0;
    bool outside = false;
    auto flush = [&] {
        // block.col holds addresses and block.value products where the body takes those.
        if constexpr (Body::adds_products) body.add_at(block.col, block.value, filled);
        else body.entries(block, filled);
        filled = 0;
    };
    for (std::int64_t row = 0; row < rows.count; ++row) {
        pace.spend(1);
        const std::int64_t cls = rows.codes[row];
        if (owner[static_cast<std::size_t>(cls)] != worker) continue;
        const double weight = rows.weight(row);
        for (std::int64_t at = indptr[row]; at < indptr[row + 1];) {
            const auto n = std::min(kBlock - filled,
                                    static_cast<std::size_t>(indptr[row + 1] - at));
            const std::size_t good = x.load(x.data + at * x.item, x.item, n, x.threshold,
                                            block.value + filled);
            if (good < n) {
                outcome.bad_at(at + static_cast<std::int64_t>(good));
                return;
            }
            if constexpr (Body::adds_products) {
                const std::int64_t first = cls * x.minor;
                for (std::size_t i = 0; i < n; ++i) {
                    const auto col = static_cast<std::int64_t>(indices[at + i]);
                    outside |= static_cast<std::uint64_t>(col) >= columns;
                    block.col[filled + i] = first + col;
                }
                if (rows.weights != nullptr)
                    for (std::size_t i = 0; i < n; ++i) block.value[filled + i] *= weight;
            } else {
                for (std::size_t i = 0; i < n; ++i) {
                    const auto col = static_cast<std::int64_t>(indices[at + i]);
                    outside |= static_cast<std::uint64_t>(col) >= columns;
                    block.weight[filled + i] = weight;
                    block.cls[filled + i] = cls;
                    block.col[filled + i] = col;
                }
            }
            filled += n;
            pace.spend(n);
            at += static_cast<std::int64_t>(n);
            if (outside) {
                outcome.malformed = true;
                return;
            }
            if (filled == kBlock) flush();
        }
    }
    flush();
}

template <class Index, class Body>
void walk_csr(const Compressed& x, const Rows& rows, const Body& body, Outcome& outcome) {
    const std::int64_t stripes = stripe_count(x.entries, x.minor);
    if constexpr (Body::keeps_classes_apart) {
        const auto owner = class_owners(x, rows, stripes);
        if (!owner.empty()) {
            bayesieve::for_each_block(static_cast<std::size_t>(stripes), 1,
                                      [&](std::size_t worker, std::size_t, std::size_t) {
                                          walk_csr_classes<Index>(
                                              x, rows, body, owner,
                                              static_cast<std::int64_t>(worker), outcome);
                                      });
            return;
        }
    }
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
    const std::int64_t* const indptr = x.indptr.data();
    Pace pace(kPace);
    Block block;
    std::int64_t col = first;
    for (std::int64_t start = indptr[first]; start < indptr[last]; start += kBlock) {
        const auto n = static_cast<std::size_t>(
            std::min<std::int64_t>(kBlock, indptr[last] - start));
        pace.spend(n);
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
            while (indptr[col + 1] <= start + static_cast<std::int64_t>(i)) ++col;
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
        const bayesieve::Kernel kernel;
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

inline Dense dense(const Array& data, int check, double threshold) {
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
    Pace pace(kPace);
    for (std::int64_t row = 0; row < x.rows; ++row) {
        pace.spend(n);
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
    Pace pace(kPace);
    for (std::int64_t start = 0; start < x.rows; start += kBlock) {
        const auto n =
            static_cast<std::size_t>(std::min<std::int64_t>(kBlock, x.rows - start));
        pace.spend(n);
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
        const bayesieve::Kernel kernel;
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

}  // namespace bayesieve::class_sums
