// Blocks of rows of the weighted classifier: scores, negative log-likelihood, residuals,
// gradient.
//
// Everything depends on differences between classes only, so class 0 is the reference: the
// scores of a row are z_j = s_j - s_0 for the W = J - 1 other classes, and the table of a term
// holds W numbers for each part. Scores of a block are row-major (rows, W).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "runtime.h"
#include "weighted_math.h"

namespace bayesieve {

// Rows of a block: a function of the width alone, so results do not depend on threads.
inline std::size_t weighted_block(std::size_t width) {
    return std::max<std::size_t>(64, 4096 / std::max<std::size_t>(1, width));
}

// Threads cost some 30 microseconds: small work is done at once, block by block, in order.
template <class Body>
void for_each_row_block(std::size_t rows, std::size_t width, std::size_t work, Body body) {
    const std::size_t block = weighted_block(width);
    if (work < (std::size_t{1} << 19)) {
        for (std::size_t first = 0, b = 0; first < rows; first += block, ++b)
            body(b, first, std::min(rows, first + block));
        return;
    }
    for_each_block(rows, block, body);
}

// z[n, c] += sum over M terms of table[part of n, c], for C columns of a stride of W.
template <int C, int M, bool Whole, class Part>
void add_columns(const Part* const* parts, const double* const* tables, std::size_t rows,
                 std::size_t width, double* z) {
    const std::size_t stride = Whole ? C : width;
    for (std::size_t n = 0; n < rows; ++n, z += stride) {
        const double* t[M];
        for (int m = 0; m < M; ++m) t[m] = tables[m] + parts[m][n] * stride;
        for (int c = 0; c < C; ++c) {
            if constexpr (M == 4)
                z[c] += (t[0][c] + t[1][c]) + (t[2][c] + t[3][c]);
            else
                z[c] += t[0][c];
        }
    }
}

template <int C, bool Whole, class Part>
double dot_columns(const Part* part, const double* table, std::size_t rows, std::size_t width,
                   const double* residual) {
    constexpr int U = C == 1 ? 4 : (C < 4 ? 2 : 1);  // independent sums hide the latency
    const std::size_t stride = Whole ? C : width;
    double sum[U * C] = {};
    std::size_t n = 0;
    for (; n + U <= rows; n += U)
        for (int u = 0; u < U; ++u) {
            const double* t = table + part[n + u] * stride;
            const double* r = residual + (n + u) * stride;
            for (int c = 0; c < C; ++c) sum[u * C + c] += r[c] * t[c];
        }
    for (; n < rows; ++n)
        for (int c = 0; c < C; ++c)
            sum[c] += residual[n * stride + c] * table[part[n] * stride + c];
    double total = 0.0;
    for (double s : sum) total += s;
    return total;
}

// Calls body(integral_constant<C>, whole, first column) over the columns, eight at a time.
template <class Body>
void for_column_chunks(std::size_t width, Body body) {
    std::size_t first = 0;
    if (width > 8)
        for (; first + 8 <= width; first += 8)
            body(std::integral_constant<int, 8>{}, std::false_type{}, first);
    const bool whole = width <= 8;
    auto rest = [&](auto columns) {
        if (whole)
            body(columns, std::true_type{}, first);
        else
            body(columns, std::false_type{}, first);
    };
    switch (width - first) {
        case 1: rest(std::integral_constant<int, 1>{}); break;
        case 2: rest(std::integral_constant<int, 2>{}); break;
        case 3: rest(std::integral_constant<int, 3>{}); break;
        case 4: rest(std::integral_constant<int, 4>{}); break;
        case 5: rest(std::integral_constant<int, 5>{}); break;
        case 6: rest(std::integral_constant<int, 6>{}); break;
        case 7: rest(std::integral_constant<int, 7>{}); break;
        case 8: rest(std::integral_constant<int, 8>{}); break;
        default: break;
    }
}

// The terms of K variables: part indexes, one column of rows per variable, and their tables.
template <class Part>
struct Terms {
    const Part* parts;            // (K, rows), column k at parts + k * part_stride
    std::size_t part_stride;
    const double* table;          // (sum of I_k, W)
    const std::int64_t* offset;   // (K + 1)
    std::size_t count, width;

    const Part* column(std::size_t k) const { return parts + k * part_stride; }
    const double* table_of(std::size_t k) const { return table + offset[k] * width; }
    std::size_t entries() const { return static_cast<std::size_t>(offset[count]) * width; }
};

// Tables multiplied by their weights, and the variables that count.
template <class Part>
struct Weighted {
    const Terms<Part>& terms;
    std::vector<double> scaled;
    std::vector<std::size_t> active;
    const double* start;  // (W) the prior

    Weighted(const Terms<Part>& terms_, const double* weights, const double* start_)
        : terms(terms_), scaled(terms_.entries()), start(start_) {
        for (std::size_t k = 0; k < terms.count; ++k) {
            if (weights[k] == 0.0) continue;
            active.push_back(k);
            const std::size_t end = terms.offset[k + 1] * terms.width;
            for (std::size_t e = terms.offset[k] * terms.width; e < end; ++e)
                scaled[e] = weights[k] * terms.table[e];
        }
    }

    // Scores of rows first..last.
    void scores(std::size_t first, std::size_t last, double* z) const {
        const std::size_t width = terms.width, rows = last - first;
        for (std::size_t n = 0; n < rows; ++n)
            for (std::size_t c = 0; c < width; ++c) z[n * width + c] = start[c];
        for_column_chunks(width, [&](auto columns, auto whole, std::size_t column) {
            constexpr int C = decltype(columns)::value;
            constexpr bool kWhole = decltype(whole)::value;
            const Part* part[4];
            const double* table[4];
            std::size_t a = 0;
            auto pick = [&](std::size_t m) {
                const std::size_t k = active[a + m];
                part[m] = terms.column(k) + first;
                table[m] = scaled.data() + terms.offset[k] * width + column;
            };
            for (; a + 4 <= active.size(); a += 4) {
                for (std::size_t m = 0; m < 4; ++m) pick(m);
                add_columns<C, 4, kWhole>(part, table, rows, width, z + column);
            }
            for (; a < active.size(); ++a) {
                pick(0);
                add_columns<C, 1, kWhole>(part, table, rows, width, z + column);
            }
        });
    }
};

// Adds sum_n residual[n] . table[part of n] to every gradient[k].
template <class Part>
void add_gradient(const Terms<Part>& terms, std::size_t first, std::size_t last,
                  const double* residual, double* gradient) {
    const std::size_t width = terms.width;
    for_column_chunks(width, [&](auto columns, auto whole, std::size_t column) {
        constexpr int C = decltype(columns)::value;
        constexpr bool kWhole = decltype(whole)::value;
        for (std::size_t k = 0; k < terms.count; ++k)
            gradient[k] += dot_columns<C, kWhole>(terms.column(k) + first,
                                                  terms.table_of(k) + column, last - first,
                                                  width, residual + column);
    });
}

// Two classes: with m the score of the wrong class less that of the row's own, e = exp(-|m|),
// the share of the less likely class is e / (1 + e) and no branch depends on the data.
inline double two_class_nll(double* z, std::size_t rows, const std::int32_t* codes,
                            const double* row_weight, bool residuals, double* e) {
    double linear[4] = {};
    for (std::size_t n = 0; n < rows; ++n) z[n] *= static_cast<double>(1 - 2 * codes[n]);
    for (std::size_t n = 0; n < rows; ++n) e[n] = -std::fabs(z[n]);
    double logs = 0.0;
    if (row_weight == nullptr) {
        std::size_t n = 0;
        for (; n + 4 <= rows; n += 4)
            for (std::size_t u = 0; u < 4; ++u) linear[u] += z[n + u] - e[n + u];
        for (; n < rows; ++n) linear[0] += z[n] - e[n];
        exp_in_place(e, rows);
        for (n = 0; n < rows; ++n) e[n] += 1.0;
        LogProduct product;
        for (n = 0; n < rows; ++n) product.multiply(e[n]);
        logs = product.log();
    } else {
        for (std::size_t n = 0; n < rows; ++n) linear[n & 3] += row_weight[n] * (z[n] - e[n]);
        exp_in_place(e, rows);
        for (std::size_t n = 0; n < rows; ++n) e[n] += 1.0;
        for (std::size_t n = 0; n < rows; ++n) logs += row_weight[n] * std::log(e[n]);
    }
    if (residuals) {
        for (std::size_t n = 0; n < rows; ++n) {
            const double less = (e[n] - 1.0) / e[n];
            const double wrong = 0.5 + std::copysign(0.5, z[n]) - std::copysign(less, z[n]);
            z[n] = wrong * static_cast<double>(1 - 2 * codes[n]);
        }
        if (row_weight != nullptr)
            for (std::size_t n = 0; n < rows; ++n) z[n] *= row_weight[n];
    }
    return logs + 0.5 * ((linear[0] + linear[1]) + (linear[2] + linear[3]));
}

// Scores become exp(z_j - m) with m = max(0, max_j z_j); base[n] = exp(-m) is that of class 0
// and own[n] = z_y - m, the exponent of the row's class.
inline void exponentials(double* z, std::size_t rows, std::size_t width,
                         const std::int32_t* codes, double* base, double* own) {
    for (std::size_t n = 0; n < rows; ++n) {
        double* row = z + n * width;
        double top = 0.0;
        for (std::size_t c = 0; c < width; ++c) top = row[c] > top ? row[c] : top;
        for (std::size_t c = 0; c < width; ++c) row[c] -= top;
        base[n] = -top;
        own[n] = *(codes[n] == 0 ? base + n : row + (codes[n] - 1));
    }
    exp_in_place(z, rows * width);
    exp_in_place(base, rows);
}

inline double row_total(const double* row, std::size_t width, double base) {
    double sum[4] = {base, 0.0, 0.0, 0.0};
    std::size_t c = 0;
    for (; c + 4 <= width; c += 4)
        for (std::size_t u = 0; u < 4; ++u) sum[u] += row[c + u];
    for (; c < width; ++c) sum[0] += row[c];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Negative log-likelihood of a block from its scores, which are lost: on request they become
// the residuals, row_weight (posterior - indicator of the class). Residuals of rows that all
// have class 0 are the posteriors.
inline double block_nll(double* z, std::size_t rows, std::size_t width,
                        const std::int32_t* codes, const double* row_weight, bool residuals,
                        std::vector<double>& scratch) {
    scratch.resize(2 * rows);
    double* base = scratch.data();
    if (width == 1) return two_class_nll(z, rows, codes, row_weight, residuals, base);
    double* own = base + rows;
    exponentials(z, rows, width, codes, base, own);
    for (std::size_t n = 0; n < rows; ++n)
        base[n] = row_total(z + n * width, width, base[n]);
    double linear[4] = {};
    double logs = 0.0;
    if (row_weight == nullptr) {
        LogProduct product;
        for (std::size_t n = 0; n < rows; ++n) product.multiply(base[n]);
        logs = product.log();
        for (std::size_t n = 0; n < rows; ++n) linear[n & 3] += own[n];
    } else {
        for (std::size_t n = 0; n < rows; ++n) {
            logs += row_weight[n] * std::log(base[n]);
            linear[n & 3] += row_weight[n] * own[n];
        }
    }
    if (residuals) {
        for (std::size_t n = 0; n < rows; ++n) base[n] = 1.0 / base[n];
        if (row_weight != nullptr)
            for (std::size_t n = 0; n < rows; ++n) base[n] *= row_weight[n];
        for (std::size_t n = 0; n < rows; ++n)
            for (std::size_t c = 0; c < width; ++c) z[n * width + c] *= base[n];
        for (std::size_t n = 0; n < rows; ++n)
            if (codes[n] > 0)
                z[n * width + codes[n] - 1] -= row_weight == nullptr ? 1.0 : row_weight[n];
    }
    return logs - ((linear[0] + linear[1]) + (linear[2] + linear[3]));
}

// Cost of a block from its scores: the negative log-likelihood when smoothing_rows = 0, else
// minus the sum of ln((N p_y + 0.5/J) / (N + 0.5)) with N = smoothing_rows.
inline double block_cost(double* z, std::size_t rows, std::size_t width,
                         const std::int32_t* codes, const double* row_weight,
                         double smoothing_rows, std::vector<double>& scratch) {
    if (!(smoothing_rows > 0.0))
        return block_nll(z, rows, width, codes, row_weight, false, scratch);
    scratch.resize(2 * rows);
    double* base = scratch.data();
    double* own = base + rows;
    const double scale = smoothing_rows / (smoothing_rows + 0.5);
    const double floor = 0.5 / (static_cast<double>(width + 1) * (smoothing_rows + 0.5));
    if (width == 1) {
        for (std::size_t n = 0; n < rows; ++n) z[n] *= static_cast<double>(1 - 2 * codes[n]);
        for (std::size_t n = 0; n < rows; ++n) base[n] = -std::fabs(z[n]);
        exp_in_place(base, rows);
        for (std::size_t n = 0; n < rows; ++n) {
            const double less = base[n] / (1.0 + base[n]);
            const double right = 0.5 - std::copysign(0.5, z[n]) + std::copysign(less, z[n]);
            own[n] = scale * right + floor;
        }
    } else {
        exponentials(z, rows, width, codes, base, own);
        for (std::size_t n = 0; n < rows; ++n) {
            const double* row = z + n * width;
            const double mine = *(codes[n] == 0 ? base + n : row + (codes[n] - 1));
            own[n] = scale * (mine / row_total(row, width, base[n])) + floor;
        }
    }
    if (row_weight != nullptr) {
        double sum = 0.0;
        for (std::size_t n = 0; n < rows; ++n) sum += row_weight[n] * std::log(own[n]);
        return -sum;
    }
    LogProduct product;
    for (std::size_t n = 0; n < rows; ++n) product.multiply(own[n]);
    return -product.log();
}

inline double in_order(const std::vector<double>& parts) {
    double total = 0.0;
    for (double part : parts) total += part;
    return total;
}

}  // namespace bayesieve
