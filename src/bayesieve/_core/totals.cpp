// What the multinomial solver asks of every column of a count table, in one pass each:
//
//   scan     class totals, sum of G log G, and a histogram of the column totals G
//   collect  the columns whose total, or whose gain at class shares p, reaches a level
//   gains    the gain of every column at class shares p
//   groups   the same added up over groups of columns, with their counts
//   witnesses  few columns that have every class between them; not even one whole pass
//
// G_i = sum_c (f_ci + alpha_i) and, at class shares p, the gain is
//   h_i(p) = sum_c F log F - G log G - sum_c F log p_c = G_i KL(q_i || p),   F = f_ci + alpha_i.
// Since h_i(p) <= G_i max_c(-log p_c), `collect` takes logarithms only of columns whose total
// can reach the level, and of a dense table only where chi-square can, which bounds KL:
//   h_i(p) <= sum_c (F - p_c G_i)^2 / (p_c G_i).
// Counts are mostly small integers: x log x comes from a table for them. Differences of x log x
// round by more than a gain that is small beside its total; each comes with a bound on that, and
// where the bound matters the gain is computed again without cancellation (divergence.h).
//
// A table is dense, (K, m) in C order, or the three arrays of a CSC matrix (K, m). Columns
// without any count are left out everywhere but in the sum of G log G.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "divergence.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Vector;
using bayesieve::Table;
using bayesieve::Indices;
using bayesieve::ClassIds;
using bayesieve::DoubleArray;
using bayesieve::TableArray;
using bayesieve::IndexArray;
using bayesieve::to_numpy;

constexpr std::size_t kBlock = 1 << 17;  // small tables are not worth a second thread
constexpr std::size_t kTile = 1 << 11;  // a tile of totals stays in the first-level cache
constexpr std::size_t kPaceCells = 1 << 16;  // cells between two polls
constexpr int kHistogramShift = 48;  // sign, exponent and four bits of mantissa remain
constexpr std::size_t kHistogramBins = 1 << 15;

constexpr std::size_t kTableSize = 4096;
// Rounding up to this share of what a gain is compared with decides nothing.
constexpr double kNegligible = 1.0 / (1ULL << 34);

// A gain and how far rounding may have moved it.
struct Gain {
    double value, doubt;
};

// x log x of smoothed counts, from a table where the raw count is a small integer.
struct Smoothing {
    std::vector<double> alpha;  // one value, or one for each column
    bool per_column;
    double classes;                   // K
    std::vector<double> cell_table;   // (j + alpha) log(j + alpha)
    std::vector<double> total_table;  // (j + K alpha) log(j + K alpha)

    Smoothing(const Vector& alpha_, std::size_t columns, std::size_t n_classes)
        : alpha(alpha_.data(), alpha_.data() + alpha_.shape(0)), per_column(alpha.size() != 1),
          classes(static_cast<double>(n_classes)) {
        if (per_column && alpha.size() != columns)
            throw std::invalid_argument("alpha must have one value, or one for each column");
        if (per_column) return;  // no table: every column has its own smoothing
        for (std::size_t j = 0; j < kTableSize; ++j) {
            const auto raw = static_cast<double>(j);
            cell_table.push_back(plain(raw + alpha[0]));
            total_table.push_back(plain(total(raw, 0)));
        }
    }
    double at(std::size_t column) const { return per_column ? alpha[column] : alpha[0]; }
    double total(double raw, std::size_t column) const { return raw + classes * at(column); }
    // Of a sum over the classes, relative to the sum of the sizes of its terms.
    double rounding() const { return (bayesieve::kRounding + classes) * bayesieve::kUnit; }

    // Large totals: differences of x log x would lose what ratios keep.
    bool is_small(double raw) const { return raw < static_cast<double>(kTableSize); }
    static double against(double cell, double total, double log_share) {
        return cell > 0.0 ? cell * (std::log(cell / total) - log_share) : 0.0;
    }

    static double plain(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
    static double lookup(const std::vector<double>& table, double raw, double smoothed) {
        if (raw < static_cast<double>(table.size())) {
            const auto j = static_cast<std::size_t>(raw);
            if (static_cast<double>(j) == raw) return table[j];
        }
        return plain(smoothed);
    }
    double cell(double raw, std::size_t column) const {
        return lookup(cell_table, raw, raw + at(column));
    }
    double whole(double raw, std::size_t column) const {
        return lookup(total_table, raw, total(raw, column));
    }
};

// Class shares and what is computed from them once. A share of zero belongs to a class without
// any count, so its logarithm is only ever multiplied by zero. Chi-square bounds a gain where
// all shares are positive and sum to one.
struct Shares {
    const double* p = nullptr;
    std::vector<double> log_p, inverse;
    double sum_log_p = 0.0;
    bool bounds = false;

    Shares() = default;
    Shares(const double* p_, std::size_t classes) : p(p_) {
        double sum = 0.0;
        bounds = true;
        for (std::size_t c = 0; c < classes; ++c) {
            log_p.push_back(p[c] > 0.0 ? std::log(p[c]) : 0.0);
            inverse.push_back(p[c] > 0.0 ? 1.0 / p[c] : 0.0);
            sum_log_p += log_p[c];
            sum += p[c];
            bounds = bounds && p[c] > 0.0;
        }
        bounds = bounds && std::abs(sum - 1.0) < 1e-9;
    }
};

struct DenseColumns {
    const double* f;
    std::size_t classes, columns;
    Table kept;  // holds the array that f looks into

    // Raw totals of columns first..last, and (if wanted) the class sums of the block. Eight
    // sums side by side, always the same eight, keep the adder busy and the result fixed.
    void totals(std::size_t first, std::size_t last, double* raw, double* class_sums) const {
        const std::size_t width = last - first, whole = width - width % 8;
        std::fill(raw, raw + width, 0.0);
        for (std::size_t c = 0; c < classes; ++c) {
            const double* row = f + c * columns + first;
            if (class_sums == nullptr) {
                for (std::size_t j = 0; j < width; ++j) raw[j] += row[j];
                continue;
            }
            double sums[8] = {0.0};
            for (std::size_t j = 0; j < whole; j += 8)
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    raw[j + lane] += row[j + lane];
                    sums[lane] += row[j + lane];
                }
            double sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
                         ((sums[2] + sums[6]) + (sums[3] + sums[7]));
            for (std::size_t j = whole; j < width; ++j) {
                raw[j] += row[j];
                sum += row[j];
            }
            class_sums[c] = sum;
        }
    }
    // Whether chi-square leaves room for a gain of that level. The margin covers its rounding
    // and that of shares which are one in sum only to 1e-9.
    bool can_reach(std::size_t i, double raw, const Smoothing& smooth, const Shares& shares,
                   double level) const {
        if (!shares.bounds) return true;
        const double alpha = smooth.at(i), total = smooth.total(raw, i);
        double chi = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            const double away = f[c * columns + i] + alpha - shares.p[c] * total;
            chi += away * away * shares.inverse[c];
        }
        return chi >= total * (level * (1.0 - 1e-9) - 1e-8 * total);
    }
    Gain quick_gain(std::size_t i, double raw, const Smoothing& smooth,
                    const Shares& shares) const {
        const double alpha = smooth.at(i);
        double gain = 0.0, size = 0.0;
        if (!smooth.is_small(raw)) {
            const double total = smooth.total(raw, i);
            // |F (log(F / G) - log p)| <= F (-log(F / G)) + F (-log p), and both parts add up
            // to known sums: no term needs to be looked at alone.
            double cross = 0.0;
            for (std::size_t c = 0; c < classes; ++c) {
                const double cell = f[c * columns + i] + alpha;
                gain += Smoothing::against(cell, total, shares.log_p[c]);
                cross -= cell * shares.log_p[c];
            }
            size = std::fabs(cross - gain) + 2.0 * cross + total;
            return {gain, smooth.rounding() * size};
        }
        const double whole = smooth.whole(raw, i);
        double cells = 0.0, cross = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            const double x = f[c * columns + i];
            cells += smooth.cell(x, i);
            const double smoothed = x + alpha;
            if (smoothed > 0.0) cross += smoothed * shares.log_p[c];
        }
        // |x log x| <= x log x + 2 / e.
        size = std::fabs(whole) + cells + 0.75 * smooth.classes + smooth.total(raw, i);
        return {cells - whole - cross, smooth.rounding() * (size - cross)};
    }
    Gain sure_gain(std::size_t i, double raw, const Smoothing& smooth,
                   const Shares& shares) const {
        const double alpha = smooth.at(i), total = smooth.total(raw, i);
        bayesieve::Divergence h;
        for (std::size_t c = 0; c < classes; ++c)
            if (shares.p[c] > 0.0) h.add(f[c * columns + i] + alpha, shares.p[c] * total);
        return {h.sum, h.doubt(total, smooth.classes)};
    }
    bool has_count(std::size_t i) const {
        for (std::size_t c = 0; c < classes; ++c)
            if (f[c * columns + i] > 0.0) return true;
        return false;
    }
    // The first column with a count, of every class whose total says that there is one.
    void first_of_classes(const double* class_totals, std::vector<std::int64_t>& found) const {
        bayesieve::Pace pace(kPaceCells);
        for (std::size_t c = 0; c < classes; ++c) {
            if (!(class_totals[c] > 0.0)) continue;
            const double* const row = f + c * columns;
            for (std::size_t first = 0; first < columns; first += kTile) {
                const double* const end = row + std::min(columns, first + kTile);
                const double* const at =
                    std::find_if(row + first, end, [](double x) { return x > 0.0; });
                if (at != end) {
                    found.push_back(at - row);
                    break;
                }
                pace.spend(kTile);
            }
        }
    }
};

struct SparseColumns {
    const std::int64_t* start;
    const std::int32_t* row;
    const double* value;
    std::size_t classes, columns;
    Indices kept_start;  // these hold the arrays that the pointers look into
    ClassIds kept_row;
    Vector kept_value;

    void totals(std::size_t first, std::size_t last, double* raw, double* class_sums) const {
        if (class_sums != nullptr) std::fill(class_sums, class_sums + classes, 0.0);
        for (std::size_t i = first; i < last; ++i) {
            double sum = 0.0;
            for (auto e = start[i]; e < start[i + 1]; ++e) {
                sum += value[e];
                if (class_sums != nullptr) class_sums[row[e]] += value[e];
            }
            raw[i - first] = sum;
        }
    }
    bool can_reach(std::size_t, double, const Smoothing&, const Shares&, double) const {
        return true;  // its gain costs no more than its chi-square
    }
    // A class without count contributes terms in alpha alone, in closed form.
    Gain quick_gain(std::size_t i, double raw, const Smoothing& smooth,
                    const Shares& shares) const {
        const double alpha = smooth.at(i);
        const auto present = static_cast<double>(start[i + 1] - start[i]);
        const double total = smooth.total(raw, i);
        double gain, size;
        if (!smooth.is_small(raw)) {
            gain = (smooth.classes - present) * Smoothing::against(alpha, total, 0.0);
            size = std::fabs(gain) + total;
            if (alpha > 0.0) {
                gain -= alpha * shares.sum_log_p;
                size -= alpha * shares.sum_log_p;
            }
            for (auto e = start[i]; e < start[i + 1]; ++e) {
                const double log_p = shares.log_p[row[e]];
                const double term = Smoothing::against(value[e] + alpha, total, log_p);
                gain += term;
                size += std::fabs(term) - (value[e] + alpha) * log_p;
                if (alpha > 0.0) gain += alpha * log_p;
            }
            return {gain, smooth.rounding() * size};
        }
        const double absent = (smooth.classes - present) * Smoothing::plain(alpha);
        const double whole = smooth.whole(raw, i);
        gain = absent - whole;
        size = std::fabs(absent) + std::fabs(whole) + total;
        double cross = alpha > 0.0 ? alpha * shares.sum_log_p : 0.0;
        for (auto e = start[i]; e < start[i + 1]; ++e) {
            const double cell = smooth.cell(value[e], i);
            gain += cell;
            size += std::fabs(cell);
            if (value[e] > 0.0) cross += value[e] * shares.log_p[row[e]];
        }
        return {gain - cross, smooth.rounding() * (size - cross)};
    }
    Gain sure_gain(std::size_t i, double raw, const Smoothing& smooth,
                   const Shares& shares) const {
        const double alpha = smooth.at(i), total = smooth.total(raw, i);
        std::vector<double> cells(classes, alpha);
        for (auto e = start[i]; e < start[i + 1]; ++e) cells[row[e]] += value[e];
        bayesieve::Divergence h;
        for (std::size_t c = 0; c < classes; ++c)
            if (shares.p[c] > 0.0) h.add(cells[c], shares.p[c] * total);
        return {h.sum, h.doubt(total, smooth.classes)};
    }
    bool has_count(std::size_t i) const {
        return std::any_of(value + start[i], value + start[i + 1],
                           [](double x) { return x > 0.0; });
    }
    void first_of_classes(const double* class_totals, std::vector<std::int64_t>& found) const {
        std::vector<char> wanted(classes);
        std::size_t missing = 0;
        for (std::size_t c = 0; c < classes; ++c) missing += wanted[c] = class_totals[c] > 0.0;
        bayesieve::Pace pace(kPaceCells);
        for (std::size_t i = 0; i < columns && missing > 0; ++i) {
            pace.spend(1 + static_cast<std::size_t>(start[i + 1] - start[i]));
            for (auto e = start[i]; e < start[i + 1]; ++e) {
                if (!wanted[row[e]] || !(value[e] > 0.0)) continue;
                wanted[row[e]] = 0;
                --missing;
                found.push_back(static_cast<std::int64_t>(i));
            }
        }
    }
};

std::uint64_t histogram_bin(double total) {
    std::uint64_t bits;
    std::memcpy(&bits, &total, sizeof bits);
    return bits >> kHistogramShift;
}

template <class Columns>
std::tuple<DoubleArray, double, std::int64_t, IndexArray> scan(const Columns& columns,
                                                               const Smoothing& smooth) {
    const std::size_t m = columns.columns, K = columns.classes;
    const std::size_t blocks = bayesieve::block_count(m, kBlock);
    const std::size_t workers = bayesieve::worker_count(m, kBlock);
    std::vector<double> class_totals(K, 0.0);
    std::vector<std::int64_t> histogram(kHistogramBins, 0);
    double sum_whole = 0.0;
    std::int64_t nonempty = 0;
    {
        const bayesieve::Kernel kernel;
        std::vector<double> block_class(blocks * K, 0.0), block_whole(blocks, 0.0);
        std::vector<std::int64_t> block_nonempty(blocks, 0);
        std::vector<std::vector<std::int64_t>> bins(workers), small(workers);
        for (std::size_t w = 0; w < workers; ++w) {
            bins[w].assign(kHistogramBins, 0);
            small[w].assign(smooth.total_table.size(), 0);
        }
        bayesieve::for_each_block_by_worker(
            m, kBlock,
            [&](std::size_t w, std::size_t b, std::size_t begin, std::size_t end) {
                double raw[kTile];
                std::vector<double> tile_class(K);
                std::int64_t* const small_times = small[w].data();
                double whole = 0.0;
                std::int64_t filled = 0;
                bayesieve::Pace pace(kPaceCells);
                for (std::size_t first = begin; first < end; first += kTile) {
                    pace.spend(columns.classes * kTile);
                    const std::size_t last = std::min(end, first + kTile);
                    columns.totals(first, last, raw, tile_class.data());
                    for (std::size_t c = 0; c < K; ++c) block_class[b * K + c] += tile_class[c];
                    for (std::size_t i = first; i < last; ++i) {
                        const double r = raw[i - first];
                        filled += r > 0.0;
                        if (r < static_cast<double>(smooth.total_table.size())) {
                            const auto j = static_cast<std::size_t>(r);
                            if (static_cast<double>(j) == r) {
                                ++small_times[j];
                                continue;
                            }
                        }
                        const double total = smooth.total(r, i);
                        whole += Smoothing::plain(total);
                        if (r > 0.0) ++bins[w][histogram_bin(total)];
                    }
                }
                block_whole[b] = whole;
                block_nonempty[b] = filled;
            });
        for (std::size_t b = 0; b < blocks; ++b) {
            for (std::size_t c = 0; c < K; ++c) class_totals[c] += block_class[b * K + c];
            sum_whole += block_whole[b];
            nonempty += block_nonempty[b];
        }
        for (std::size_t w = 0; w < workers; ++w)
            for (std::size_t q = 0; q < kHistogramBins; ++q) histogram[q] += bins[w][q];
        for (std::size_t j = 0; j < smooth.total_table.size(); ++j) {
            std::int64_t times = 0;
            for (std::size_t w = 0; w < workers; ++w) times += small[w][j];
            if (times == 0) continue;
            sum_whole += static_cast<double>(times) * smooth.total_table[j];
            if (j > 0) histogram[histogram_bin(smooth.total(static_cast<double>(j), 0))] += times;
        }
    }
    return {to_numpy(std::move(class_totals)), sum_whole, nonempty,
            to_numpy(std::move(histogram))};
}

// Whether a gain reaches the level, or may do so within its rounding.
template <class Columns>
bool reaches(const Columns& columns, std::size_t i, double raw, const Smoothing& smooth,
             const Shares& shares, double level) {
    if (!(level > 0.0)) return true;
    const Gain quick = columns.quick_gain(i, raw, smooth, shares);
    if (quick.value + quick.doubt < level) return false;
    if (quick.doubt <= kNegligible * level) return true;
    const Gain sure = columns.sure_gain(i, raw, smooth, shares);
    return sure.value + 2.0 * sure.doubt >= level;  // once more for the rounding of p
}

// Columns with a count, a total of at least min_total and, if shares are given, a gain of at
// least min_gain, in increasing order.
template <class Columns>
IndexArray collect(const Columns& columns, const Smoothing& smooth, double min_total,
                   const double* p, double min_gain) {
    const std::size_t m = columns.columns;
    std::vector<std::int64_t> found;
    {
        const bayesieve::Kernel kernel;
        const Shares shares = p == nullptr ? Shares() : Shares(p, columns.classes);
        std::vector<std::vector<std::int64_t>> parts(bayesieve::block_count(m, kBlock));
        bayesieve::for_each_block(m, kBlock, [&](std::size_t b, std::size_t begin,
                                                 std::size_t end) {
            double raw[kTile];
            std::uint32_t large[kTile];
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t first = begin; first < end; first += kTile) {
                pace.spend(columns.classes * kTile);
                const std::size_t last = std::min(end, first + kTile), width = last - first;
                columns.totals(first, last, raw, nullptr);
                std::size_t count = 0;  // branchless: nearly every column is too small
                if (smooth.per_column) {
                    for (std::size_t j = 0; j < width; ++j) {
                        large[count] = static_cast<std::uint32_t>(j);
                        count += (raw[j] > 0.0) & (smooth.total(raw[j], first + j) >= min_total);
                    }
                } else {
                    const double shift = smooth.classes * smooth.alpha[0];
                    for (std::size_t j = 0; j < width; ++j) {
                        large[count] = static_cast<std::uint32_t>(j);
                        count += (raw[j] > 0.0) & (raw[j] + shift >= min_total);
                    }
                }
                if (p != nullptr) {  // in a loop of its own, which stays small
                    std::size_t near = 0;
                    for (std::size_t q = 0; q < count; ++q) {
                        large[near] = large[q];
                        near += columns.can_reach(first + large[q], raw[large[q]], smooth, shares,
                                                  min_gain);
                    }
                    count = near;
                }
                for (std::size_t q = 0; q < count; ++q) {
                    const std::size_t i = first + large[q];
                    if (p == nullptr ||
                        reaches(columns, i, raw[large[q]], smooth, shares, min_gain))
                        parts[b].push_back(static_cast<std::int64_t>(i));
                }
            }
        });
        std::size_t size = 0;
        for (const auto& part : parts) size += part.size();
        found.reserve(size);
        for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
    }
    return to_numpy(std::move(found));
}

// Columns of a dense table whose total reaches min_total, with their counts as a table of
// their own: taken while the pass has them in cache, not looked up again afterwards.
std::tuple<IndexArray, TableArray> extract(const DenseColumns& columns, const Smoothing& smooth,
                                           double min_total) {
    const std::size_t m = columns.columns, K = columns.classes;
    std::vector<std::vector<std::int64_t>> parts(bayesieve::block_count(m, kBlock));
    std::vector<std::vector<double>> counts(parts.size());
    std::vector<std::int64_t> found;
    auto table = std::make_unique<std::vector<double>>();
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(m, kBlock, [&](std::size_t b, std::size_t begin,
                                                 std::size_t end) {
            double raw[kTile];
            std::uint32_t large[kTile];
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t first = begin; first < end; first += kTile) {
                pace.spend(columns.classes * kTile);
                const std::size_t last = std::min(end, first + kTile), width = last - first;
                columns.totals(first, last, raw, nullptr);
                std::size_t count = 0;
                for (std::size_t j = 0; j < width; ++j) {
                    large[count] = static_cast<std::uint32_t>(j);
                    count += (raw[j] > 0.0) & (smooth.total(raw[j], first + j) >= min_total);
                }
                for (std::size_t q = 0; q < count; ++q) {
                    const std::size_t i = first + large[q];
                    parts[b].push_back(static_cast<std::int64_t>(i));
                    for (std::size_t c = 0; c < K; ++c) counts[b].push_back(columns.f[c * m + i]);
                }
            }
        });
        std::size_t size = 0;
        for (const auto& part : parts) size += part.size();
        found.reserve(size);
        table->resize(K * size);
        std::size_t at = 0;
        for (std::size_t b = 0; b < parts.size(); ++b) {
            bayesieve::poll();
            found.insert(found.end(), parts[b].begin(), parts[b].end());
            for (std::size_t q = 0; q < parts[b].size(); ++q, ++at)
                for (std::size_t c = 0; c < K; ++c)
                    (*table)[c * size + at] = counts[b][q * K + c];
        }
    }
    const std::size_t size = found.size();
    double* const cells = table->data();
    return {to_numpy(std::move(found)),
            TableArray(cells, {K, size}, bayesieve::owner_of(table))};
}

template <class Columns>
DoubleArray gains(const Columns& columns, const Smoothing& smooth, const double* p,
                  double accuracy) {
    const std::size_t m = columns.columns;
    bayesieve::Zeros<double> gain(m);
    {
        const bayesieve::Kernel kernel;
        const Shares shares(p, columns.classes);
        bayesieve::for_each_block(
            m, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
                double raw[kTile];
                bayesieve::Pace pace(kPaceCells);
                for (std::size_t first = begin; first < end; first += kTile) {
                    pace.spend(columns.classes * kTile);
                    const std::size_t last = std::min(end, first + kTile);
                    columns.totals(first, last, raw, nullptr);
                    for (std::size_t i = first; i < last; ++i) {
                        const double r = raw[i - first];
                        if (!(r > 0.0)) continue;
                        Gain h = columns.quick_gain(i, r, smooth, shares);
                        if (!(h.doubt <= accuracy * h.value))
                            h = columns.sure_gain(i, r, smooth, shares);
                        gain[i] = h.value;
                    }
                }
            });
    }
    return gain.array();
}

// Sums over groups of columns: counts by class (K, n), gains at p, and smoothing, the last two of
// columns without counts as well. Always the same stripes of columns, added up in their order:
// the sums do not depend on the number of threads.
constexpr std::size_t kStripes = 4;

std::tuple<TableArray, DoubleArray, DoubleArray> group_sums(
    const DenseColumns& columns, const Smoothing& smooth, const double* p, double accuracy,
    double scale, const Indices& groups, std::size_t n_groups) {
    const std::size_t m = columns.columns, K = columns.classes;
    if (groups.shape(0) != m)
        throw std::invalid_argument("groups must have one number for each column");
    const std::int64_t* const group = groups.data();
    // Of a group: its counts, its gain and its smoothing side by side, in one line of cache.
    const std::size_t fields = K + 2, width = fields * n_groups;
    std::vector<double> counts(K * n_groups), gain(n_groups), alpha(n_groups);
    {
        const bayesieve::Kernel kernel;
        const Shares shares(p, K);
        // Few columns for each group: a sum of its own for each stripe would cost more memory
        // than the table itself.
        const std::size_t stripes = width * kStripes <= K * m ? kStripes : 1;
        const std::size_t length = std::max<std::size_t>((m + stripes - 1) / stripes, 1);
        std::vector<std::vector<double>> parts(stripes);
        bayesieve::for_each_block(m, length, [&](std::size_t b, std::size_t begin,
                                                 std::size_t end) {
            parts[b].assign(width, 0.0);
            double raw[kTile];
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t first = begin; first < end; first += kTile) {
                pace.spend(K * kTile);
                const std::size_t last = std::min(end, first + kTile);
                columns.totals(first, last, raw, nullptr);
                for (std::size_t i = first; i < last; ++i) {
                    const auto g = static_cast<std::size_t>(group[i]);
                    if (g >= n_groups)
                        throw std::invalid_argument("groups has a number beyond n_groups");
                    double* const own = parts[b].data() + g * fields;
                    own[K + 1] += smooth.at(i);
                    if (!(smooth.total(raw[i - first], i) > 0.0)) continue;
                    for (std::size_t c = 0; c < K; ++c) own[c] += columns.f[c * m + i];
                    Gain h = columns.quick_gain(i, raw[i - first], smooth, shares);
                    if (!(h.doubt <= accuracy * std::max(h.value, scale)))
                        h = columns.sure_gain(i, raw[i - first], smooth, shares);
                    own[K] += h.value;
                }
            }
        });
        for (const auto& part : parts)
            for (std::size_t g = 0; g < (part.empty() ? 0 : n_groups); ++g) {
                const double* const own = part.data() + g * fields;
                for (std::size_t c = 0; c < K; ++c) counts[c * n_groups + g] += own[c];
                gain[g] += own[K];
                alpha[g] += own[K + 1];
            }
    }
    return {bayesieve::to_table(std::move(counts), n_groups), to_numpy(std::move(gain)),
            to_numpy(std::move(alpha))};
}

// Columns of which every class with a count has one, and the first that is smoothed if any is:
// it has every class. In increasing order.
template <class Columns>
IndexArray witnesses(const Columns& columns, const Smoothing& smooth,
                     const double* class_totals) {
    std::vector<std::int64_t> found;
    {
        const bayesieve::Kernel kernel;
        columns.first_of_classes(class_totals, found);
        if (std::any_of(smooth.alpha.begin(), smooth.alpha.end(),
                        [](double x) { return x > 0.0; })) {
            bayesieve::Pace pace(kPaceCells);
            for (std::size_t i = 0; i < columns.columns; ++i) {
                pace.spend(1);
                if (!(smooth.at(i) > 0.0) || !columns.has_count(i)) continue;
                found.push_back(static_cast<std::int64_t>(i));
                break;
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    return to_numpy(std::move(found));
}

// The Python face: a table and its smoothing, asked as often as needed.
template <class Columns>
struct Smoothed {
    Columns columns;
    Smoothing smoothing;

    const double* checked(const Vector& values, const char* what = "shares") const {
        if (values.shape(0) != columns.classes)
            throw std::invalid_argument(std::string(what) +
                                        " must have one value for each class");
        return values.data();
    }
};

template <class Columns>
nb::class_<Smoothed<Columns>> bind(nb::module_& m, const char* name, const char* doc) {
    using Self = Smoothed<Columns>;
    return nb::class_<Self>(m, name, doc)
        .def(
            "scan", [](const Self& self) { return scan(self.columns, self.smoothing); },
            "Class totals without smoothing, sum of G log G over all columns, number of columns\n"
            "with a count, and the histogram of their totals G by their leading bits.")
        .def(
            "with_total",
            [](const Self& self, double min_total) {
                return collect(self.columns, self.smoothing, min_total, nullptr, 0.0);
            },
            "min_total"_a, "Columns with a count whose total reaches min_total.")
        .def(
            "with_gain",
            [](const Self& self, const Vector& shares, double min_gain, double min_total) {
                return collect(self.columns, self.smoothing, min_total, self.checked(shares),
                               min_gain);
            },
            "shares"_a, "min_gain"_a, "min_total"_a,
            "Columns with a count whose gain at p reaches min_gain, or may do so within its\n"
            "rounding; no logarithm is taken of columns whose total is under min_total.")
        .def(
            "gains",
            [](const Self& self, const Vector& shares, double accuracy) {
                return gains(self.columns, self.smoothing, self.checked(shares), accuracy);
            },
            "shares"_a, "accuracy"_a,
            "Gain of every column at p to a relative accuracy; 0 for a column without counts.")
        .def(
            "witnesses",
            [](const Self& self, const Vector& class_totals) {
                return witnesses(self.columns, self.smoothing, self.checked(class_totals, "class_totals"));
            },
            "class_totals"_a,
            "The first column with a count of each class whose total is positive, and the first\n"
            "with any count that is smoothed.");
}

}  // namespace

void register_totals(nb::module_& m) {
    m.attr("HISTOGRAM_SHIFT") = kHistogramShift;

    using Dense = Smoothed<DenseColumns>;
    bind<DenseColumns>(m, "DenseColumns", "Columns of a (K, m) table in C order, smoothed.")
        .def(
            "extract",
            [](const Dense& self, double min_total) {
                return extract(self.columns, self.smoothing, min_total);
            },
            "min_total"_a,
            "Columns with a count whose total reaches min_total, and their counts (K, n).")
        .def(
            "group_sums",
            [](const Dense& self, const Vector& shares, double accuracy, double scale,
               const Indices& groups, std::size_t n_groups) {
                return group_sums(self.columns, self.smoothing, self.checked(shares), accuracy,
                                  scale, groups, n_groups);
            },
            "shares"_a, "accuracy"_a, "scale"_a, "groups"_a, "n_groups"_a,
            "Counts by class (K, n_groups), gains at p and smoothing of groups of columns. The\n"
            "gain of a column errs by no more than this share of it, or of the scale.")
        .def(
            "__init__",
            [](Dense* self, const Table& f, const Vector& alpha) {
                new (self) Dense{{f.data(), f.shape(0), f.shape(1), f},
                                 Smoothing(alpha, f.shape(1), f.shape(0))};
            },
            "f"_a, "alpha"_a);

    using Sparse = Smoothed<SparseColumns>;
    bind<SparseColumns>(m, "SparseColumns", "Columns of a (K, m) CSC table, smoothed.")
        .def(
            "__init__",
            [](Sparse* self, const Indices& start, const ClassIds& row, const Vector& value,
               std::size_t classes, const Vector& alpha) {
                const std::size_t entries = value.shape(0);
                if (start.shape(0) == 0 || row.shape(0) != entries ||
                    start(start.shape(0) - 1) != static_cast<std::int64_t>(entries))
                    throw std::invalid_argument("the arrays do not form a CSC matrix");
                const std::size_t columns = start.shape(0) - 1;
                new (self) Sparse{{start.data(), row.data(), value.data(), classes, columns,
                                   start, row, value},
                                  Smoothing(alpha, columns, classes)};
            },
            "start"_a, "row"_a, "value"_a, "classes"_a, "alpha"_a);
}
