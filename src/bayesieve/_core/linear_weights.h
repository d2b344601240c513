// Terms x_nj * slope_jc of a sparse matrix: gradient, and descent on the second-order model.
//
// The relative score of class c is z_nc = b_c + sum_j w_j (x_nj s_jc + a_jc) for c = 1..J-1, class 0
// being the reference; the offsets a are those of absent features, null where there are none. Columns are those of a CSC matrix; `values` may be null, then every stored
// entry is one. With posteriors p the curvature of a row's negative log-likelihood is
// W_n = r_n (diag(p_n) - p_n p_n'), r_n the weight of the row.
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

// Loops over the entries of a column with several classes, compiled also for wider registers. They
// serve the second-order model, a step whose errors the next one sees: single precision is enough
// there, and half the memory to move. Sums go in eight chains, whatever the registers, so that
// results are the same.

inline float dot_of_floats(const float* a, const float* b, std::size_t size) {
    float s[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8)
        for (std::size_t k = 0; k < 8; ++k) s[k] += a[i + k] * b[i + k];
    for (std::size_t k = 0; i < size; ++i, ++k) s[k] += a[i] * b[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

BAYESIEVE_WIDE static double gather_column(const std::int32_t* rows, const float* x,
                                           std::size_t count, const float* s, std::size_t R,
                                           const float* v) {
    double sum = 0.0;
    for (std::size_t e = 0; e < count; ++e) {
        const float* u = v + static_cast<std::size_t>(rows[e]) * R;
        sum += static_cast<double>(x[e]) * dot_of_floats(s, u, R);
    }
    return sum;
}

BAYESIEVE_WIDE static void scatter_column(const std::int32_t* rows, const float* x,
                                          std::size_t count, const float* s, std::size_t R,
                                          float* out) {
    for (std::size_t e = 0; e < count; ++e) {
        float* to = out + static_cast<std::size_t>(rows[e]) * R;
        const float factor = x[e];
        for (std::size_t c = 0; c < R; ++c) to[c] += factor * s[c];
    }
}

// v_n += step x_n r_n p_n (s - s.p_n), row by row of the column.
BAYESIEVE_WIDE static void curve_column(const std::int32_t* rows, const float* x,
                                        std::size_t count, const float* s, std::size_t R,
                                        const float* posterior, const double* row_weight,
                                        double step, float* v) {
    for (std::size_t e = 0; e < count; ++e) {
        const std::size_t n = static_cast<std::size_t>(rows[e]);
        const float* p = posterior + n * R;
        const float mean = dot_of_floats(s, p, R);
        const float factor = static_cast<float>(
            step * x[e] * (row_weight == nullptr ? 1.0 : row_weight[n]));
        float* to = v + n * R;
        for (std::size_t c = 0; c < R; ++c) to[c] += factor * p[c] * (s[c] - mean);
    }
}

template <class Value>
struct LinearTerms {
    const std::int64_t* indptr;
    const std::int32_t* rows;
    const Value* values;  // null: all ones
    const double* slope;   // s, (columns, width)
    const double* offset;  // a, (columns, width), or null
    std::size_t width;     // J - 1

    double at(std::int64_t i) const {
        return values == nullptr ? 1.0 : static_cast<double>(values[i]);
    }
    // Values of a column as floats, in a scratch space that keeps its size.
    const float* column(std::size_t j, std::vector<float>& scratch) const {
        const std::size_t count = static_cast<std::size_t>(indptr[j + 1] - indptr[j]);
        if (scratch.size() < count) scratch.resize(count);
        for (std::size_t e = 0; e < count; ++e)
            scratch[e] = static_cast<float>(at(indptr[j] + static_cast<std::int64_t>(e)));
        return scratch.data();
    }
};

constexpr std::size_t kLinearBlock = 256;
constexpr std::size_t kSerialProducts = std::size_t{1} << 18;  // below, threads cost more than they give
constexpr std::size_t kPaceProducts = std::size_t{1} << 20;  // of entries and classes, between polls

// Columns that a thread takes at a time: all of them where there is little to do.
template <class Value>
std::size_t column_block(const LinearTerms<Value>& terms, const std::int64_t* chosen,
                         std::size_t count) {
    std::size_t products = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t j = chosen == nullptr ? i : static_cast<std::size_t>(chosen[i]);
        products += static_cast<std::size_t>(terms.indptr[j + 1] - terms.indptr[j]) * terms.width;
        if (products >= kSerialProducts) return kLinearBlock;
    }
    return std::max(count, kLinearBlock);
}

// Sum of products in four chains, so that an addition need not wait for the one before.
inline double dot_product(const double* a, const double* b, std::size_t size) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < size; ++i) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

// out_i = slope_j . (X_j' residual) for the chosen columns j. Offsets are the caller's: their part
// is one product with the sum of the residuals.
template <class Value>
void linear_gradient(const LinearTerms<Value>& terms, const double* residual,
                     const std::int64_t* chosen, std::size_t count, double* out) {
    const std::size_t R = terms.width;
    const std::size_t block = column_block(terms, chosen, count);
    for_each_block(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
        std::vector<double> sum(R);
        Pace pace(kPaceProducts);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t j = chosen == nullptr ? i : static_cast<std::size_t>(chosen[i]);
            const std::int64_t begin = terms.indptr[j], end = terms.indptr[j + 1];
            pace.spend(static_cast<std::size_t>(end - begin) * R);
            const double* s = terms.slope + j * R;
            if (R == 1) {
                double total = 0.0;
                if (terms.values == nullptr)
                    for (std::int64_t e = begin; e < end; ++e) total += residual[terms.rows[e]];
                else
                    for (std::int64_t e = begin; e < end; ++e)
                        total += terms.at(e) * residual[terms.rows[e]];
                out[i] = s[0] * total;
                continue;
            }
            std::fill(sum.begin(), sum.end(), 0.0);
            double* to = sum.data();
            for (std::int64_t e = begin; e < end; ++e) {
                const double x = terms.at(e);
                const double* r = residual + static_cast<std::size_t>(terms.rows[e]) * R;
                for (std::size_t c = 0; c < R; ++c) to[c] += x * r[c];
            }
            double g = 0.0;
            for (std::size_t c = 0; c < R; ++c) g += s[c] * to[c];
            out[i] = g;
        }
    });
}

// out (rows, width) += sum over the chosen columns of weight_i x_nj slope_j; without offsets.
template <class Value>
void linear_add_scores(const LinearTerms<Value>& terms, const std::int64_t* chosen,
                       const double* weight, std::size_t count, double* out) {
    const std::size_t R = terms.width;
    std::vector<double> step(R);
    Pace pace(kPaceProducts);
    for (std::size_t i = 0; i < count; ++i) {
        if (weight[i] == 0.0) continue;
        const std::size_t j = chosen == nullptr ? i : static_cast<std::size_t>(chosen[i]);
        pace.spend(static_cast<std::size_t>(terms.indptr[j + 1] - terms.indptr[j]) * R);
        const double* s = terms.slope + j * R;
        for (std::size_t c = 0; c < R; ++c) step[c] = weight[i] * s[c];
        for (std::int64_t e = terms.indptr[j]; e < terms.indptr[j + 1]; ++e) {
            const double x = terms.at(e);
            double* z = out + static_cast<std::size_t>(terms.rows[e]) * R;
            for (std::size_t c = 0; c < R; ++c) z[c] += x * step[c];
        }
    }
}

// Minimises  g'd + d'Hd / 2,  low <= d <= high, with H = X' W X restricted to the chosen columns,
// and over free intercepts where asked: sweeps of coordinate descent and conjugate gradients. Keeps v_n = W_n (sum_k x_nk d_k s_k + b),
// so that a coordinate costs one pass over its column, and a second one only if it moves. An
// offset touches every row: with offsets each move is O(rows).
//
// Real is the type of what is kept for each row: double for two classes, float for more.
template <class Value, class Real>
class LinearDescent {
public:
    LinearDescent(const LinearTerms<Value>& terms, const double* posterior, const double* row_weight,
                  std::size_t n_rows, const std::int64_t* chosen, std::size_t count)
        : terms_(terms), p_(posterior), weight_(row_weight), n_rows_(n_rows), chosen_(chosen),
          count_(count), R_(terms.width), v_(n_rows * terms.width, 0.0), diagonal_(count) {
        if constexpr (kMany) {
            posterior_.assign(posterior, posterior + n_rows * R_);
            slopes_.resize(count * R_);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t c = 0; c < R_; ++c)
                    slopes_[i * R_ + c] = static_cast<float>(terms.slope[column(i) * R_ + c]);
        } else {
            h_.resize(n_rows);
            for (std::size_t n = 0; n < n_rows; ++n)
                h_[n] = row(n) * p_[n] * (1.0 - p_[n]);
        }
        if (terms.offset != nullptr) {
            sum_curvature();
            total_.assign(R_, 0.0);
        }
        const std::size_t block = column_block(terms, chosen, count);
        for_each_block(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
            Pace pace(kPaceProducts);
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t j = column(i);
                pace.spend(static_cast<std::size_t>(terms.indptr[j + 1] - terms.indptr[j]) * R_);
                diagonal_[i] = diagonal(i);
            }
        });
    }

    static constexpr bool kMany = std::is_same_v<Real, float>;

    // Rounds of two sweeps over the coordinates, which find the bounds that hold, and conjugate
    // gradients on those that are free, until a round gains less than tol of the first one.
    // d begins at zero. Returns the number of rounds.
    int run(const double* gradient, const double* low, const double* high, double* d,
            const double* intercept_gradient, double* b, int rounds, int conjugate_steps,
            double tol) {
        std::fill(d, d + count_, 0.0);
        if (intercept_gradient != nullptr) prepare_intercept();
        double first_fall = 0.0;
        int round = 0;
        while (round < rounds) {
            double fall = sweep(gradient, low, high, d, intercept_gradient, b);
            const double again = sweep(gradient, low, high, d, intercept_gradient, b);
            fall += again;
            if (round++ == 0) first_fall = fall;
            if (again <= 0.5 * tol * first_fall) break;
            if (round < rounds)
                conjugate(gradient, low, high, d, intercept_gradient, b, conjugate_steps);
        }
        return round;
    }

    // Second derivative for each chosen weight alone.
    const std::vector<double>& curvatures() const { return diagonal_; }

private:
    void spend(std::size_t j) const {
        pace_.spend(static_cast<std::size_t>(terms_.indptr[j + 1] - terms_.indptr[j]) * R_);
    }
    double row(std::size_t n) const { return weight_ == nullptr ? 1.0 : weight_[n]; }
    std::size_t column(std::size_t i) const {
        return chosen_ == nullptr ? i : static_cast<std::size_t>(chosen_[i]);
    }

    // One pass over all coordinates; returns how far the model fell.
    double sweep(const double* gradient, const double* low, const double* high, double* d,
                 const double* intercept_gradient, double* b) {
        double fall = 0.0;
        if (intercept_gradient != nullptr) fall += move_intercept(intercept_gradient, b);
        for (std::size_t i = 0; i < count_; ++i) {
            const double g = gradient[i] + model_gradient(i), h = diagonal_[i];
            double target = d[i];
            if (h > 0.0)
                target = d[i] - g / h;
            else if (g != 0.0)
                target = g > 0.0 ? low[i] : high[i];
            target = std::min(std::max(target, low[i]), high[i]);
            const double step = target - d[i];
            if (step == 0.0) continue;
            fall -= step * (g + 0.5 * h * step);
            d[i] = target;
            move(i, step);
        }
        return fall;
    }

    // Preconditioned conjugate gradients on the free coordinates and intercepts, then back into
    // the box; kept only if the model falls.
    void conjugate(const double* gradient, const double* low, const double* high, double* d,
                   const double* intercept_gradient, double* b, int steps) {
        std::vector<std::size_t> free;
        for (std::size_t i = 0; i < count_; ++i)
            if (d[i] > low[i] && d[i] < high[i] && diagonal_[i] > 0.0) free.push_back(i);
        const std::size_t m = free.size(), nb = intercept_gradient == nullptr ? 0 : R_;
        if (m == 0) return;
        // All vectors hold the free coordinates, then the intercepts.
        std::vector<double> r(m + nb), z(m + nb), p(m + nb), x(m + nb, 0.0), Hp(m + nb);
        std::vector<Real> wave(n_rows_ * R_);  // W (X p + intercepts)
        for (std::size_t f = 0; f < m; ++f) r[f] = -(gradient[free[f]] + model_gradient(free[f]));
        if (nb > 0) {
            for (std::size_t c = 0; c < R_; ++c) r[m + c] = -intercept_gradient[c];
            add_totals(v_, r.data() + m, -1.0);
        }
        precondition(free, nb, r, z);
        double rz = dot(r, z);
        const double enough = kCgReduction * rz;
        p = z;
        for (int step = 0; step < steps && rz > enough && rz > 0.0; ++step) {
            apply(free, nb, p, wave, Hp);
            const double curve = dot(p, Hp);
            if (!(curve > 0.0)) break;
            const double alpha = rz / curve;
            for (std::size_t f = 0; f < m + nb; ++f) {
                x[f] += alpha * p[f];
                r[f] -= alpha * Hp[f];
            }
            precondition(free, nb, r, z);
            const double next = dot(r, z), beta = next / rz;
            rz = next;
            for (std::size_t f = 0; f < m + nb; ++f) p[f] = z[f] + beta * p[f];
        }
        // Into the box: the step that is left, its effect on the rows, and on the model.
        for (std::size_t f = 0; f < m; ++f) {
            const std::size_t i = free[f];
            p[f] = std::min(std::max(d[i] + x[f], low[i]), high[i]) - d[i];
        }
        for (std::size_t c = 0; c < nb; ++c) p[m + c] = x[m + c];
        apply(free, nb, p, wave, Hp);
        double slope = 0.0;
        for (std::size_t f = 0; f < m; ++f)
            slope += p[f] * (gradient[free[f]] + model_gradient(free[f]));
        if (nb > 0) {
            std::vector<double> force(intercept_gradient, intercept_gradient + R_);
            add_totals(v_, force.data(), 1.0);
            for (std::size_t c = 0; c < R_; ++c) slope += p[m + c] * force[c];
        }
        const double curve = dot(p, Hp);
        if (!(slope < 0.0)) return;
        // The best length along the step, if bounds have bent it.
        const double length = curve > 0.0 ? std::min(1.0, -slope / curve) : 1.0;
        for (std::size_t f = 0; f < m; ++f) {
            const std::size_t i = free[f];
            d[i] = std::min(std::max(d[i] + length * p[f], low[i]), high[i]);
        }
        for (std::size_t c = 0; c < nb; ++c) b[c] += length * p[m + c];
        for (std::size_t e = 0; e < v_.size(); ++e) v_[e] += static_cast<Real>(length) * wave[e];
        if (!total_.empty()) {
            std::fill(total_.begin(), total_.end(), 0.0);
            add_totals(v_, total_.data(), 1.0);
        }
    }

    static constexpr double kCgReduction = 1e-2;  // of the squared residual

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return dot_product(a.data(), b.data(), a.size());
    }

    // out (R) += sign * the sum over the rows.
    void add_totals(const std::vector<Real>& rows, double* out, double sign) const {
        for (std::size_t n = 0; n < n_rows_; ++n)
            for (std::size_t c = 0; c < R_; ++c) out[c] += sign * rows[n * R_ + c];
    }

    void precondition(const std::vector<std::size_t>& free, std::size_t nb,
                      const std::vector<double>& r, std::vector<double>& z) const {
        const std::size_t m = free.size();
        for (std::size_t f = 0; f < m; ++f) z[f] = r[f] / diagonal_[free[f]];
        if (nb == 0) return;
        std::copy(r.begin() + m, r.end(), z.begin() + m);
        solve_intercept(z.data() + m);
    }

    // wave = W (X p + intercepts), Hp = X' wave and its sum over the rows.
    void apply(const std::vector<std::size_t>& free, std::size_t nb, const std::vector<double>& p,
               std::vector<Real>& wave, std::vector<double>& Hp) const {
        const std::size_t m = free.size();
        std::vector<double> start(R_, 0.0);
        for (std::size_t c = 0; c < nb; ++c) start[c] = p[m + c];
        if (terms_.offset != nullptr)
            for (std::size_t f = 0; f < m; ++f)
                for (std::size_t c = 0; c < R_; ++c)
                    start[c] += p[f] * terms_.offset[column(free[f]) * R_ + c];
        for (std::size_t n = 0; n < n_rows_; ++n)
            for (std::size_t c = 0; c < R_; ++c) wave[n * R_ + c] = static_cast<Real>(start[c]);
        std::vector<Real> s(R_);
        for (std::size_t f = 0; f < m; ++f) {
            const std::size_t j = column(free[f]);
            spend(j);
            const std::int64_t begin = terms_.indptr[j], end = terms_.indptr[j + 1];
            for (std::size_t c = 0; c < R_; ++c)
                s[c] = static_cast<Real>(p[f] * terms_.slope[j * R_ + c]);
            if constexpr (kMany)
                scatter_column(terms_.rows + begin, terms_.column(j, scratch_),
                               static_cast<std::size_t>(end - begin), s.data(), R_, wave.data());
            else
                for (std::int64_t e = begin; e < end; ++e)
                    wave[terms_.rows[e]] += terms_.at(e) * s[0];
        }
        for (std::size_t n = 0; n < n_rows_; ++n) {
            if constexpr (kMany) {
                const float* q = &posterior_[n * R_];
                float* u = &wave[n * R_];
                const float mean = dot_of_floats(q, u, R_);
                const float r = static_cast<float>(row(n));
                for (std::size_t c = 0; c < R_; ++c) u[c] = r * q[c] * (u[c] - mean);
            } else {
                wave[n] *= h_[n];
            }
        }
        std::vector<double> total(R_, 0.0);
        if (nb > 0 || terms_.offset != nullptr) add_totals(wave, total.data(), 1.0);
        for (std::size_t f = 0; f < m; ++f) Hp[f] = gathered(free[f], wave, total);
        for (std::size_t c = 0; c < nb; ++c) Hp[m + c] = total[c];
    }

    double diagonal(std::size_t i) const {
        const std::size_t j = column(i);
        const double* s = terms_.slope + j * R_;
        const double* a = terms_.offset == nullptr ? nullptr : terms_.offset + j * R_;
        double total = 0.0;
        if (a != nullptr) {
            for (std::size_t c = 0; c < R_; ++c)
                for (std::size_t m = 0; m < R_; ++m)
                    total += a[c] * a[m] * curvature_[std::max(c, m) * R_ + std::min(c, m)];
            for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
                const double* p = p_ + static_cast<std::size_t>(terms_.rows[e]) * R_;
                double ps = 0.0, pa = 0.0, psa = 0.0;
                for (std::size_t c = 0; c < R_; ++c) {
                    ps += p[c] * s[c];
                    pa += p[c] * a[c];
                    psa += p[c] * s[c] * a[c];
                }
                total += 2.0 * row(terms_.rows[e]) * terms_.at(e) * (psa - ps * pa);
            }
        }
        double own = 0.0;
        std::vector<double> squared(R_);
        for (std::size_t c = 0; c < R_; ++c) squared[c] = s[c] * s[c];
        const double* squares = squared.data();
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
            const std::size_t n = terms_.rows[e];
            const double x = terms_.at(e);
            if (R_ == 1) {
                own += x * x * h_[n];
                continue;
            }
            const double* p = p_ + n * R_;
            const double mean = dot_product(s, p, R_), square = dot_product(squares, p, R_);
            own += x * x * row(n) * (square - mean * mean);
        }
        return total + (R_ == 1 ? own * s[0] * s[0] : own);
    }

    double model_gradient(std::size_t i) const { return gathered(i, v_, total_); }

    // x_j slope_j + offset_j times a vector of the rows; `total` is the vector's sum.
    double gathered(std::size_t i, const std::vector<Real>& v,
                    const std::vector<double>& total) const {
        const std::size_t j = column(i);
        spend(j);
        double sum = 0.0;
        if (terms_.offset != nullptr) {
            const double* a = terms_.offset + j * R_;
            for (std::size_t c = 0; c < R_; ++c) sum += a[c] * total[c];
        }
        const std::int64_t begin = terms_.indptr[j], end = terms_.indptr[j + 1];
        if constexpr (kMany) {
            return sum + gather_column(terms_.rows + begin, terms_.column(j, scratch_),
                                       static_cast<std::size_t>(end - begin), &slopes_[i * R_],
                                       R_, v.data());
        } else {
            double own = 0.0;
            if (terms_.values == nullptr)
                for (std::int64_t e = begin; e < end; ++e) own += v[terms_.rows[e]];
            else
                for (std::int64_t e = begin; e < end; ++e)
                    own += terms_.at(e) * v[terms_.rows[e]];
            return sum + terms_.slope[j] * own;
        }
    }

    void move(std::size_t i, double step) {
        const std::size_t j = column(i);
        spend(j);
        if (terms_.offset != nullptr) {
            move_everywhere(j, step);
            return;
        }
        const std::int64_t begin = terms_.indptr[j], end = terms_.indptr[j + 1];
        if constexpr (kMany) {
            curve_column(terms_.rows + begin, terms_.column(j, scratch_),
                         static_cast<std::size_t>(end - begin), &slopes_[i * R_], R_,
                         posterior_.data(), weight_, step, v_.data());
        } else {
            const double t = step * terms_.slope[j];
            for (std::int64_t e = begin; e < end; ++e) {
                const std::size_t n = terms_.rows[e];
                v_[n] += t * terms_.at(e) * h_[n];
            }
        }
    }

    // A move with an offset: every row, and the sum of all v.
    void move_everywhere(std::size_t j, double step) {
        pace_.spend(2 * n_rows_ * R_);
        for (std::size_t n = 0; n < n_rows_; ++n) add_curved(n, step, terms_.offset + j * R_);
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e)
            add_curved(terms_.rows[e], step * terms_.at(e), terms_.slope + j * R_);
        std::fill(total_.begin(), total_.end(), 0.0);
        add_totals(v_, total_.data(), 1.0);
    }

    // v_n += factor * W_n s
    void add_curved(std::size_t n, double factor, const double* s) {
        const double* p = p_ + n * R_;
        const double mean = dot_product(s, p, R_);
        factor *= row(n);
        for (std::size_t c = 0; c < R_; ++c)
            v_[n * R_ + c] += static_cast<Real>(factor * p[c] * (s[c] - mean));
    }

    // sum_n W_n, the curvature of the intercepts; its lower triangle.
    void sum_curvature() {
        curvature_.assign(R_ * R_, 0.0);
        for (std::size_t n = 0; n < n_rows_; ++n) {
            pace_.spend(R_ * R_ / 2);
            const double* p = p_ + n * R_;
            for (std::size_t a = 0; a < R_; ++a) {
                const double pa = row(n) * p[a];
                curvature_[a * R_ + a] += pa;
                for (std::size_t c = 0; c <= a; ++c) curvature_[a * R_ + c] -= pa * p[c];
            }
        }
    }

    // Cholesky factor of that.
    void prepare_intercept() {
        if (curvature_.empty()) sum_curvature();
        factor_ = curvature_;
        for (std::size_t a = 0; a < R_; ++a) {
            const double own = factor_[a * R_ + a];
            for (std::size_t c = 0; c <= a; ++c) {
                double sum = factor_[a * R_ + c];
                for (std::size_t m = 0; m < c; ++m) sum -= factor_[a * R_ + m] * factor_[c * R_ + m];
                if (c < a)
                    factor_[a * R_ + c] = sum / factor_[c * R_ + c];
                else
                    factor_[a * R_ + a] = std::sqrt(std::max(sum, 1e-12 * own + 1e-300));
            }
        }
        share_.resize(R_);
    }

    // In place: the solution for the curvature of the intercepts.
    void solve_intercept(double* x) const {
        for (std::size_t a = 0; a < R_; ++a) {
            for (std::size_t m = 0; m < a; ++m) x[a] -= factor_[a * R_ + m] * x[m];
            x[a] /= factor_[a * R_ + a];
        }
        for (std::size_t a = R_; a-- > 0;) {
            for (std::size_t m = a + 1; m < R_; ++m) x[a] -= factor_[m * R_ + a] * x[m];
            x[a] /= factor_[a * R_ + a];
        }
    }

    double move_intercept(const double* gradient, double* b) {
        std::vector<double>& step = share_;
        for (std::size_t c = 0; c < R_; ++c) step[c] = -gradient[c];
        add_totals(v_, step.data(), -1.0);
        std::vector<double> force(step);
        solve_intercept(step.data());
        double fall = 0.0;
        for (std::size_t c = 0; c < R_; ++c) {
            b[c] += step[c];
            fall += 0.5 * force[c] * step[c];
        }
        for (std::size_t n = 0; n < n_rows_; ++n) {
            if constexpr (kMany)
                add_curved(n, 1.0, step.data());
            else
                v_[n] += step[0] * h_[n];
        }
        if (!total_.empty()) {
            std::fill(total_.begin(), total_.end(), 0.0);
            add_totals(v_, total_.data(), 1.0);
        }
        return fall;
    }

    const LinearTerms<Value>& terms_;
    const double *p_, *weight_;
    std::size_t n_rows_;
    const std::int64_t* chosen_;
    std::size_t count_, R_;
    std::vector<Real> v_;
    std::vector<double> diagonal_, h_, curvature_, factor_, share_;
    std::vector<float> posterior_, slopes_;  // copies of what many classes read often
    mutable std::vector<float> scratch_;
    mutable Pace pace_{kPaceProducts};
    std::vector<double> total_;  // sum of v over the rows, kept only where there are offsets
};

}  // namespace bayesieve
