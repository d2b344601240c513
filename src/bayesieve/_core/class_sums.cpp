// Class sums: one pass over a matrix, one table of (class, column) totals.
//
// Every kernel is a walk (matrix_walks.h: how a format is read) times a body (what is added
// up). Tables for many classes are built without any array of their full size.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "matrix_walks.h"

namespace {

namespace nb = nanobind;
using namespace bayesieve::class_sums;
using bayesieve::Pace;

using Grid = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using LongsOut = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntsOut = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kAhead = 24;           // entries between a prefetch and its use

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address, 1, 3);
#else
    (void)address;
#endif
}

// ---------------------------------------------------------------- bodies

struct Sum {
    static constexpr bool keeps_classes_apart = true;
    static constexpr bool adds_products = true;
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
    // The same with addresses and products at hand: half the traffic, for the widest tables.
    void add_at(const std::int64_t* at, const double* product, std::size_t n) const {
        const std::size_t ahead = n > kAhead ? n - kAhead : 0;
        std::size_t i = 0;
        for (; i < std::min(n, kAhead); ++i) prefetch(out + at[i]);
        for (i = 0; i < ahead; ++i) {
            prefetch(out + at[i + kAhead]);
            out[at[i]] += product[i];
        }
        for (; i < n; ++i) out[at[i]] += product[i];
    }
    void span(std::int64_t cls, double weight, std::int64_t first, const double* value,
              std::size_t n) const {
        double* row = out + cls * columns + first;
        for (std::size_t i = 0; i < n; ++i) row[i] += weight * value[i];
    }
};

// Sums of w (x - mean), w (x - mean)^2 and, for sparse input, of w over the stored entries.
struct Centred {
    static constexpr bool keeps_classes_apart = true;
    static constexpr bool adds_products = false;
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
    static constexpr bool keeps_classes_apart = true;
    static constexpr bool adds_products = false;
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
    static constexpr bool keeps_classes_apart = false;
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

void same_width(std::size_t got, std::int64_t expected) {
    if (static_cast<std::int64_t>(got) != expected)
        throw nb::value_error("the output does not have one column per feature");
}

// ---------------------------------------------------------------- structure

template <class Index>
bool repeats(const Index* indices, const Longs& indptr, std::int64_t stored, std::int64_t minor) {
    std::vector<std::int64_t> last;  // made when a row is met whose indices do not rise
    Pace pace(kPace);
    for (std::int64_t r = 0; r + 1 < static_cast<std::int64_t>(indptr.shape(0)); ++r) {
        const std::int64_t begin = indptr(r), end = indptr(r + 1);
        if (begin < 0 || end > stored) return true;
        pace.spend(1 + static_cast<std::size_t>(std::max<std::int64_t>(0, end - begin)));
        bool rises = true;
        for (std::int64_t at = begin + 1; at < end; ++at) rises &= indices[at - 1] < indices[at];
        if (rises) continue;
        if (last.empty()) last.assign(static_cast<std::size_t>(minor), kNone);
        for (std::int64_t at = begin; at < end; ++at) {
            const auto i = static_cast<std::int64_t>(indices[at]);
            if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(minor)) return true;
            if (last[static_cast<std::size_t>(i)] == r) return true;
            last[static_cast<std::size_t>(i)] = r;
        }
    }
    return false;
}

// Whether any cell is stored twice; unlike SciPy's canonical format, order does not matter.
bool has_duplicates(const Array& indices, const Longs& indptr, std::int64_t minor) {
    const bool narrow = indices.dtype() == nb::dtype<std::int32_t>();
    if (indices.ndim() != 1 || indptr.shape(0) < 1 ||
        indptr(indptr.shape(0) - 1) > static_cast<std::int64_t>(indices.shape(0)))
        throw nb::value_error("The sparse matrix is malformed.");
    if (!narrow && indices.dtype() != nb::dtype<std::int64_t>())
        throw nb::type_error("indices must be int32 or int64");
    const auto stored = static_cast<std::int64_t>(indices.shape(0));
    const bayesieve::Kernel kernel;
    if (narrow)
        return repeats(static_cast<const std::int32_t*>(indices.data()), indptr, stored, minor);
    return repeats(static_cast<const std::int64_t*>(indices.data()), indptr, stored, minor);
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
// column's next slot. Without `values` the slots are only counted. The slots are counted in one
// pass and filled in another, and the matrix may have been changed in between: no slot beyond
// those of its column is ever written to.
struct Slots {
    std::int64_t* next;           // per column: slots so far, or the position of the last slot
    std::int32_t* last;           // per column: class + 1 of the last slot, 0 for none
    const std::int64_t* starts = nullptr;
    std::int32_t* classes = nullptr;
    double* values = nullptr;

    void add(std::int64_t cls, std::int64_t col, double amount) const {
        if (amount == 0.0) return;
        const auto mark = static_cast<std::int32_t>(cls + 1);
        if (last[col] != mark) {
            last[col] = mark;
            const std::int64_t at = ++next[col];
            if (values && at < starts[col + 1]) {
                classes[at] = static_cast<std::int32_t>(cls);
                values[at] = amount;
            }
        } else if (values && next[col] < starts[col + 1]) {
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
    std::int64_t column[kBlock];
    Pace pace(kPace);
    for (const std::int64_t row : order) {
        const std::int64_t cls = rows.codes[row];
        const double weight = rows.weight(row);
        pace.spend(1);
        for (std::int64_t start = x.indptr[row]; start < x.indptr[row + 1]; start += kBlock) {
            const auto n = static_cast<std::size_t>(
                std::min<std::int64_t>(kBlock, x.indptr[row + 1] - start));
            const std::size_t good =
                x.load(x.data + start * x.item, x.item, n, x.threshold, value);
            if (good < n) {  // rows come out of order: look for the first one further on too
                outcome.bad_at(start + static_cast<std::int64_t>(good));
                break;
            }
            pace.spend(n);
            bool outside = false;
            for (std::size_t i = 0; i < n; ++i) {
                column[i] = static_cast<std::int64_t>(indices[start + i]);
                outside |= static_cast<std::uint64_t>(column[i]) >=
                           static_cast<std::uint64_t>(x.minor);
            }
            if (outside) {
                outcome.malformed = true;
                return;
            }
            for (std::size_t i = 0; i < n; ++i) {
                if (i + 8 < n) prefetch(slots.last + column[i + 8]);
                slots.add(cls, column[i], weight * value[i]);
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
    Pace pace(kPace);
    for (std::int64_t col = 0; col < x.major; ++col) {
        pace.spend(1);
        for (std::int64_t start = x.indptr[col]; start < x.indptr[col + 1]; start += kBlock) {
            const auto n = static_cast<std::size_t>(
                std::min<std::int64_t>(kBlock, x.indptr[col + 1] - start));
            const std::size_t good =
                x.load(x.data + start * x.item, x.item, n, x.threshold, value);
            if (good < n) {
                outcome.bad_at(start + static_cast<std::int64_t>(good));
                return;
            }
            pace.spend(n);
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
        const bayesieve::Kernel kernel;
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
    const std::int64_t* s = starts.data();
    for (std::int64_t col = 0; col < columns; ++col)
        if (s[col] < 0 || s[col] > s[col + 1])
            throw nb::value_error("starts must rise from 0 to the number of slots");
    std::vector<std::int64_t> next(s, s + columns);
    for (auto& position : next) --position;
    std::vector<std::int32_t> last(static_cast<std::size_t>(columns), 0);
    const std::int64_t bad =
        walk_sparse(x, by_row, rows, class_count,
                    Slots{next.data(), last.data(), s, out_classes.data(), out_values.data()});
    bool as_before = bad == kNone;
    for (std::int64_t col = 0; col < columns; ++col) as_before &= next[col] == s[col + 1] - 1;
    if (!as_before)
        throw nb::value_error(
            "X was changed while it was counted; it must stay as it is until the call returns. "
            "Hint: give a copy to the thread that changes it.");
}

}  // namespace

void register_class_sums(nanobind::module_& m) {
    using namespace nanobind::literals;
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
    m.def("has_duplicates", &has_duplicates, "indices"_a, "indptr"_a, "minor"_a,
          "Whether a CSR or CSC matrix stores any cell twice, in whatever order.");
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
