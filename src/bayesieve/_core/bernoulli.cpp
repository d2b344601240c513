// Gain of every column under the Bernoulli model, and the value of its null model.
//
// Two ways to keep estimates off 0 and 1: Laplace, F_c = f_c + alpha and N_c = n_c + 2 alpha, or
// truncation, F_c = f_c held in [1, upper_c]. With G = sum F_c, N = sum N_c the gain is N times
// the mutual information of that table:
//   sum_c  F_c log(F_c N / (N_c G)) + (N_c - F_c) log((N_c - F_c) N / (N_c (N - G))).
// Both ratios are near one for weak columns, so the terms are taken as divergences of what is
// present and absent from what is expected (divergence.h): nothing cancels, and no product of
// two counts overflows. A column that is never or always present says nothing: its gain is 0
// whatever smoothing makes of it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "divergence.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Vector;
using bayesieve::Zeros;
using bayesieve::Table;
using bayesieve::Indices;
using bayesieve::ClassIds;
using bayesieve::DoubleArray;
using bayesieve::IndexArray;

constexpr std::size_t kBlock = 1 << 14;
constexpr std::size_t kPaceCells = 1 << 16;  // cells between two polls
// Short texts make most columns alike: for two classes the gains of tables of small integers
// are computed once.
constexpr std::size_t kMemo = 64;

// A sum over classes in closed form is taken where its rounding is below this share of the gain.
constexpr double kNegligible = 1.0 / (1ULL << 34);

struct Rows {
    std::vector<double> raw;       // n_c
    std::vector<double> smoothed;  // N_c
    double total = 0.0;            // N
    double raw_total = 0.0;        // n
    double alpha;
    const double* upper;  // largest count of each class under truncation; null under Laplace

    Rows(const double* class_count, std::size_t classes, double alpha_, const double* upper_)
        : raw(class_count, class_count + classes), smoothed(classes), alpha(alpha_),
          upper(upper_) {
        for (std::size_t c = 0; c < classes; ++c) {
            smoothed[c] = class_count[c] + 2.0 * alpha;
            total += smoothed[c];
            raw_total += class_count[c];
        }
    }
    // F_c of a raw count.
    double lifted(double f, std::size_t c) const {
        return upper == nullptr ? f + alpha : std::min(std::max(f, 1.0), upper[c]);
    }
    // Constant up to the rounding of summed row weights.
    bool constant(double raw) const { return !(raw > 0.0) || raw >= raw_total * (1.0 - 1e-12); }

    // N_c - F_c, without the rounding of a large alpha.
    double lacking(double f, std::size_t c) const {
        const double rest =
            upper == nullptr ? (raw[c] - f) + alpha : smoothed[c] - lifted(f, c);
        return std::max(rest, 0.0);
    }
    // What one class adds, where a share `has` of all rows has the feature and `lacks` has not.
    double cell(double f, std::size_t c, double has, double lacks) const {
        return bayesieve::divergence(lifted(f, c), smoothed[c] * has) +
               bayesieve::divergence(lacking(f, c), smoothed[c] * lacks);
    }
    double null_value(double g) const {
        double value = 0.0;
        if (g > 0.0) value += g * std::log(g / total);
        if (total - g > 0.0) value += (total - g) * std::log1p(-g / total);
        return value;
    }
};

double added_up(const std::vector<double>& parts) {
    double sum = 0.0;
    for (double part : parts) sum += part;
    return sum;
}

std::size_t checked_classes(const Table& table, const Vector& class_count, const Vector& alpha) {
    if (alpha.shape(0) != 1 && alpha.shape(0) != table.shape(1))
        throw std::invalid_argument("alpha must have one value, or one for each column");
    if (class_count.shape(0) != table.shape(0))
        throw std::invalid_argument("class_count must have one value for each class");
    return table.shape(0);
}

const double* upper_of(const std::optional<Vector>& upper, std::size_t classes) {
    if (!upper) return nullptr;
    if (upper->shape(0) != classes)
        throw std::invalid_argument("upper must have one value for each class");
    return upper->data();
}

// The columns of a (K, m) table, one at a time.
class PresenceColumns {
public:
    PresenceColumns(const Table& table, const Vector& class_count, const Vector& alphas,
                 const std::optional<Vector>& upper)
        : classes_(checked_classes(table, class_count, alphas)), size_(table.shape(1)),
          cells_(table.data()), alphas_(alphas.shape(0) == 1 ? nullptr : alphas.data()),
          shared_(class_count.data(), classes_, alphas.data()[0], upper_of(upper, classes_)) {}

    // Before the first gain; apart from the constructor, as the interpreter need not wait for it.
    void prepare() {
        if (classes_ != 2 || alphas_ != nullptr || size_ <= kMemo * kMemo) return;
        memo_gain_.resize(kMemo * kMemo);
        memo_null_.resize(kMemo * kMemo);
        for (std::size_t a = 0; a < kMemo; ++a)
            for (std::size_t b = 0; b < kMemo; ++b) {
                const double cells[2] = {static_cast<double>(a), static_cast<double>(b)};
                if (cells[0] > shared_.raw[0] || cells[1] > shared_.raw[1]) continue;
                const std::size_t at = a * kMemo + b;
                memo_gain_[at] = of(cells, 1, shared_, memo_null_[at]);
            }
    }

    // Gain of column i, and what it adds to the value of the null model.
    double gain(std::size_t i, double& null_value) const {
        const double* f = cells_ + i;
        if (!memo_gain_.empty() && f[0] < kMemo && f[size_] < kMemo) {
            const auto x = static_cast<std::size_t>(f[0]);
            const auto y = static_cast<std::size_t>(f[size_]);
            if (static_cast<double>(x) == f[0] && static_cast<double>(y) == f[size_]) {
                null_value = memo_null_[x * kMemo + y];
                return memo_gain_[x * kMemo + y];
            }
        }
        if (alphas_ == nullptr) return of(f, size_, shared_, null_value);
        const Rows own(shared_.raw.data(), classes_, alphas_[i], shared_.upper);
        return of(f, size_, own, null_value);
    }

    std::size_t classes() const { return classes_; }
    std::size_t size() const { return size_; }

private:
    double of(const double* cells, std::size_t stride, const Rows& rows,
              double& null_value) const {
        double raw = 0.0, g = 0.0, rest = 0.0, sum = 0.0;
        for (std::size_t c = 0; c < classes_; ++c) {
            raw += cells[c * stride];
            g += rows.lifted(cells[c * stride], c);
            rest += rows.lacking(cells[c * stride], c);
        }
        null_value = rows.null_value(g);
        if (rows.constant(raw)) return 0.0;
        const double has = g / rows.total, lacks = rest / rows.total;
        for (std::size_t c = 0; c < classes_; ++c)
            sum += rows.cell(cells[c * stride], c, has, lacks);
        return sum;
    }

    std::size_t classes_, size_;
    const double* cells_;
    const double* alphas_;  // one for each column; null where all have that of shared_
    Rows shared_;
    std::vector<double> memo_gain_, memo_null_;
};

// Calls taken(block, column, gain) for every column, block by block, and adds up the null value.
template <class Taken>
double for_each_gain(PresenceColumns& columns, const Taken& taken) {
    columns.prepare();
    std::vector<double> parts(bayesieve::block_count(columns.size(), kBlock), 0.0);
    bayesieve::for_each_block(
        columns.size(), kBlock, [&](std::size_t b, std::size_t first, std::size_t last) {
            double sum = 0.0, null_value = 0.0;
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t i = first; i < last; ++i) {
                pace.spend(columns.classes());
                taken(b, i, columns.gain(i, null_value));
                sum += null_value;
            }
            parts[b] = sum;
        });
    return added_up(parts);
}

std::tuple<DoubleArray, double> dense_gains(const Table& table, const Vector& class_count,
                                            const Vector& alphas,
                                            const std::optional<Vector>& upper) {
    PresenceColumns columns(table, class_count, alphas, upper);
    Zeros<double> gain(columns.size());
    double null_value = 0.0;
    {
        const bayesieve::Kernel kernel;
        null_value = for_each_gain(
            columns, [&](std::size_t, std::size_t i, double value) { gain[i] = value; });
    }
    return {gain.array(), null_value};
}

// Columns that reach a gain, and theirs: nothing is written down of the others.
std::tuple<IndexArray, DoubleArray, double> columns_that_gain(const Table& table, const Vector& class_count,
                                                 const Vector& alphas,
                                                 const std::optional<Vector>& upper,
                                                 double least) {
    PresenceColumns columns(table, class_count, alphas, upper);
    std::vector<std::int64_t> places;
    std::vector<double> gains;
    double null_value = 0.0;
    {
        const bayesieve::Kernel kernel;
        std::vector<std::vector<std::pair<std::int64_t, double>>> found(
            bayesieve::block_count(columns.size(), kBlock));
        null_value = for_each_gain(columns, [&](std::size_t b, std::size_t i, double value) {
            if (value >= least) found[b].emplace_back(static_cast<std::int64_t>(i), value);
        });
        for (const auto& block : found)
            for (const auto& [place, gain] : block) {
                places.push_back(place);
                gains.push_back(gain);
            }
    }
    return {bayesieve::to_numpy(std::move(places)), bayesieve::to_numpy(std::move(gains)),
            null_value};
}

// Classes without the feature enter through sums over all classes, less those that have it.
// With a_c the estimate of an absent count, such a class adds
//   a_c log(a_c N / (N_c G)) + (N_c - a_c) log((N_c - a_c) N / (N_c (N - G))).
// Where the rounding of these sums matters, the gain is added up class by class.
std::tuple<DoubleArray, double> sparse_gains(const Indices& start, const ClassIds& row,
                                             const Vector& value, const Vector& class_count,
                                             double alpha, const std::optional<Vector>& upper) {
    const std::size_t K = class_count.shape(0), m = start.shape(0) - 1;
    const double* largest = upper_of(upper, K);
    Zeros<double> gain(m);
    std::vector<double> parts(bayesieve::block_count(m, kBlock), 0.0);
    {
        const bayesieve::Kernel kernel;
        const Rows rows(class_count.data(), K, alpha, largest);
        const double N = rows.total;
        std::vector<double> fixed_part(K, 0.0);
        double all_fixed = 0.0, all_absent = 0.0, all_rest = 0.0, fixed_size = 0.0;
        for (std::size_t c = 0; c < K; ++c) {
            const double n_c = rows.smoothed[c], a = rows.lifted(0.0, c);
            if (a > 0.0) fixed_part[c] += a * std::log(a * (N / n_c));
            if (n_c > a) fixed_part[c] += (n_c - a) * std::log1p(-a / n_c);
            all_fixed += fixed_part[c];
            fixed_size += std::fabs(fixed_part[c]);
            all_absent += a;
            all_rest += n_c - a;
        }
        const double unit = (bayesieve::kRounding + static_cast<double>(K)) * bayesieve::kUnit;
        bayesieve::for_each_block(m, kBlock, [&](std::size_t b, std::size_t first,
                                                 std::size_t last) {
            double null_sum = 0.0;
            std::vector<double> cells(K, 0.0);
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t i = first; i < last; ++i) {
                pace.spend(K);
                double raw = 0.0, present = 0.0, lacking = 0.0;
                double fixed = all_fixed, absent = all_absent, rest = all_rest;
                const auto begin = start.data()[i], end = start.data()[i + 1];
                for (auto e = begin; e < end; ++e) {
                    const auto c = static_cast<std::size_t>(row.data()[e]);
                    const double a = rows.lifted(0.0, c);
                    raw += value.data()[e];
                    present += rows.lifted(value.data()[e], c);
                    lacking += rows.lacking(value.data()[e], c);
                    fixed -= fixed_part[c];
                    absent -= a;
                    rest -= rows.smoothed[c] - a;
                }
                const double g = present + std::max(absent, 0.0);
                null_sum += rows.null_value(g);
                if (rows.constant(raw)) continue;
                const double has = g / N, lacks = (lacking + std::max(rest, 0.0)) / N;
                // Terms F log(F / e) need no - F + e, which the sums have not either.
                double sum = fixed - rest * std::log(lacks), size = fixed_size + N;
                size += std::fabs(rest * std::log(lacks));
                if (absent > 0.0) {
                    sum -= absent * std::log(g);
                    size += std::fabs(absent * std::log(g));
                }
                for (auto e = begin; e < end; ++e) {
                    const auto c = static_cast<std::size_t>(row.data()[e]);
                    const double f = value.data()[e], n_c = rows.smoothed[c];
                    sum += rows.cell(f, c, has, lacks) + (rows.lifted(f, c) - n_c * has) +
                           (rows.lacking(f, c) - n_c * lacks);
                }
                if (!(unit * size <= kNegligible * sum)) {
                    for (auto e = begin; e < end; ++e) cells[row.data()[e]] = value.data()[e];
                    sum = 0.0;
                    for (std::size_t c = 0; c < K; ++c) sum += rows.cell(cells[c], c, has, lacks);
                    for (auto e = begin; e < end; ++e) cells[row.data()[e]] = 0.0;
                }
                gain[i] = std::max(sum, 0.0);
            }
            parts[b] = null_sum;
        });
    }
    return {gain.array(), added_up(parts)};
}

}  // namespace

void register_bernoulli(nb::module_& m) {
    m.def("bernoulli_gains", &dense_gains, "table"_a, "class_count"_a, "alpha"_a,
          "upper"_a = nb::none(),
          "Gain of every column of a (K, m) table, and the value of the null model: Laplace\n"
          "smoothing by alpha, or (alpha 0) counts held in [1, upper_c].");
    m.def("bernoulli_columns", &columns_that_gain, "table"_a, "class_count"_a, "alpha"_a,
          "upper"_a.none(), "least"_a,
          "Columns of bernoulli_gains that gain at least so much, in order, their gains, and the\n"
          "same value of the null model.");
    m.def("bernoulli_gains_csc", &sparse_gains, "start"_a, "row"_a, "value"_a, "class_count"_a,
          "alpha"_a, "upper"_a = nb::none(),
          "bernoulli_gains of a CSC table, one alpha for all columns.");
}
