// The weighted naive Bayes criterion on part indexes: value, gradient, curvature, trials.
//
// Terms are K columns of part indexes and tables of log-probabilities relative to class 0; see
// weighted_kernels.h. `start` is the prior, ln P(C_j) - ln P(C_0) for j = 1..J-1.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "kernel.h"
#include "weighted_box_qp.h"
#include "weighted_curvature.h"
#include "weighted_kernels.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Column = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// Calls body with a null pointer of the type of the part indexes.
template <class Array, class Body>
auto with_part_type(const Array& parts, Body body) {
    if (parts.dtype() == nb::dtype<std::uint8_t>())
        return body(static_cast<const std::uint8_t*>(parts.data()));
    if (parts.dtype() == nb::dtype<std::uint16_t>())
        return body(static_cast<const std::uint16_t*>(parts.data()));
    if (parts.dtype() == nb::dtype<std::uint32_t>())
        return body(static_cast<const std::uint32_t*>(parts.data()));
    throw std::invalid_argument("part indexes must be uint8, uint16 or uint32");
}

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <class Part>
bayesieve::Terms<Part> terms_of(const Columns& parts, const Part* data, const Matrix& table,
                                const Indices& offset) {
    require(parts.size() == 0 || parts.shape(1) == 1 || parts.stride(1) == 1, "columns of parts must be contiguous");
    require(offset.shape(0) == parts.shape(0) + 1, "offset must have one value a term, and one");
    return {data,
            static_cast<std::size_t>(parts.stride(0)),
            table.data(),
            offset.data(),
            parts.shape(0),
            table.shape(1)};
}

const double* data_or_null(const std::optional<Vector>& array, std::size_t size) {
    if (!array) return nullptr;
    require(array->shape(0) == size, "row_weight must have one value a row");
    return array->data();
}

void scores(const Columns& parts, const Matrix& table, const Indices& offset,
            const Vector& weights, const Vector& start, OutMatrix out) {
    const std::size_t rows = parts.shape(1), width = table.shape(1);
    require(weights.shape(0) == parts.shape(0), "weights must have one value a term");
    require(out.shape(0) == rows && out.shape(1) == width && start.shape(0) == width,
            "scores must be (rows, columns of the table)");
    double* z = out.data();
    with_part_type(parts, [&](auto* data) {
        const bayesieve::Kernel kernel;
        const auto terms = terms_of(parts, data, table, offset);
        const bayesieve::Weighted model(terms, weights.data(), start.data());
        bayesieve::for_each_row_block(
            rows, width, rows * width * terms.count,
            [&](std::size_t, std::size_t first, std::size_t last) {
                model.scores(first, last, z + first * width);
            });
    });
}

double nll(const Columns& parts, const Matrix& table, const Indices& offset,
           const Vector& weights, const Vector& start, const Codes& codes,
           const std::optional<Vector>& row_weight, const std::optional<OutVector>& gradient) {
    const std::size_t rows = parts.shape(1), width = table.shape(1), K = parts.shape(0);
    require(weights.shape(0) == K && start.shape(0) == width && codes.shape(0) == rows &&
                (!gradient || gradient->shape(0) == K),
            "weights, start, codes or gradient do not match the terms");
    const double* r = data_or_null(row_weight, rows);
    double* g = gradient ? gradient->data() : nullptr;
    return with_part_type(parts, [&](auto* data) {
        const bayesieve::Kernel kernel;
        const auto terms = terms_of(parts, data, table, offset);
        const bayesieve::Weighted model(terms, weights.data(), start.data());
        const std::size_t blocks =
            bayesieve::block_count(rows, bayesieve::weighted_block(width));
        std::vector<double> value(blocks), slots(g ? blocks * K : 0);
        bayesieve::for_each_row_block(
            rows, width, rows * width * (K + 8),
            [&](std::size_t b, std::size_t first, std::size_t last) {
                thread_local std::vector<double> z, scratch;
                z.resize((last - first) * width);
                model.scores(first, last, z.data());
                value[b] = bayesieve::block_nll(
                    z.data(), last - first, width, codes.data() + first, r ? r + first : nullptr,
                    g != nullptr, scratch);
                if (g) bayesieve::add_gradient(terms, first, last, z.data(), slots.data() + b * K);
            });
        if (g) {
            std::fill(g, g + K, 0.0);
            for (std::size_t b = 0; b < blocks; ++b)
                for (std::size_t k = 0; k < K; ++k) g[k] += slots[b * K + k];
        }
        return bayesieve::in_order(value);
    });
}

double softmax_nll(OutMatrix scores, const Codes& codes, const std::optional<Vector>& row_weight,
                   bool residuals) {
    const std::size_t rows = scores.shape(0), width = scores.shape(1);
    require(codes.shape(0) == rows, "codes must have one value a row");
    const double* r = data_or_null(row_weight, rows);
    double* z = scores.data();
    const bayesieve::Kernel kernel;
    std::vector<double> value(bayesieve::block_count(rows, bayesieve::weighted_block(width)));
    bayesieve::for_each_row_block(
        rows, width, rows * width * 8, [&](std::size_t b, std::size_t first, std::size_t last) {
            thread_local std::vector<double> scratch;
            value[b] = bayesieve::block_nll(
                z + first * width, last - first, width, codes.data() + first,
                r ? r + first : nullptr,
                residuals, scratch);
        });
    return bayesieve::in_order(value);
}

void curvature(const Columns& parts, const Matrix& table, const Indices& offset,
               const Vector& weights, const Vector& start, const std::optional<Vector>& row_weight,
               const Indices& chosen, OutMatrix out) {
    const std::size_t rows = parts.shape(1), K = parts.shape(0), size = chosen.shape(0);
    require(weights.shape(0) == K && start.shape(0) == table.shape(1),
            "weights or start do not match the terms");
    require(out.shape(0) == size && out.shape(1) == size, "the matrix must be square");
    for (std::size_t f = 0; f < size; ++f)
        require(chosen.data()[f] >= 0 && static_cast<std::size_t>(chosen.data()[f]) < K,
                "chosen holds terms that do not exist");
    const double* r = data_or_null(row_weight, rows);
    double* H = out.data();
    with_part_type(parts, [&](auto* data) {
        const bayesieve::Kernel kernel;
        const auto terms = terms_of(parts, data, table, offset);
        const bayesieve::Weighted model(terms, weights.data(), start.data());
        bayesieve::curvature(model, rows, r, chosen.data(), size, H);
    });
}

// Cost of scores + delta * term.
double trial(const Matrix& scores, const std::optional<Column>& part, const Matrix& table,
             double delta, const Codes& codes, const std::optional<Vector>& row_weight,
             double smoothing_rows) {
    const std::size_t rows = scores.shape(0), width = scores.shape(1);
    require(codes.shape(0) == rows && table.shape(1) == width && (!part || part->shape(0) == rows),
            "codes, part or table do not match the scores");
    require(part || table.shape(0) == rows, "a term without parts must have one line a row");
    const double* r = data_or_null(row_weight, rows);
    const double* s = scores.data();
    auto run = [&](auto line) {
        const bayesieve::Kernel kernel;
        std::vector<double> value(bayesieve::block_count(rows, bayesieve::weighted_block(width)));
        bayesieve::for_each_row_block(
            rows, width, rows * width * 8,
            [&](std::size_t b, std::size_t first, std::size_t last) {
                thread_local std::vector<double> z, scratch;
                z.resize((last - first) * width);
                double* to = z.data();
                for (std::size_t n = first; n < last; ++n, to += width) {
                    const double* t = table.data() + line(n) * width;
                    const double* from = s + n * width;
                    for (std::size_t c = 0; c < width; ++c) to[c] = from[c] + delta * t[c];
                }
                value[b] = bayesieve::block_cost(z.data(), last - first, width,
                                                 codes.data() + first, r ? r + first : nullptr,
                                                 smoothing_rows, scratch);
            });
        return bayesieve::in_order(value);
    };
    if (!part) return run([](std::size_t n) { return n; });
    require(rows <= 1 || part->stride(0) == 1, "part indexes must be contiguous");
    return with_part_type(*part, [&](auto* data) {
        return run([data](std::size_t n) { return static_cast<std::size_t>(data[n]); });
    });
}

void box_qp(const Matrix& H, const Vector& g, const Vector& low, const Vector& high, double tol,
            int rounds, OutVector out) {
    const std::size_t size = g.shape(0);
    require(H.shape(0) == size && H.shape(1) == size && low.shape(0) == size &&
                high.shape(0) == size && out.shape(0) == size,
            "the shapes of a quadratic program do not match");
    const bayesieve::Kernel kernel;
    bayesieve::BoxQP program(H.data(), g.data(), low.data(), high.data(), size);
    const auto& d = program.solve(tol, rounds);
    std::copy(d.begin(), d.end(), out.data());
}

void exp_nonpositive(OutVector values) {
    double* x = values.data();
    const bayesieve::Kernel kernel;
    bayesieve::poll();
    bayesieve::for_each_stretch(values.shape(0), [&](std::size_t first, std::size_t last) {
        bayesieve::exp_in_place(x + first, last - first);
    });
}

}  // namespace

void register_weighted_parts(nb::module_& m) {
    m.def("weighted_scores", &scores, "parts"_a.noconvert(), "table"_a.noconvert(), "offset"_a,
          "weights"_a, "start"_a, "out"_a.noconvert(),
          "start + sum over terms of weight * table[part], into out (rows, columns).");
    m.def("weighted_nll", &nll, "parts"_a.noconvert(), "table"_a.noconvert(), "offset"_a,
          "weights"_a, "start"_a, "codes"_a, "row_weight"_a = nb::none(),
          "gradient"_a.noconvert() = nb::none(),
          "Sum of negative log-likelihoods of the rows, and on request its gradient.\n"
          "Tables and start are relative to class 0, which has no column.");
    m.def("softmax_nll", &softmax_nll, "scores"_a.noconvert(), "codes"_a,
          "row_weight"_a = nb::none(), "residuals"_a = false,
          "weighted_nll from scores, which it overwrites: by the residuals on request.");
    m.def("weighted_curvature", &curvature, "parts"_a.noconvert(), "table"_a.noconvert(),
          "offset"_a, "weights"_a, "start"_a, "row_weight"_a.none(), "chosen"_a,
          "out"_a.noconvert(), "Second derivatives of weighted_nll for the chosen terms.");
    m.def("weighted_trial", &trial, "scores"_a, "part"_a.none(), "table"_a, "delta"_a,
          "codes"_a, "row_weight"_a.none(), "smoothing_rows"_a = 0.0,
          "Cost of scores + delta * table[part] (or delta * table without parts): negative\n"
          "log-likelihood, or that of posteriors smoothed for so many rows.");
    m.def("box_qp", &box_qp, "H"_a, "g"_a, "low"_a, "high"_a, "tol"_a, "rounds"_a,
          "out"_a.noconvert(), "Minimum of g'd + d'Hd/2 over a box, into out.");
    m.def("exp_nonpositive", &exp_nonpositive, "values"_a.noconvert(),
          "The exponential the kernels use, in place, for values <= 0.");
}
