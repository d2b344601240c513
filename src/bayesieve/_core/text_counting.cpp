// Python's face of the counting core; see text_counter.h for how it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernel.h"
#include "text_arrays.h"
#include "text_counter.h"
#include "text_plan.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

void register_text_terms(nb::module_& m);
void register_text_matching(nb::module_& m);

namespace {

using namespace bayesieve::text;

template <class T>
std::vector<T> copied(const Given<T>& values) {
    return std::vector<T>(values.data(), values.data() + values.shape(0));
}

SharedTables make_tables(const Given<std::uint8_t>& flags, const Given<std::uint16_t>& mapping,
                         const Given<std::uint32_t>& start, const Given<std::uint8_t>& bytes,
                         bool lower, std::uint16_t final_sigma) {
    auto tables = std::make_shared<Tables>();
    tables->flags = copied(flags);
    tables->mapping = copied(mapping);
    tables->start = copied(start);
    tables->bytes = copied(bytes);
    tables->lower = lower;
    tables->final_sigma = final_sigma;
    tables->prepare();
    return {std::move(tables)};
}

SharedPlan make_plan(const SharedTables& tables, const char* analyzer_name, std::size_t min_n,
                     std::size_t max_n, std::size_t shortest, bool joined,
                     const Given<std::uint8_t>& stop,
                     const Given<std::int64_t>& stop_offsets) {
    const std::string analyzer(analyzer_name);
    if (min_n < 1 || max_n < min_n) throw std::invalid_argument("ngram_range must rise from 1");
    if (analyzer != "word" && analyzer != "char" && analyzer != "char_wb")
        throw std::invalid_argument("analyzer must be word, char or char_wb");
    auto plan = std::make_shared<Plan>();
    const Names words = names_of(stop, stop_offsets);
    for (std::size_t i = 0; i < words.size; ++i) {
        const Byte* kept;
        plan->stop.number(words[i].data, words[i].size,
                          hash_bytes(words[i].data, words[i].size), kept);
    }
    plan->stops = words.size > 0;
    plan->analysis.analyzer = analyzer == "word"   ? Analyzer::kWord
                              : analyzer == "char" ? Analyzer::kChar
                                                   : Analyzer::kCharWb;
    plan->analysis.min_n = min_n;
    plan->analysis.max_n = max_n;
    plan->analysis.shortest = shortest;
    plan->analysis.joined = joined || key_width(max_n) == 0;
    plan->analysis.tables = tables.held.get();
    plan->analysis.stop = plan->stops ? &plan->stop : nullptr;
    plan->tables = tables.held;
    return {std::move(plan)};
}

class TextCounter {
public:
    TextCounter(const SharedPlan& plan, std::size_t classes, std::size_t threads,
                std::size_t budget, const char* spill_path, bool binary,
                std::size_t pending)
        : plan_(plan.held), classes_(classes) {
        CounterSettings settings;
        settings.classes = classes;
        settings.threads = std::max<std::size_t>(1, threads);
        settings.budget = budget;
        settings.spill_path = spill_path;
        settings.binary = binary;
        if (pending > 0) settings.pending = pending;
        counter_ = make_counter(plan_->analysis, std::move(settings));
    }

    void add(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
             const Given<std::int32_t>& codes) {
        const Names texts = names_of(data, offsets);
        check(codes, texts.size);
        count({data.data(), offsets.data(), texts.size, codes.data()});
    }
    void add_words(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
                   const Given<std::int64_t>& words, const Given<std::int32_t>& codes) {
        const Names all = names_of(data, offsets);
        if (!plan_->analysis.joined)
            throw std::invalid_argument("given words are counted as joined strings");
        if (words.shape(0) == 0 || !well_formed(words.data(), words.shape(0) - 1, all.size))
            throw std::invalid_argument("the words do not fit their texts");
        check(codes, words.shape(0) - 1);
        count({data.data(), offsets.data(), words.shape(0) - 1, codes.data(), words.data()});
    }
    nb::tuple finish(std::size_t dense_cells) {
        Output out;
        std::unique_ptr<Counter> taken;
        {
            const bayesieve::Kernel kernel;
            const std::lock_guard<std::mutex> lock(guard_);
            Counter& mine = counter();
            whole([&] { mine.sort(out); });
            taken = std::move(counter_);
        }
        out.dense = classes_ == 2 || out.terms <= dense_cells / classes_;
        const std::size_t cells = out.dense ? classes_ * out.terms : out.pairs;
        Zeros<std::uint8_t> names(out.name_bytes);
        Zeros<std::int64_t> offsets(out.terms + 1);
        Zeros<double> count(cells), documents(cells);
        Zeros<std::int64_t> start(out.dense ? 0 : out.terms + 1);
        Zeros<std::int32_t> code(out.dense ? 0 : out.pairs);
        out.names = names.data();
        out.name_offsets = offsets.data();
        out.count = count.data();
        out.documents = documents.data();
        out.start = start.data();
        out.code = code.data();
        {
            const bayesieve::Kernel kernel;
            taken->write(out);
            taken.reset();
        }
        if (out.dense)
            return nb::make_tuple(names.array(), offsets.array(),
                                  count.table(classes_, out.terms),
                                  documents.table(classes_, out.terms));
        return nb::make_tuple(names.array(), offsets.array(), count.array(), documents.array(),
                              start.array(), code.array());
    }
    std::size_t bytes() {
        const bayesieve::Kernel kernel;
        const std::lock_guard<std::mutex> lock(guard_);
        return counter().bytes();
    }
    std::uint64_t spilled() {
        const bayesieve::Kernel kernel;
        const std::lock_guard<std::mutex> lock(guard_);
        return counter().spilled_bytes();
    }
    std::size_t longest_search() {
        const bayesieve::Kernel kernel;
        const std::lock_guard<std::mutex> lock(guard_);
        return counter().longest_search();
    }

private:
    void count(const Batch& batch) {
        const bayesieve::Kernel kernel;
        const std::lock_guard<std::mutex> lock(guard_);  // one batch after the other
        Counter& mine = counter();
        whole([&] { mine.add(batch); });
    }
    // Work that was interrupted or ran out of memory leaves counts that are neither before nor
    // after it: they are dropped, so that nobody takes them for an answer.
    template <class Work>
    void whole(Work work) {
        try {
            work();
        } catch (...) {
            counter_.reset();
            broken_ = true;
            throw;
        }
    }
    Counter& counter() {
        if (broken_)
            throw std::runtime_error("the counts were lost when counting was interrupted");
        if (!counter_) throw std::runtime_error("the counts have been taken already");
        return *counter_;
    }
    void check(const Given<std::int32_t>& codes, std::size_t documents) const {
        if (codes.shape(0) != documents)
            throw std::invalid_argument("there must be one code for each text");
        for (std::size_t i = 0; i < documents; ++i)
            if (codes.data()[i] < -1 || codes.data()[i] >= static_cast<std::int64_t>(classes_))
                throw std::invalid_argument("a code is outside the classes");
    }
    std::shared_ptr<Plan> plan_;
    std::size_t classes_;
    std::unique_ptr<Counter> counter_;
    bool broken_ = false;
    std::mutex guard_;
};

}  // namespace

void register_text_counting(nb::module_& m) {
    // Tables and plans are kept for the life of the process, in caches and with options; what
    // is alive at its end is no leak. Growth is tested by repeated counts.
    nb::set_leak_warnings(false);
    nb::class_<SharedTables>(m, "TextTables", "Properties of characters, and what texts become.");
    m.def("text_tables", &make_tables, "flags"_a, "mapping"_a, "start"_a, "bytes"_a, "lower"_a,
          "final_sigma"_a);
    nb::class_<SharedPlan>(m, "TextPlan", "How texts are cut into n-grams.");
    m.def("text_plan", &make_plan, "tables"_a, "analyzer"_a, "min_n"_a, "max_n"_a, "shortest"_a,
          "joined"_a,
          "stop"_a, "stop_offsets"_a);
    nb::class_<TextCounter>(m, "TextCounter", "Class counts of the n-grams of texts.")
        .def(nb::init<const SharedPlan&, std::size_t, std::size_t, std::size_t,
                      const char*, bool, std::size_t>(),
             "plan"_a, "classes"_a, "threads"_a, "budget"_a, "spill_path"_a, "binary"_a,
             "pending"_a)
        .def("add", &TextCounter::add, "data"_a, "offsets"_a, "codes"_a)
        .def("add_words", &TextCounter::add_words, "data"_a, "offsets"_a, "words"_a, "codes"_a)
        .def("finish", &TextCounter::finish, "dense_cells"_a)
        .def_prop_ro("nbytes", &TextCounter::bytes)
        .def_prop_ro("spilled_bytes", &TextCounter::spilled)
        .def_prop_ro("longest_search", &TextCounter::longest_search);
    m.def(
        "text_hash",
        [](const Given<std::uint8_t>& data) { return hash_bytes(data.data(), data.shape(0)); },
        "data"_a, "Hash of a string, by the key of this process.");
    register_text_terms(m);
    register_text_matching(m);
}
