"""The columns of a smoothed count table that lies on a device."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._columns import ROUNDING, ColumnTable, least_total
from bayesieve.solvers._device_passes import DevicePasses
from bayesieve.solvers._device_table import DeviceTable
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = ["DeviceColumns"]

#: About so many columns of largest total are fetched by the first pass: twice the first
#: pool of most sizes, so that no other pass is needed for it.
KEPT_COLUMNS = 1 << 19
#: A pool on the host has no more columns than this.
MOST_COLUMNS = 1 << 22
#: Added to totals: zero has a logarithm then, and no other total changes.
_TINY = float(np.finfo(np.float64).tiny)


class DeviceColumns(ColumnTable):
    """As a `ColumnTable`, of which only columns that may matter come to the host.

    Every method fetches what may reach a level within the rounding of the device, and
    lets the compiled core decide.
    """

    is_sparse = False

    def __init__(self, counts: DeviceTable, alpha: Floats) -> None:
        self.counts, self.alpha = counts, alpha
        self.n_classes, self.n_features = counts.shape
        self._exact_from = math.inf  # where the histogram of totals is no estimate
        self._passes = DevicePasses(counts, alpha)
        # Columns whose total reaches a level, all of them, once the first pass is done.
        self._kept: tuple[float, NDArray[np.int64], ColumnTable] | None = None

    def part(self, columns: NDArray[np.int64]) -> Floats:
        """Counts of some columns, without smoothing."""
        counts: Floats = self.counts.columns(columns)
        return counts

    def _alpha_at(self, columns: NDArray[np.int64] | slice) -> Floats:
        return self.alpha if self.alpha.shape[0] == 1 else self.alpha[columns]

    def _large(self, place: slice, totals: Any, least: float) -> Any:
        """Whether columns of a chunk have a count and may have this smoothed total."""
        alpha = self._alpha_at(place)
        needed = least * (1 - ROUNDING) - self.n_classes * alpha
        return totals >= self.counts.value(np.maximum(needed, _TINY))

    def _fetched(
        self, place: slice, part: Any, least: float, shares: Floats, level: float
    ) -> tuple[NDArray[np.int64], ColumnTable]:
        """Columns of a chunk that may have this total and this gain at p."""
        wanted = self._large(place, self.counts.totals(part), least)
        there, some = self.counts.chosen(place, part, wanted)
        columns = self.counts.numbered(there)
        alpha = self._alpha_at(columns)
        if level > 0 and (shares > 0).all() and abs(shares.sum() - 1.0) < 1e-9:
            wanted = self._may_gain(some, self.counts.value(alpha), shares, level)
            inside, some = self.counts.chosen(slice(0, None), some, wanted)
            columns = columns[self.counts.numbered(inside)]
            alpha = self._alpha_at(columns)
        return columns, ColumnTable(self.counts.fetched(some), alpha)

    def _may_gain(self, part: Any, alpha: Any, shares: Floats, level: float) -> Any:
        """Whether chi-square leaves room for this gain at p.

        ``h_i(p) <= sum_c (F - p_c G_i)^2 / (p_c G_i)``, written without a division. The
        margin covers rounding and shares that are one in sum only to 1e-9.
        """
        total = self.counts.totals(part) + self.n_classes * alpha
        chi = 0.0 * total
        for c, share in enumerate(shares.tolist()):
            away = part[c, :] + alpha - share * total
            chi += away * away * (1.0 / share)
        return chi >= total * (level * (1 - ROUNDING) - 1e-8 * total)

    def scan(self) -> tuple[Floats, float, int, NDArray[np.int64]]:
        """Class totals without smoothing, sum of G log G, filled columns, histogram.

        The histogram is exact where the columns are fetched, and below that what a
        sample says: it only tells how many columns a level may bring.
        """
        floor, histogram = self._expected()
        scanned = self._scanned_at_once(floor)
        if scanned is None:
            scanned = self._scanned_by_chunks(floor)
        class_sums, whole, n_filled, kept = scanned
        if kept is not None:
            columns = self.counts.numbered(kept[0])
            part = ColumnTable(self.counts.fetched(kept[1]), self._alpha_at(columns))
            self._kept, self._exact_from = (floor, columns, part), floor
            first = _bin_of(floor)
            histogram[first:] = part.scan()[3][first:]
        return class_sums.sum(axis=0), math.fsum(whole), n_filled, histogram

    def _scanned_at_once(self, floor: float) -> tuple[Floats, Floats, int, Any] | None:
        """As by chunks, in one compiled pass; None where it cannot be run."""
        room = MOST_COLUMNS if floor < math.inf else 1
        passed = self._passes.counts(floor * (1 - ROUNDING), room)
        if passed is None:
            return None
        kept = None
        if floor < math.inf and passed.columns is not None:
            kept = passed.columns, self.counts.taken(passed.columns)
        return passed.class_sums, passed.whole, passed.n_filled, kept

    def _scanned_by_chunks(self, floor: float) -> tuple[Floats, Floats, int, Any]:
        """Class sums, sums of G log G by parts, filled columns, those of large total.

        The latter, and their counts, stay on the device; None if they are too many.
        """
        table, xp = self.counts, self.counts.xp
        kept: list[tuple[Any, Any]] = []  # fetched in the end: each time waits a while
        n_kept, least, sums, filled, whole = 0, [], [], [], []
        with np.errstate(invalid="ignore"):  # of negative counts, which are refused
            for place, part in table.chunks():
                least.append(xp.min(part))
                sums.append(xp.sum(part, axis=1))
                totals = self.counts.totals(part)
                filled.append(xp.count_nonzero(totals))
                if floor < math.inf:
                    wanted = self._large(place, totals, floor)
                    kept.append(table.chosen(place, part, wanted))
                    n_kept += kept[-1][0].shape[0]
                    if n_kept > MOST_COLUMNS:  # the sample was not like the rest
                        floor, kept = math.inf, []
                lifted = self.n_classes * self._alpha_at(place)
                totals += self.counts.value(np.maximum(lifted, _TINY))
                whole.append(table.sum_of_products(totals, xp.log(totals)))
        class_sums = table.numbers(sums)
        table.refuse_bad_counts(table.numbers(least), class_sums)
        joined = None
        if floor < math.inf:
            columns = xp.concat([one for one, _ in kept])
            joined = columns, xp.concat([one for _, one in kept], axis=1)
        n_filled = int(table.numbers(filled).sum())
        return class_sums, table.numbers(whole), n_filled, joined

    def _expected(self) -> tuple[float, NDArray[np.int64]]:
        """The least total of about as many columns as are kept, and a histogram.

        Infinity where the largest totals are those of more columns than that.
        """
        place, counts = self.counts.sample()
        with np.errstate(all="ignore"):  # of counts that the pass will refuse
            sample = ColumnTable(np.maximum(counts, 0.0), self._alpha_at(place))
        histogram = sample.scan()[3] * place.step
        above = np.cumsum(histogram[::-1])[::-1]
        few = np.flatnonzero((histogram > 0) & (above <= KEPT_COLUMNS))
        floor = _edge_of(int(few[0])) if few.shape[0] else math.inf
        return floor, histogram

    def level_of(self, wanted: int, levels: Floats, above: NDArray[np.int64]) -> float:
        """The largest of falling totals that so many columns reach.

        Below those that are fetched the numbers are estimates: there they are counted,
        about where they say, so that the level is that of a table on the host.
        """
        found = super().level_of(wanted, levels, above)
        if found >= self._exact_from:
            return found
        low, high = 0, _bin_of(self._exact_from)  # reached by enough, and by too few
        tried, step = _bin_of(found), 1
        while high - low > 1:
            tried = min(max(tried, low + 1), high - 1)
            enough, enough_above = (
                n >= wanted
                for n in self._reached([_edge_of(tried), _edge_of(tried + 1)])
            )
            if enough_above:
                low, tried = tried + 1, tried + step
            elif enough:
                return _edge_of(tried)
            else:
                high, tried = tried, tried - step
            step *= 2
        return _edge_of(low)

    def _reached(self, levels: list[float]) -> list[int]:
        """How many columns with a count have a total of at least each of some."""
        xp, found = self.counts.xp, []
        for place, part in self.counts.chunks():
            totals = self.counts.totals(part)
            alpha = self.n_classes * self._alpha_at(place)
            smoothed = totals + self.counts.value(alpha)
            found.append(
                xp.stack(
                    [
                        xp.count_nonzero((smoothed >= level) & (totals > 0))
                        for level in levels
                    ]
                )
            )
        return [int(n) for n in self.counts.numbers(found).sum(axis=0)]

    def is_whole(self) -> bool:
        """Whether all counts are whole numbers."""
        xp = self.counts.xp
        return all(
            bool(xp.all(part == xp.floor(part))) for _, part in self.counts.chunks()
        )

    def gains_of(self, columns: NDArray[np.int64], shares: Floats) -> Floats:
        """``h_i(p)`` of some columns."""
        return ColumnTable(self.part(columns), self._alpha_at(columns)).gains(shares)

    def witnesses(
        self, class_totals: Floats, without: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Few columns that have every class of positive total between them.

        They are none of the sorted columns ``without``.
        """
        xp, found = self.counts.xp, []
        missing = [*np.flatnonzero(class_totals > 0).tolist()]
        smoothed = bool(self.alpha.any())  # one that has every class
        for place, part in self.counts.chunks():
            usable = np.ones(part.shape[1], dtype=bool)
            if without is not None:
                inside = np.searchsorted(without, [place.start, place.stop])
                usable[without[slice(*inside)] - place.start] = False
            looked_for: list[tuple[int | None, Any]] = [
                (c, (part[c, :] > 0) & self.counts.there(usable)) for c in missing
            ]
            if smoothed:
                usable &= self._alpha_at(place) > 0
                filled = self.counts.totals(part) > 0
                looked_for.append((None, filled & self.counts.there(usable)))
            for c, there in looked_for:
                at = int(xp.argmax(xp.astype(there, xp.uint8)))
                if not bool(there[at]):
                    continue
                found.append(place.start + at)
                if c is None:
                    smoothed = False
                else:
                    missing.remove(c)
            if not missing and not smoothed:
                break
        return np.unique(np.array(found, dtype=np.int64))

    def with_total(self, least: float) -> NDArray[np.int64]:
        """Columns with a count whose smoothed total is at least this."""
        found = self._reaching(least)
        return _joined(columns[part.with_total(least)] for columns, part in found)

    def with_gain(self, shares: Floats, level: float) -> NDArray[np.int64]:
        """Columns whose gain at p reaches the level."""
        found = self._reaching(least_total(shares, level), shares, level)
        return _joined(
            columns[part.with_gain(shares, level)] for columns, part in found
        )

    def _reaching(
        self, least: float, shares: Floats | None = None, level: float = 0.0
    ) -> Iterator[tuple[NDArray[np.int64], ColumnTable]]:
        anywhere = np.zeros(self.n_classes) if shares is None else shares
        for place, part in self.counts.chunks():
            yield self._fetched(place, part, least, anywhere, level)

    def large_part(self, least: float) -> tuple[NDArray[np.int64], ColumnTable] | None:
        """Columns with a total of at least this as a table on the host.

        None if they are too many for that.
        """
        if self._kept is None or least < self._kept[0]:
            found: list[tuple[NDArray[np.int64], ColumnTable]] = []
            n_found = 0
            for columns, part in self._reaching(least):
                found.append((columns, part))
                n_found += columns.shape[0]
                if n_found > MOST_COLUMNS:
                    return None
            columns = _joined(one for one, _ in found)
            counts = np.hstack([one.counts for _, one in found])
            self._kept = least, columns, ColumnTable(counts, self._alpha_at(columns))
        _, columns, table = self._kept
        large = table.large_part(least)
        return None if large is None else (columns[large[0]], large[1])

    def promising(
        self, shares: Floats, accuracy: float, n: int, least: float
    ) -> tuple[NDArray[np.int64], Floats]:
        """The n columns of largest gain at p, with a count and such a total."""
        columns, gains, floor = np.empty(0, dtype=np.int64), np.empty(0), 0.0
        for place, part in self.counts.chunks():
            # Gains that are only ranked are no more accurate than that.
            level = floor * (1 - 4 * accuracy)
            total = max(least, least_total(shares, level))
            some, table = self._fetched(place, part, total, shares, level)
            large = table.with_total(least)
            columns = np.append(columns, some[large])
            gains = np.append(gains, table.gains(shares, accuracy)[large])
            if columns.shape[0] > n:
                best, floor, _ = top_k(gains, n)
                columns, gains = columns[best], gains[best]
        return columns, gains


def _joined(parts: Iterator[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _bin_of(total: float) -> int:
    return int(np.float64(total).view(np.uint64) >> np.uint64(_core.HISTOGRAM_SHIFT))


def _edge_of(number: int) -> float:
    return float(
        (np.uint64(number) << np.uint64(_core.HISTOGRAM_SHIFT)).view(np.float64)
    )
