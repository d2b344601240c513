// Runs the counting core on byte strings of any kind and checks it against itself: one thread
// against many, whole against batches, memory against disk, counts against the matcher.
// Counters are full at 3 and documents are forgotten every 50, so that both happen.
//
// Built by sanitize_text_core.py with AddressSanitizer and UndefinedBehaviorSanitizer. With
// -DWITH_LIBFUZZER it is a target for libFuzzer; else it makes its own inputs.
#define BAYESIEVE_TEXT_FULL 3
#define BAYESIEVE_TEXT_DOCUMENTS 50

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "text_counter.h"
#include "text_matcher.h"
#include "text_names.h"

using namespace bayesieve::text;

namespace {

Tables all_tables[6];
std::string spill_folder = "/tmp";

void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "FAILED: %s\n", what);
    std::abort();
}

template <class T>
std::vector<T> read_array(std::istream& in) {
    std::uint64_t count = 0;
    in.read(reinterpret_cast<char*>(&count), 8);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
    return values;
}

void load_tables(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    for (Tables& tables : all_tables) {
        tables.flags = read_array<std::uint8_t>(in);
        tables.mapping = read_array<std::uint16_t>(in);
        tables.start = read_array<std::uint32_t>(in);
        tables.bytes = read_array<Byte>(in);
        const auto rest = read_array<std::uint16_t>(in);
        require(in.good() && rest.size() == 2, "the tables can be read");
        tables.lower = rest[0] != 0;
        tables.final_sigma = rest[1];
        tables.prepare();
    }
}

struct Result {
    std::vector<Byte> names;
    std::vector<std::int64_t> offsets;
    std::vector<double> count, documents;
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> code;

    bool operator==(const Result& other) const {
        return names == other.names && offsets == other.offsets && count == other.count &&
               documents == other.documents && start == other.start && code == other.code;
    }
};

struct Input {
    Analysis analysis;
    std::vector<Byte> data;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> codes;
    std::size_t classes = 2;
    bool dense = true;
};

Result count(const Input& input, std::size_t threads, std::size_t batch, std::size_t budget,
             std::size_t pending) {
    static std::uint64_t number = 0;
    CounterSettings settings;
    settings.classes = input.classes;
    settings.threads = threads;
    settings.budget = budget;
    settings.pending = pending;
    settings.spill_path = spill_folder + "/spill" + std::to_string(number++);
    auto counter = make_counter(input.analysis, settings);
    const std::size_t n = input.codes.size();
    for (std::size_t first = 0; first < n; first += batch) {
        const Batch part{input.data.data(), input.offsets.data() + first,
                         std::min(batch, n - first), input.codes.data() + first};
        counter->add(part);
    }
    Output out;
    counter->sort(out);
    out.dense = input.dense;
    Result result;
    const std::size_t cells = out.dense ? input.classes * out.terms : out.pairs;
    result.names.resize(out.name_bytes);
    result.offsets.resize(out.terms + 1);
    result.count.resize(cells);
    result.documents.resize(cells);
    if (!out.dense) {
        result.start.resize(out.terms + 1);
        result.code.resize(out.pairs);
    }
    out.names = result.names.data();
    out.name_offsets = result.offsets.data();
    out.count = result.count.data();
    out.documents = result.documents.data();
    out.start = result.start.data();
    out.code = result.code.data();
    counter->write(out);
    return result;
}

void check_matcher(const Input& input, const Result& result, std::size_t threads) {
    const Names names{result.names.data(), result.offsets.data(), result.offsets.size() - 1};
    const auto matcher = make_matcher(input.analysis, names, threads);
    const Batch batch{input.data.data(), input.offsets.data(), input.codes.size(),
                      input.codes.data()};
    Rows rows;
    matcher->rows(batch, threads, false, rows);
    require(rows.ends.size() == input.codes.size(), "a row for each text");
    std::vector<double> sums(input.classes * names.size, 0.0), weighted(sums.size(), 0.0);
    std::int64_t entry = 0;
    for (std::size_t i = 0; i < rows.ends.size(); ++i)
        for (; entry < rows.ends[i]; ++entry)
            if (input.codes[i] >= 0)
                sums[static_cast<std::size_t>(input.codes[i]) * names.size +
                     static_cast<std::size_t>(rows.columns[static_cast<std::size_t>(entry)])] +=
                    rows.values[static_cast<std::size_t>(entry)];
    Weighting plain;
    plain.norm = 0;
    matcher->add_weighted(batch, threads, plain, {weighted.data(), names.size});
    require(sums == result.count, "rows add up to the counts");
    require(weighted == result.count, "sums without weights are the counts");
    Weighting full;
    std::vector<double> idf(names.size, 1.5), one(sums.size(), 0.0), many(sums.size(), 0.0);
    full.idf = idf.data();
    full.sublinear = true;
    matcher->add_weighted(batch, 1, full, {one.data(), names.size});
    matcher->add_weighted(batch, threads, full, {many.data(), names.size});
    require(one == many, "tf-idf sums do not depend on threads");
}

// The first bytes choose the options, the others are texts; 0xFF ends a text.
void check(const Byte* bytes, std::size_t size) {
    if (size < 8) return;
    Input input;
    static Dictionary stop;
    if (stop.size() == 0)
        for (const char* word : {"ab", "the", "\xce\xb1\xce\xb2"}) {
            const auto* p = reinterpret_cast<const Byte*>(word);
            const Byte* kept;
            stop.number(p, std::strlen(word), hash_bytes(p, std::strlen(word)), kept);
        }
    Analysis& analysis = input.analysis;
    analysis.analyzer = static_cast<Analyzer>(bytes[0] % 3);
    analysis.tables = &all_tables[bytes[1] % 6];
    analysis.min_n = 1 + bytes[2] % 4;
    analysis.max_n = analysis.min_n + bytes[3] % 8;
    analysis.shortest = 1 + bytes[4] % 2;
    analysis.joined = (bytes[4] & 2) != 0 || key_width(analysis.max_n) == 0;
    if (bytes[4] & 4) analysis.stop = &stop;
    input.classes = 1 + bytes[5] % 5;
    input.dense = true;
    for (std::size_t i = 8; i < size; ++i) {
        if (bytes[i] != 0xFF) {
            input.data.push_back(bytes[i]);
            if (i + 1 < size) continue;
        }
        input.offsets.push_back(static_cast<std::int64_t>(input.data.size()));
        const auto classes = static_cast<int>(input.classes) + 1;
        input.codes.push_back(static_cast<int>((i * 2654435761u >> 7) %
                                               static_cast<unsigned>(classes)) - 1);
    }
    for (std::size_t i = 0; i + 1 < input.offsets.size(); ++i)
        valid_utf8(input.data.data() + input.offsets[i],
                   static_cast<std::size_t>(input.offsets[i + 1] - input.offsets[i]));
    const std::size_t n = std::max<std::size_t>(1, input.codes.size());
    const Result whole = count(input, 1, n, 0, 1 << 20);
    const std::size_t batch = 1 + bytes[6] % n;
    require(count(input, 2 + bytes[7] % 3, batch, 0, 1 + bytes[7]) == whole,
            "threads and batches change nothing");
    require(count(input, 2, batch, 1, 16) == whole, "a budget changes nothing");
    const Names names{whole.names.data(), whole.offsets.data(), whole.offsets.size() - 1};
    require(strictly_rising(names), "names rise");
    input.dense = false;
    require(count(input, 2, n, 0, 64) == count(input, 1, batch, 1, 4096),
            "sparse tables are alike");
    input.dense = true;
    check_matcher(input, whole, 1 + bytes[7] % 3);
    if (names.size > 1) {
        const Names half{names.data, names.offsets, names.size / 2};
        std::vector<std::int64_t> own(half.size), others(names.size);
        require(merge_columns(half, names, own.data(), others.data()) == names.size,
                "a part adds nothing");
        require(position(names, names[names.size - 1]) ==
                    static_cast<std::int64_t>(names.size - 1),
                "a name is found");
    }
}

std::vector<Byte> random_input(std::mt19937_64& rng) {
    static const std::vector<std::string> pieces{
        "a",    "ab",   "The",  " ",    "  ",   "\n",   "\t ",  "_",    "9",   ".",
        "Σ",    "σ",    "ΑΣ",   "İ",    "é",    "e\xcc\x81",    "ß",    "中文", "한",
        "½",    "\xed\xa0\x80", "\xf0\x9f\x98\x80",    "\xff",  "\xff", "\xc3", "\xe2\x82",
        "\xf4\x90\x80\x80",     "\xc0\x80",    "\x80", std::string(1, '\0'),   "\xc2\xa0"};
    std::vector<Byte> bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<Byte>(rng()));
    const std::size_t length = rng() % (rng() % 8 == 0 ? 4000 : 200);
    while (bytes.size() < length + 8) {
        if (rng() % 4 == 0) {
            bytes.push_back(static_cast<Byte>(rng()));
            continue;
        }
        const std::string& piece = pieces[rng() % pieces.size()];
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
}

}  // namespace

#if defined(WITH_LIBFUZZER)
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    load_tables(std::getenv("TEXT_TABLES"));
    return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    check(bytes, size);
    return 0;
}
#else
// driver TABLES FOLDER SEED SECONDS [FILE ...]
int main(int count, char** arguments) {
    require(count >= 5, "usage: driver TABLES FOLDER SEED SECONDS [FILE ...]");
    load_tables(arguments[1]);
    spill_folder = arguments[2];
    for (int i = 5; i < count; ++i) {
        std::ifstream in(arguments[i], std::ios::binary);
        std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
        check(reinterpret_cast<const Byte*>(bytes.data()), bytes.size());
    }
    std::mt19937_64 rng(std::strtoull(arguments[3], nullptr, 10));
    const double seconds = std::strtod(arguments[4], nullptr);
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t runs = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           seconds) {
        const std::vector<Byte> bytes = random_input(rng);
        check(bytes.data(), bytes.size());
        ++runs;
    }
    std::printf("%llu inputs\n", static_cast<unsigned long long>(runs));
    return 0;
}
#endif
