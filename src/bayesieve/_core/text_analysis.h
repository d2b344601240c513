// From a text to its n-grams, as scikit-learn's CountVectorizer makes them.
//
// An n-gram is a key of W numbers, padded with zeros: numbers of words, or code points plus one.
// Where W would be too large, or words may hold spaces (custom patterns), the joined string
// itself is numbered and the key is that one number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime.h"
#include "text_dictionary.h"
#include "text_hash.h"
#include "text_unicode.h"

namespace bayesieve::text {

constexpr std::size_t kPaceTerms = 1 << 16;  // words or n-grams between two polls

template <std::size_t W>
using Key = std::array<std::uint32_t, W>;

template <std::size_t W>
inline std::uint64_t hash_key(const Key<W>& key) {
    return hash_numbers<W>(key.data());
}

enum class Analyzer { kWord, kChar, kCharWb };

struct Analysis {
    Analyzer analyzer = Analyzer::kWord;
    std::size_t min_n = 1;
    std::size_t max_n = 1;
    std::size_t shortest = 2;  // characters of a word
    bool joined = false;  // n-grams are numbered as strings
    const Tables* tables = nullptr;
    const Dictionary* stop = nullptr;  // words to leave out before n-grams are made
};

// Widths of keys that are compiled; 0: joined strings, whose keys have width 1.
inline std::size_t key_width(std::size_t max_n) {
    for (std::size_t width : {1, 2, 3, 4, 6, 8})
        if (max_n <= width) return width;
    return 0;
}

// Room that one thread uses again for every document.
struct Scratch {
    std::vector<Byte> text;
    std::vector<Byte> squeezed;
    std::vector<Byte> joined;
    std::vector<std::uint32_t> numbers;
    std::vector<Span> words;
    std::vector<std::uint64_t> hashes;
    std::vector<std::size_t> starts;
};

// Calls found(data, size) for every run of \w of at least `shortest` characters.
template <class Found>
void for_each_word(const Tables& tables, Span text, std::size_t shortest, Found found) {
    if (tables.usual_words && ascii_prefix(text.data, text.size) == text.size) {
        ascii_runs(text.data, text.size, shortest, found);
        return;
    }
    const Byte* p = text.data;
    const Byte* end = p + text.size;
    std::uint32_t code;
    Pace pace(kPaceTerms);
    while (p < end) {
        if (*p < 0x80) {
            if (!tables.ascii_word[*p]) {
                ++p;
                continue;
            }
        } else {
            const std::size_t length = decode(p, end, code);
            if (!tables.is(code, kWord)) {
                p += length;
                continue;
            }
        }
        pace.spend(1);
        const Byte* first = p;
        std::size_t characters = 0;
        while (p < end) {
            if (*p < 0x80) {
                if (!tables.ascii_word[*p]) break;
                ++p;
            } else {
                const std::size_t length = decode(p, end, code);
                if (!tables.is(code, kWord)) break;
                p += length;
            }
            ++characters;
        }
        if (characters >= shortest) found(first, static_cast<std::size_t>(p - first));
    }
}

// Calls emit(key) for the n-grams of a row of numbers; none that holds FixedDictionary::kUnknown.
template <std::size_t W, class Emit>
void number_ngrams(const std::uint32_t* numbers, std::size_t count, std::size_t min_n,
                   std::size_t max_n, Emit emit) {
    for (std::size_t n = min_n; n <= max_n && n <= count; ++n) {
        std::size_t first = 0;
        for (std::size_t i = 0; i + n <= count; ++i) {
            Key<W> key{};
            bool known = true;
            for (std::size_t j = 0; j < W; ++j)
                if (j < n) {
                    key[j] = numbers[i + j];
                    known = known && key[j] != FixedDictionary::kUnknown;
                }
            if (known) emit(key);
            if (i - first < kPaceTerms) continue;
            first = i;
            poll();
        }
    }
}

// Calls emit(bytes) for the n-grams of a row of words joined by spaces.
template <class Emit>
void joined_ngrams(const std::vector<Span>& words, std::size_t min_n, std::size_t max_n,
                   std::vector<Byte>& room, Emit emit) {
    for (std::size_t n = min_n; n <= max_n && n <= words.size(); ++n)
        for (std::size_t i = 0; i + n <= words.size(); ++i) {
            if (n == 1) {
                emit(words[i]);
                continue;
            }
            room.clear();
            for (std::size_t j = i; j < i + n; ++j) {
                if (j > i) room.push_back(' ');
                room.insert(room.end(), words[j].data, words[j].data + words[j].size);
            }
            emit(Span{room.data(), room.size()});
        }
}

// The text with every run of two or more white spaces as one space.
inline Span squeezed(const Tables& tables, Span text, std::vector<Byte>& room) {
    room.resize(text.size);
    std::size_t out = 0;
    const Byte* p = text.data;
    const Byte* end = p + text.size;
    std::uint32_t code;
    Pace pace(kPaceBytes);
    while (p < end) {
        pace.spend(1);
        const std::size_t length = decode(p, end, code);
        if (!tables.is(code, kSpace)) {
            std::memcpy(room.data() + out, p, length);
            out += length;
            p += length;
            continue;
        }
        const Byte* first = p;
        std::size_t spaces = 0;
        while (p < end) {
            const std::size_t step = decode(p, end, code);
            if (!tables.is(code, kSpace)) break;
            p += step;
            ++spaces;
        }
        if (spaces >= 2) {
            room[out++] = ' ';
        } else {
            std::memcpy(room.data() + out, first, length);
            out += length;
        }
    }
    return {room.data(), out};
}

// Calls emit(first, last) for the n-grams [first, last) of a padded word of `count` characters.
template <class Emit>
void padded_ngrams(std::size_t count, std::size_t min_n, std::size_t max_n, Emit emit) {
    for (std::size_t n = min_n; n <= max_n; ++n) {
        if (n >= count) {
            emit(std::size_t{0}, count);  // a short word counts once
            break;
        }
        for (std::size_t i = 0; i + n <= count; ++i) emit(i, i + n);
    }
}

// Calls emit(key) for every n-gram of a text; `words` numbers strings (see text_dictionary.h).
template <std::size_t W, class Numbers, class Emit>
void for_each_ngram(const Analysis& analysis, Span raw, Scratch& scratch, Numbers& words,
                    Emit emit) {
    const Tables& tables = *analysis.tables;
    const Span text = normalised(tables, raw, scratch.text);
    Pace pace(kPaceTerms);  // one text may be a gigabyte
    const auto emit_joined = [&](Span ngram) {
        pace.spend(1);
        const std::uint32_t number = words.number(ngram.data, ngram.size);
        if (number != FixedDictionary::kUnknown) {
            Key<W> key{};
            key[0] = number;
            emit(key);
        }
    };
    if (analysis.analyzer == Analyzer::kWord) {
        if (analysis.joined) {
            scratch.words.clear();
            for_each_word(tables, text, analysis.shortest, [&](const Byte* p, std::size_t size) {
                if (analysis.stop == nullptr ||
                    analysis.stop->find(p, size, hash_bytes(p, size)) == 0)
                    scratch.words.push_back({p, size});
            });
            joined_ngrams(scratch.words, analysis.min_n, analysis.max_n, scratch.joined,
                          emit_joined);
            return;
        }
        // All words first, so that looking them up does not wait for memory one by one.
        scratch.words.clear();
        scratch.hashes.clear();
        for_each_word(tables, text, analysis.shortest, [&](const Byte* p, std::size_t size) {
            const std::uint64_t hash = hash_bytes(p, size);
            words.prefetch(hash);
            scratch.words.push_back({p, size});
            scratch.hashes.push_back(hash);
        });
        scratch.numbers.clear();
        for (std::size_t i = 0; i < scratch.words.size(); ++i) {
            const std::uint32_t number =
                words.number(scratch.words[i].data, scratch.words[i].size, scratch.hashes[i]);
            if (number != 0) scratch.numbers.push_back(number);
            if (i % kPaceTerms == kPaceTerms - 1) poll();
        }
        number_ngrams<W>(scratch.numbers.data(), scratch.numbers.size(), analysis.min_n,
                         analysis.max_n, emit);
        return;
    }
    const Span tidy = squeezed(tables, text, scratch.squeezed);
    const Byte* p = tidy.data;
    const Byte* end = p + tidy.size;
    // Characters of the text, or of one padded word after the other.
    const auto flush = [&](const Byte* base) {
        const std::size_t count = scratch.numbers.size();
        const auto one = [&](std::size_t first, std::size_t last) {
            if (analysis.joined) {
                emit_joined({base + scratch.starts[first],
                             scratch.starts[last] - scratch.starts[first]});
                return;
            }
            pace.spend(1);
            Key<W> key{};
            for (std::size_t j = 0; j < W; ++j)
                if (first + j < last) key[j] = scratch.numbers[first + j];
            emit(key);
        };
        if (analysis.analyzer == Analyzer::kCharWb) {
            padded_ngrams(count, analysis.min_n, analysis.max_n, one);
        } else {
            for (std::size_t n = analysis.min_n; n <= analysis.max_n && n <= count; ++n)
                for (std::size_t i = 0; i + n <= count; ++i) one(i, i + n);
        }
    };
    std::uint32_t code;
    if (analysis.analyzer == Analyzer::kChar) {
        scratch.numbers.clear();
        scratch.starts.clear();
        while (p < end) {
            if (analysis.joined)
                scratch.starts.push_back(static_cast<std::size_t>(p - tidy.data));
            p += decode(p, end, code);
            scratch.numbers.push_back(code + 1);
        }
        if (analysis.joined) scratch.starts.push_back(tidy.size);
        poll();
        flush(tidy.data);
        return;
    }
    while (p < end) {
        std::size_t length = decode(p, end, code);
        if (tables.is(code, kSpace)) {
            p += length;
            continue;
        }
        scratch.numbers.assign(1, ' ' + 1);
        scratch.joined.assign(1, ' ');
        scratch.starts.assign(1, 0);
        while (p < end) {
            length = decode(p, end, code);
            if (tables.is(code, kSpace)) break;
            scratch.numbers.push_back(code + 1);
            if (analysis.joined) {
                scratch.starts.push_back(scratch.joined.size());
                scratch.joined.insert(scratch.joined.end(), p, p + length);
            }
            p += length;
        }
        scratch.numbers.push_back(' ' + 1);
        scratch.starts.push_back(scratch.joined.size());
        scratch.joined.push_back(' ');
        scratch.starts.push_back(scratch.joined.size());
        flush(scratch.joined.data());
    }
}

// Texts one after the other: text i is data[offsets[i] : offsets[i + 1]].
struct Batch {
    const Byte* data;
    const std::int64_t* offsets;
    std::size_t documents;
    const std::int32_t* codes;  // class of each text; -1 leaves it out
    // Already cut into words: text i has the words words[i] to words[i + 1], and `offsets` are
    // those of the words.
    const std::int64_t* words = nullptr;

    Span at(std::size_t i) const {
        return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
    std::size_t bytes_until(std::size_t document) const {
        const std::int64_t i = words == nullptr ? static_cast<std::int64_t>(document)
                                                : words[document];
        return static_cast<std::size_t>(offsets[i]);
    }
};

// Calls emit(key) for every n-gram of document i.
template <std::size_t W, class Numbers, class Emit>
void document_ngrams(const Analysis& analysis, const Batch& batch, std::size_t i,
                     Scratch& scratch, Numbers& numbers, Emit emit) {
    if (batch.words == nullptr) {
        for_each_ngram<W>(analysis, batch.at(i), scratch, numbers, emit);
        return;
    }
    scratch.words.clear();
    for (auto j = batch.words[i]; j < batch.words[i + 1]; ++j)
        scratch.words.push_back(batch.at(static_cast<std::size_t>(j)));
    Pace pace(kPaceTerms);
    joined_ngrams(scratch.words, analysis.min_n, analysis.max_n, scratch.joined,
                  [&](Span ngram) {
                      pace.spend(1);
                      Key<W> key{};
                      key[0] = numbers.number(ngram.data, ngram.size);
                      if (key[0] != FixedDictionary::kUnknown) emit(key);
                  });
}

// Documents from `first` on, cut into tasks of a quarter megabyte of text: task t is
// [result[t], result[t + 1]). A round ends after `most` bytes.
inline std::vector<std::size_t> next_round(const Batch& batch, std::size_t first,
                                           std::size_t most) {
    constexpr std::size_t kTaskBytes = 1 << 18, kTaskDocuments = 1 << 13;
    constexpr std::size_t kRoundDocuments = 1 << 20;
    std::vector<std::size_t> tasks{first};
    std::size_t last = first;
    const std::size_t begin = batch.bytes_until(first);
    std::size_t task_begin = begin;
    while (last < batch.documents) {
        const std::size_t here = batch.bytes_until(++last);
        if (here - task_begin >= kTaskBytes || last - tasks.back() >= kTaskDocuments) {
            tasks.push_back(last);
            task_begin = here;
        }
        if (here - begin >= most || last - first >= kRoundDocuments) break;
    }
    if (tasks.back() != last) tasks.push_back(last);
    return tasks;
}

}  // namespace bayesieve::text
