// Python's face of the matcher; see text_matcher.h.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernel.h"
#include "text_arrays.h"
#include "text_matcher.h"
#include "text_plan.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using namespace bayesieve::text;
using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class TermMatcher {
public:
    TermMatcher(const SharedPlan& plan, const Given<std::uint8_t>& data,
                const Given<std::int64_t>& offsets, std::size_t threads)
        : plan_(plan.held) {
        const Names names = names_of(data, offsets);
        terms_ = names.size;
        const bayesieve::Kernel kernel;
        matcher_ = make_matcher(plan_->analysis, names, std::max<std::size_t>(1, threads));
    }

    nb::tuple rows(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
                   const std::optional<Given<std::int64_t>>& words, std::size_t threads,
                   bool binary) const {
        const Batch batch = batch_of(data, offsets, words, nullptr);
        Rows rows;
        {
            const bayesieve::Kernel kernel;
            matcher_->rows(batch, std::max<std::size_t>(1, threads), binary, rows);
        }
        Zeros<std::int64_t> start(batch.documents + 1);
        for (std::size_t i = 0; i < batch.documents; ++i) start[i + 1] = rows.ends[i];
        const std::size_t entries = rows.columns.size();
        Zeros<std::int32_t> columns(entries);
        Zeros<double> values(entries);
        if (entries > 0) {
            std::memcpy(columns.data(), rows.columns.data(), entries * sizeof(std::int32_t));
            std::memcpy(values.data(), rows.values.data(), entries * sizeof(double));
        }
        return nb::make_tuple(values.array(), columns.array(), start.array());
    }

    void add_weighted(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
                      const std::optional<Given<std::int64_t>>& words,
                      const Given<std::int32_t>& codes, std::size_t classes,
                      const std::optional<Given<double>>& idf, bool sublinear, bool binary,
                      int norm, Writable value, const std::optional<Given<std::int64_t>>& start,
                      const std::optional<Given<std::int32_t>>& code,
                      std::size_t threads) const {
        const Batch batch = batch_of(data, offsets, words, codes.data());
        if (codes.shape(0) != batch.documents)
            throw std::invalid_argument("there must be one code for each text");
        for (std::size_t i = 0; i < batch.documents; ++i)
            if (codes.data()[i] >= static_cast<std::int64_t>(classes))
                throw std::invalid_argument("a code is outside the classes");
        if (idf && idf->shape(0) != terms_)
            throw std::invalid_argument("there must be one idf for each term");
        Sums sums{value.data(), terms_, nullptr, nullptr};
        if (start && code) {
            if (start->shape(0) != terms_ + 1 || code->shape(0) != value.shape(0) ||
                !well_formed(start->data(), terms_, value.shape(0)))
                throw std::invalid_argument("the sparse sums do not fit their terms");
            sums.start = start->data();
            sums.code = code->data();
        } else if (value.shape(0) != classes * terms_) {
            throw std::invalid_argument("there must be one sum for each class and term");
        }
        const Weighting weighting{idf ? idf->data() : nullptr, sublinear, binary, norm};
        const bayesieve::Kernel kernel;
        matcher_->add_weighted(batch, std::max<std::size_t>(1, threads), weighting, sums);
    }
    std::size_t bytes() const { return matcher_->bytes(); }

private:
    Batch batch_of(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
                   const std::optional<Given<std::int64_t>>& words,
                   const std::int32_t* codes) const {
        const Names all = names_of(data, offsets);
        if (!words) return {data.data(), offsets.data(), all.size, codes};
        if (!plan_->analysis.joined)
            throw std::invalid_argument("given words are matched as joined strings");
        if (words->shape(0) == 0 || !well_formed(words->data(), words->shape(0) - 1, all.size))
            throw std::invalid_argument("the words do not fit their texts");
        return {data.data(), offsets.data(), words->shape(0) - 1, codes, words->data()};
    }

    std::shared_ptr<Plan> plan_;
    std::size_t terms_ = 0;
    std::unique_ptr<Matcher> matcher_;
};

}  // namespace

void register_text_matching(nb::module_& m) {
    nb::class_<TermMatcher>(m, "TermMatcher", "Given terms, to be found in texts.")
        .def(nb::init<const SharedPlan&, const Given<std::uint8_t>&,
                      const Given<std::int64_t>&, std::size_t>(),
             "plan"_a, "data"_a, "offsets"_a, "threads"_a)
        .def("rows", &TermMatcher::rows, "data"_a, "offsets"_a, "words"_a.none(), "threads"_a,
             "binary"_a, "Values, columns and row ends of the document-term matrix.")
        .def("add_weighted", &TermMatcher::add_weighted, "data"_a, "offsets"_a, "words"_a.none(),
             "codes"_a, "classes"_a, "idf"_a.none(), "sublinear"_a, "binary"_a, "norm"_a,
             "value"_a, "start"_a.none(), "code"_a.none(), "threads"_a,
             "Add tf-idf values to sums by class and term.")
        .def_prop_ro("nbytes", &TermMatcher::bytes);
}
