// Second derivatives of the negative log-likelihood for a few variables.
//
//   H_kl = sum_n r_n [ sum_j p_nj d_knj d_lnj - (sum_j p_nj d_knj)(sum_j p_nj d_lnj) ] = Z'Z
// where Z has one row for each row and class, sqrt(r_n p_nj) (d_knj - mean_kn), class 0 with
// d = 0. For two classes one row sqrt(r p (1 - p)) d is enough. Z is made panel by panel.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "weighted_kernels.h"

namespace bayesieve {

constexpr std::size_t kCurvatureSlots = 8;  // sums combined in order, whatever the threads

// H += Z'Z for the lower triangle; z is (size, length), length even.
inline void add_products(const double* z, std::size_t size, std::size_t length, double* H) {
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        for (std::size_t j = 0; j < i + 4; j += 2) {
            double sum[4][2][2] = {};
            const double* b0 = z + j * length;
            const double* b1 = z + (j + 1) * length;
            for (std::size_t m = 0; m < length; m += 2)
                for (int a = 0; a < 4; ++a)
                    for (int u = 0; u < 2; ++u) {
                        const double x = z[(i + a) * length + m + u];
                        sum[a][0][u] += x * b0[m + u];
                        sum[a][1][u] += x * b1[m + u];
                    }
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 2; ++b)
                    H[(i + a) * size + j + b] += sum[a][b][0] + sum[a][b][1];
        }
    }
    for (; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum[2] = {};
            for (std::size_t m = 0; m < length; m += 2)
                for (int u = 0; u < 2; ++u)
                    sum[u] += z[i * length + m + u] * z[j * length + m + u];
            H[i * size + j] += sum[0] + sum[1];
        }
}

// Fills H (size, size) for the listed variables, at the weights of `model`.
template <class Part>
void curvature(const Weighted<Part>& model, std::size_t rows, const double* row_weight,
               const std::int64_t* chosen, std::size_t size, double* H) {
    const Terms<Part>& terms = model.terms;
    const std::size_t width = terms.width;
    const std::size_t classes = width == 1 ? 1 : width + 1;
    const std::size_t panel = std::max<std::size_t>(2, 512 / classes);
    const std::size_t slot_rows = std::max<std::size_t>(
        1, (rows + kCurvatureSlots - 1) / kCurvatureSlots);
    const std::size_t slots = block_count(rows, slot_rows);
    std::vector<std::vector<double>> sums(slots);
    const std::vector<std::int32_t> no_codes(panel, 0);
    auto body = [&](std::size_t slot, std::size_t first, std::size_t last) {
        std::vector<double>& mine = sums[slot];
        mine.assign(size * size, 0.0);
        const std::size_t longest = panel * classes + panel * classes % 2;
        std::vector<double> p(panel * width), root(longest), z(size * longest), scratch;
        for (std::size_t from = first; from < last; from += panel) {
            const std::size_t to = std::min(last, from + panel), n_rows = to - from;
            const std::size_t used = n_rows * classes, length = used + used % 2;
            model.scores(from, to, p.data());
            block_nll(p.data(), n_rows, width, no_codes.data(), nullptr, true,
                      scratch);  // all of class 0: the posteriors
            for (std::size_t n = 0; n < n_rows; ++n) {
                const double r = row_weight == nullptr ? 1.0 : row_weight[from + n];
                if (width == 1) {
                    root[n] = std::sqrt(r * p[n] * (1.0 - p[n]));
                    continue;
                }
                double rest = 1.0;
                for (std::size_t c = 0; c < width; ++c) {
                    rest -= p[n * width + c];
                    root[n * classes + c] = std::sqrt(r * p[n * width + c]);
                }
                root[n * classes + width] = std::sqrt(r * std::max(rest, 0.0));
            }
            for (std::size_t f = 0; f < size; ++f) {
                const auto k = static_cast<std::size_t>(chosen[f]);
                const Part* part = terms.column(k) + from;
                const double* table = terms.table_of(k);
                double* out = z.data() + f * length;
                if (length > used) out[used] = 0.0;
                if (width == 1) {
                    for (std::size_t n = 0; n < n_rows; ++n) out[n] = root[n] * table[part[n]];
                    continue;
                }
                for (std::size_t n = 0; n < n_rows; ++n) {
                    const double* d = table + part[n] * width;
                    double mean = 0.0;
                    for (std::size_t c = 0; c < width; ++c) mean += p[n * width + c] * d[c];
                    double* o = out + n * classes;
                    const double* s = root.data() + n * classes;
                    for (std::size_t c = 0; c < width; ++c) o[c] = s[c] * (d[c] - mean);
                    o[width] = -s[width] * mean;
                }
            }
            add_products(z.data(), size, length, mine.data());
        }
    };
    if (rows * classes * size * (size + 8) < (std::size_t{1} << 19)) {
        for (std::size_t slot = 0; slot < slots; ++slot)
            body(slot, slot * slot_rows, std::min(rows, (slot + 1) * slot_rows));
    } else {
        for_each_block(rows, slot_rows, body);
    }
    std::fill(H, H + size * size, 0.0);
    for (const auto& sum : sums)
        for (std::size_t e = 0; e < size * size; ++e) H[e] += sum[e];
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < i; ++j) H[j * size + i] = H[i * size + j];
}

}  // namespace bayesieve
