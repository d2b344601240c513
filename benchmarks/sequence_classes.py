"""What k-mers and bytes classify: genes by phylum, resistance, programs by compiler.

    python benchmarks/sequence_classes.py [--quick] [--folder F] [--only NAME]

genes      16S genes of microbiomeutil-data (Debian) by phylum; whole genera are held
           out, so that no near copy of a test gene is trained on.
resistance The reference genome of M. tuberculosis and the variants that ariba's panel
           (Debian) knows to make it resistant to rifampicin, planted: 240 genomes in
           12 lineages of 300 mutations each, 60 mutations of their own, a third of them
           with one variant of the panel, those frequent in the world more often, and
           half of all with variants for other drugs. Whole lineages are held out.
           "recovered" are the planted variants that lie in a selected feature.
programs   Executables of Debian's packages by what compiled them (C and C++, Go,
           Haskell, OCaml), 300 kB of each; whole packages are held out.

Beside ours: the k-mers of largest chi2 in a random sample of all k-mers with logistic
regression, l1 logistic regression on the sample, and for programs the most frequent
n-grams. Kover, a learner of rules on k-mers, is not in the registries.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline

from bayesieve import SparseSequenceNB
from bayesieve.exceptions import FewFeaturesWarning
from bayesieve.sequences import read_records
from bayesieve.sequences._matching import KeyMatcher
from bayesieve.sequences._rows import row_pieces
from measurement import option_parser, report, timed

GOLD = Path("/usr/share/microbiomeutil-data/RESOURCES/rRNA16S.gold.fasta")
ARIBA = Path("/usr/lib/python3/dist-packages/ariba/tb_data")
SAMPLE = 200_000  # k-mers that the other methods choose from
PACKAGES = {
    "C": "bash coreutils vim-tiny nano gawk tar gzip sqlite3 tmux rsync curl wget "
    "openssl gnupg git htop lynx mutt bc ed sed grep less procps iproute2 nginx "
    "redis-server memcached dovecot-core exim4-daemon-light ffmpeg xz-utils",
    "Go": "restic fzf gh age direnv syncthing gopass shfmt runc prometheus-node-"
    "exporter skopeo buildah caddy rclone vegeta hugo containerd etcd-client croc "
    "dnscrypt-proxy influxdb git-lfs docker.io golang-docker-credential-helpers",
    "Haskell": "pandoc shellcheck hlint xmonad darcs hledger happy alex cpphs hoogle "
    "stylish-haskell hscolour ghc xmobar git-annex cabal-install c2hs bnfc haskell-"
    "stack hdevtools ghcid raincat shelltestrunner twidge",
    "OCaml": "ocaml-nox unison-2.52-gtk liquidsoap coq frama-c-base opam haxe "
    "ocamlbuild why3 alt-ergo hevea coinst ledit ocaml-dune planets botch "
    "dose-builddebcheck advi xen-utils-common utop cduce menhir camlp5 approx",
}


def sampled(rows: list[Any], model: SparseSequenceNB, rng: Any) -> tuple[Any, Any]:
    """A matrix of a random sample of the k-mers of training rows, and its maker."""
    fitted = SparseSequenceNB(
        2, alphabet=model.alphabet, length=model.length, merge_copies=False
    )
    fitted.set_params(keep_counts=True).fit(rows, np.arange(len(rows)) % 2)
    keys = fitted.counts_.feature_names
    chosen = np.sort(rng.permutation(len(keys))[:SAMPLE])
    matcher = KeyMatcher(keys[chosen])

    def matrix(some: list[Any]) -> Any:
        spelling = matcher.names.spelling
        return sparse.csr_matrix(matcher.rows(row_pieces(some, spelling), binary=True))

    return matrix, matcher.names


def compare(
    rows: list[Any],
    labels: np.ndarray,
    groups: np.ndarray,
    length: int,
    alphabet: str,
    sizes: list[int],
    found_in: Any = None,
    n_splits: int = 3,
) -> list[dict[str, Any]]:
    """Accuracy on held-out groups, of ours and of the others."""
    results: list[dict[str, Any]] = []
    splits = GroupShuffleSplit(n_splits, test_size=0.3, random_state=0)
    rng = np.random.default_rng(0)
    for split, (train, test) in enumerate(splits.split(rows, labels, groups)):
        X, X_test = [rows[i] for i in train], [rows[i] for i in test]
        y, y_test = labels[train], labels[test]

        def note(
            method: str,
            k: int,
            seconds: float,
            predicted: Any,
            terms: Any,
            y_test: Any = y_test,
            split: int = split,
        ) -> None:
            one = {"split": split, "method": method, "k": k, "seconds": seconds}
            one["accuracy"] = float(np.mean(predicted == y_test))
            recall = [np.mean(predicted[y_test == c] == c) for c in np.unique(y_test)]
            one["balanced"] = float(np.mean(recall))
            if found_in is not None:
                one["recovered"] = found_in(terms)
            results.append(one)
            print(json.dumps(one), flush=True)

        base = {"alphabet": alphabet, "length": length}
        wanted = [(k, weights) for k in sizes for weights in (False, True)]
        for k, weights in [*wanted, ("1se", True)]:
            name = "weights" if weights else "proven"
            if k != "1se" or (alphabet == "dna" and length < 20):
                model = SparseSequenceNB(k, weights=weights, **base)
                seconds, _ = timed(lambda model=model, X=X, y=y: model.fit(X, y))
                terms = [own for members in model.members_ for own in members]
                note(name, k, seconds, model.predict(X_test), terms)
        other = SparseSequenceNB(**base)
        seconds, (matrix, names) = timed(
            lambda X=X, other=other: sampled(X, other, rng)
        )
        made, made_test = matrix(X), matrix(X_test)
        words = np.array(names.tolist(), dtype=object)
        for k in sizes:
            chosen = SelectKBest(chi2, k=k)
            model = make_pipeline(chosen, LogisticRegression(max_iter=2000))
            more, _ = timed(lambda m=model, M=made, y=y: m.fit(M, y))
            note(
                "chi2 of a sample, logistic",
                k,
                seconds + more,
                model.predict(made_test),
                words[chosen.get_support()].tolist(),
            )
            if alphabet == "bytes":
                often = np.argsort(-np.asarray(made.sum(axis=0)).ravel(), kind="stable")
                top = np.sort(often[:k])
                model = LogisticRegression(max_iter=2000)
                more, _ = timed(lambda m=model, M=made[:, top], y=y: m.fit(M, y))
                note(
                    "most frequent, logistic",
                    k,
                    seconds + more,
                    model.predict(made_test[:, top]),
                    words[top].tolist(),
                )
        model = LogisticRegression(
            penalty="l1",
            solver="liblinear" if len(np.unique(y)) == 2 else "saga",
            C=1.0,
            max_iter=50 if len(np.unique(y)) > 2 else 1000,
        )
        more, _ = timed(lambda m=model, M=made, y=y: m.fit(M, y))
        used = np.flatnonzero(np.abs(model.coef_).max(axis=0) > 0)
        note(
            "l1 on the sample",
            int(used.size),
            seconds + more,
            model.predict(made_test),
            words[used].tolist(),
        )
    return results


# ------------------------------------------------------------------------- the data


def genes(quick: bool) -> dict[str, Any]:
    """Genes by phylum, of those with 39 genes or more; groups are genera."""
    rows, labels, groups = [], [], []
    for header, bases in read_records(GOLD):
        lineage = [part.strip() for part in header.split("\t")[-1].split(";")]
        if len(lineage) > 2 and len(bases) > 1000:
            rows.append(bases)
            labels.append(lineage[1])
            groups.append(lineage[-1])
    names, counts = np.unique(labels, return_counts=True)
    kept = np.flatnonzero(np.isin(labels, names[counts >= 39]))
    kept = kept[:: 10 if quick else 1]
    return {
        "rows": [rows[i] for i in kept],
        "labels": np.array(labels)[kept],
        "groups": np.unique(np.array(groups)[kept], return_inverse=True)[1],
    }


def rifampicin() -> tuple[str, list[tuple[int, str]]]:
    """The genome, and the variants for one drug as (position, bases) on its strand."""
    with gzip.open(ARIBA / "NC_000962.3.fa.gz", "rt") as file:
        genome = "".join(line.strip() for line in file if not line.startswith(">"))
    drugs = json.loads((ARIBA / "panel.20190102.json").read_text())
    record = (ARIBA / "NC_000962.3.gb").read_text()
    place = re.search(r"gene\s+(\d+)\.\.(\d+)\s+/gene=\"rpoB\"", record)
    assert place is not None
    begin = int(place[1]) - 1
    letters = "TCAG"
    codons = [a + b + c for a in letters for b in letters for c in letters]
    table = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
    amino = dict(zip(codons, table, strict=True))
    found = []
    for line in (ARIBA / "panel.20190102.txt").read_text().splitlines():
        gene, variant, kind = line.split("\t")[:3]
        known = re.fullmatch(r"([A-Z])(\d+)([A-Z])", variant)
        if gene != "rpoB" or kind != "PROT" or known is None:
            continue
        if "Rifampicin" not in drugs.get(f"{gene}_{variant}", []):
            continue
        at = begin + 3 * (int(known[2]) - 1)
        if amino[genome[at : at + 3]] != known[1] or known[3] not in table:
            continue
        # The codon of fewest changes, the first of them.
        choices = [c for c, own in amino.items() if own == known[3]]
        here = genome[at : at + 3]
        changes = [sum(a != b for a, b in zip(c, here, strict=True)) for c in choices]
        found.append((at, choices[int(np.argmin(changes))]))
    return genome, sorted(set(found))


def resistance(folder: Path, quick: bool) -> dict[str, Any]:
    """Genomes with planted variants, written as files; groups are lineages."""
    rng = np.random.default_rng(0)
    genome, variants = rifampicin()
    size = 300_000 if quick else len(genome)
    first = max(0, variants[0][0] - size // 2) if quick else 0
    base = np.frombuffer(genome[first : first + size].encode(), dtype=np.uint8)
    share = 1 / np.arange(1, len(variants) + 1)
    order = rng.permutation(len(variants))
    n, n_lineages = (48, 6) if quick else (240, 12)
    guarded = np.concatenate(
        [np.arange(at - first - 40, at - first + 43) for at, _ in variants]
    )
    free = np.setdiff1d(np.arange(size), guarded)
    bases = np.frombuffer(b"ACGT", dtype=np.uint8)
    lineages = [rng.choice(free, 300, replace=False) for _ in range(n_lineages)]
    marks = [rng.choice(bases, 300) for _ in range(n_lineages)]
    others = rng.choice(free, 20, replace=False)  # variants for other drugs
    rows, labels, groups, planted = [], [], [], []
    for i in range(n):
        own = base.copy()
        own[lineages[i % n_lineages]] = marks[i % n_lineages]
        own[rng.choice(free, 60, replace=False)] = rng.choice(bases, 60)
        if rng.random() < 0.5:
            own[rng.choice(others)] = rng.choice(bases)
        resistant = rng.random() < 1 / 3
        if resistant:
            chosen = variants[order[rng.choice(len(variants), p=share / share.sum())]]
            planted.append(chosen)
            at = chosen[0] - first
            own[at : at + 3] = np.frombuffer(chosen[1].encode(), dtype=np.uint8)
        path = folder / f"genome{i:03}.fasta"
        path.write_bytes(b">genome\n" + own.tobytes() + b"\n")
        rows.append(path)
        labels.append("resistant" if resistant else "susceptible")
        groups.append(i % n_lineages)
    spans = {}
    for at, codon in set(planted):
        around = genome[at - 30 : at] + codon + genome[at + 3 : at + 33]
        spans[at, codon] = {around[i : i + 31] for i in range(len(around) - 30)}
    complement = str.maketrans("ACGT", "TGCA")

    def recovered(terms: list[str]) -> str:
        both = set(terms) | {term.translate(complement)[::-1] for term in terms}
        return f"{sum(bool(both & own) for own in spans.values())} of {len(spans)}"

    return {
        "rows": rows,
        "labels": np.array(labels),
        "groups": np.array(groups),
        "found_in": recovered,
    }


def programs(folder: Path, quick: bool) -> dict[str, Any]:
    """Executables by compiler, 300 kB from the middle of each; groups are packages."""
    rows, labels, groups = [], [], []
    for label, names in PACKAGES.items():
        for package in names.split()[: 4 if quick else None]:
            own = folder / package
            if not own.exists():
                own.mkdir(parents=True)
                get = ["apt-get", "download", "-q", package]
                got = subprocess.run(get, cwd=own, check=False, capture_output=True)
                if got.returncode:
                    continue
                subprocess.run(["dpkg", "-x", next(own.glob("*.deb")), own], check=True)
            seen = 0
            for path in sorted(own.rglob("*bin/*")):
                if path.is_symlink() or not path.is_file() or seen == 5:
                    continue
                data = path.read_bytes()
                if data[:4] != b"\x7fELF" or len(data) < 50_000:
                    continue
                middle = max(0, len(data) // 2 - 150_000)
                rows.append(data[middle : middle + 300_000])
                labels.append(label)
                groups.append(package)
                seen += 1
    return {
        "rows": rows,
        "labels": np.array(labels),
        "groups": np.unique(groups, return_inverse=True)[1],
    }


def main() -> None:
    parser = option_parser("sequence_classes", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    default = Path(tempfile.gettempdir(), "bayesieve-sequences")
    parser.add_argument("--folder", type=Path, default=default, help="where files go")
    parser.add_argument("--only", choices=["genes", "resistance", "programs"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    warnings.filterwarnings("ignore", "Inconsistent values: penalty")
    warnings.simplefilter("ignore", FewFeaturesWarning)
    results: dict[str, Any] = {}
    if options.output.exists() and options.only:
        results = json.loads(options.output.read_text()).get("sets", {})
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in ("genes", "resistance", "programs"):
        if options.only not in (None, name):
            continue
        if (name == "genes" and not GOLD.exists()) or (
            name == "resistance" and not ARIBA.is_dir()
        ):
            sys.exit("Install microbiomeutil-data and ariba first.")
        with tempfile.TemporaryDirectory(dir=options.folder) as inner:
            if name == "genes":
                length, sizes = 12, [50, 500, 5000]
                given = genes(options.quick)
            elif name == "resistance":
                length, sizes = 31, [5, 20]
                given = resistance(Path(inner), options.quick)
            else:
                length, sizes = 6, [20, 200]
                given = programs(options.folder / "programs", options.quick)
            classes = np.unique(given["labels"], return_counts=True)
            told = dict(zip(*(part.tolist() for part in classes), strict=True))
            print(name, told, f"{len(set(given['groups'].tolist()))} groups")
            alphabet = "bytes" if name == "programs" else "dna"
            results[name] = {"classes": told, "length": length}
            results[name]["runs"] = compare(
                given["rows"],
                given["labels"],
                given["groups"],
                length,
                alphabet,
                sizes,
                given.get("found_in"),
                n_splits=1 if name == "resistance" else 3,
            )
    report("sequence_classes", options, 0, {"sets": results})


if __name__ == "__main__":
    main()
