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

constexpr std::size_t kLanes = 4;  // independent sums: the same on every kind of register

// H += Z'Z for the lower triangle; z is (size, length), length a multiple of kLanes.
BAYESIEVE_WIDE static void add_products(const double* z, std::size_t size, std::size_t length,
                                        double* H) {
    std::size_t i = 0;
    Pace pace;
    for (; i + 4 <= size; i += 4) {
        pace.spend(4 * i * length);
        const double* a = z + i * length;
        for (std::size_t j = 0; j < i + 4; j += 2) {
            double sum[4][2][kLanes] = {};
            const double* b = z + j * length;
            for (std::size_t m = 0; m < length; m += kLanes)
                for (std::size_t r = 0; r < 4; ++r)
                    for (std::size_t s = 0; s < 2; ++s)
                        for (std::size_t u = 0; u < kLanes; ++u)
                            sum[r][s][u] += a[r * length + m + u] * b[s * length + m + u];
            for (std::size_t r = 0; r < 4; ++r)
                for (std::size_t s = 0; s < 2; ++s)
                    H[(i + r) * size + j + s] += (sum[r][s][0] + sum[r][s][1]) +
                                                 (sum[r][s][2] + sum[r][s][3]);
        }
    }
    for (; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum[kLanes] = {};
            for (std::size_t m = 0; m < length; m += kLanes)
                for (std::size_t u = 0; u < kLanes; ++u)
                    sum[u] += z[i * length + m + u] * z[j * length + m + u];
            H[i * size + j] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
}

inline double short_dot(const double* a, const double* b, std::size_t length) {
    double sum[kLanes] = {};
    std::size_t c = 0;
    for (; c + kLanes <= length; c += kLanes)
        for (std::size_t u = 0; u < kLanes; ++u) sum[u] += a[c + u] * b[c + u];
    for (; c < length; ++c) sum[0] += a[c] * b[c];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Fills H (size, size) for the listed variables, at the weights of `model`.
template <class Part>
void curvature(const Weighted<Part>& model, std::size_t rows, const double* row_weight,
               const std::int64_t* chosen, std::size_t size, double* H) {
    const Terms<Part>& terms = model.terms;
    const std::size_t width = terms.width;
    const std::size_t classes = width == 1 ? 1 : width + 1;
    // A panel of Z stays in the nearest cache.
    const std::size_t lines =
        std::min<std::size_t>(512, std::max<std::size_t>(128, 4096 / std::max<std::size_t>(1, size)));
    const std::size_t panel = std::max<std::size_t>(2, lines / classes);
    const std::size_t slot_rows = std::max<std::size_t>(
        1, (rows + kCurvatureSlots - 1) / kCurvatureSlots);
    const std::size_t slots = block_count(rows, slot_rows);
    std::vector<std::vector<double>> sums(slots);
    const std::vector<std::int32_t> no_codes(panel, 0);
    auto body = [&](std::size_t slot, std::size_t first, std::size_t last) {
        std::vector<double>& mine = sums[slot];
        mine.assign(size * size, 0.0);
        const std::size_t longest = block_count(panel * classes, kLanes) * kLanes;
        std::vector<double> p(panel * width), root(longest), z(size * longest), scratch;
        for (std::size_t from = first; from < last; from += panel) {
            poll();
            const std::size_t to = std::min(last, from + panel), n_rows = to - from;
            const std::size_t used = n_rows * classes;
            const std::size_t length = block_count(used, kLanes) * kLanes;
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
                std::fill(out + used, out + length, 0.0);
                if (width == 1) {
                    for (std::size_t n = 0; n < n_rows; ++n) out[n] = root[n] * table[part[n]];
                    continue;
                }
                for (std::size_t n = 0; n < n_rows; ++n) {
                    const double* d = table + part[n] * width;
                    const double mean = short_dot(p.data() + n * width, d, width);
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
