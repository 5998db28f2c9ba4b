"""Downloads pinned archives into a content-addressed cache; verifies them, resumes, and allows concurrent processes."""

import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import threading
from typing import Dict, Iterable, Iterator, List, Mapping, Sequence

import digests
import lockfile
import meter as meter_lib
import mirrors as mirrors_lib
import pace
import race
import sources

PARALLEL_DOWNLOADS = 4
LIMITS = pace.Limits()
_LOCK_POLL_SECONDS = 0.2

to_stderr = meter_lib.to_stderr


class FetchError(Exception):
    """An archive that no mirror has; names the archive and the remedy.

    Attributes:
        entries: every archive that is missing, set by `fetch`.
    """

    entries: Sequence[lockfile.Entry] = ()


class ChecksumError(FetchError):
    """A mirror has other bytes than the lock says, and none has the right ones."""


class UnreachableError(FetchError):
    """No mirror gave the archive, and none told that it does not have it."""


class DiskError(FetchError):
    """The archive cache cannot be used."""


def cached(entries: Iterable[lockfile.Entry], cache_dir) -> Dict[lockfile.Entry, pathlib.Path]:
    """The entries that the cache has, each verified, with their paths. Damaged files are left out."""
    found = {}
    for entry in dict.fromkeys(entries):
        path = pathlib.Path(cache_dir) / entry.sha256
        with contextlib.suppress(OSError):  # A file that cannot be read is reported when it is to be replaced.
            if digests.wrong_bytes(entry, path) is None:
                found[entry] = path
    return found


def fetch(
    entries: Iterable[lockfile.Entry],
    cache_dir,
    mirrors: Sequence[str],
    progress: meter_lib.Progress = to_stderr,
    limits: pace.Limits = LIMITS,
) -> Dict[lockfile.Entry, pathlib.Path]:
    """Fetches the entries that the cache lacks and returns the path of each entry.

    Every file is verified, those in the cache too. A mirror may be a directory. For each entry the mirrors are tried in
    order; `limits` tells when the next one is asked.

    Raises:
        FetchError: no mirror has an entry; all others were fetched. Also its subclasses.
    """
    entries = list(dict.fromkeys(entries))
    paths = cached(entries, cache_dir)
    missing = [entry for entry in entries if entry not in paths]
    if missing:
        paths.update(_Fetch(pathlib.Path(cache_dir), mirrors, limits, progress).all(missing))
    return paths


def fetch_with_environment(
    entries: Iterable[lockfile.Entry], environ: Mapping[str, str], progress: meter_lib.Progress = to_stderr
) -> Dict[lockfile.Entry, pathlib.Path]:
    """`fetch` with the user's cache and mirrors; looks for mirrors only when an entry is missing.

    Without a mirror, the archives come from the dated archive, if this machine's apt knows it.

    Raises:
        FetchError: as `fetch`.
        MirrorError: there is neither.
    """
    entries = list(dict.fromkeys(entries))
    cache_dir = digests.default_cache(environ)
    paths = cached(entries, cache_dir)
    missing = [entry for entry in entries if entry not in paths]
    if missing:
        try:
            bases = mirrors_lib.find_mirrors(environ)
        except mirrors_lib.MirrorError as error:
            import dated  # As `places` below.

            if not dated.apt_settings():
                raise
            bases = []
            progress(f"debian: {error}. Archives now come from Debian's dated archive, which is slow")
        paths.update(_Fetch(cache_dir, bases, LIMITS, progress).all(missing))
    return paths


class _Fetch:
    """The download of archives that the cache lacks."""

    def __init__(
        self, cache_dir: pathlib.Path, mirrors: Sequence[str], limits: pace.Limits, progress: meter_lib.Progress
    ):
        self._cache_dir, self._limits, self._progress = cache_dir, limits, progress
        self._bases = tuple(mirrors)
        self._stopped = threading.Event()

    def all(self, entries: Sequence[lockfile.Entry]) -> Dict[lockfile.Entry, pathlib.Path]:
        """Downloads the entries, several at once.

        Raises:
            FetchError: of the first entry that cannot be had, after all others.
        """
        try:
            self._cache_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _disk_error(self._cache_dir, error) from None
        self._meter = meter_lib.Meter(len(entries), sum(entry.size for entry in entries), self._progress)
        self._mirrors = race.Mirrors(self._bases, self._meter.note)
        #: Hosts beyond the mirrors, so that one that does not answer is asked once.
        self._others: Dict[str, race.Mirrors] = {}
        paths: Dict[lockfile.Entry, pathlib.Path] = {}
        errors: Dict[lockfile.Entry, FetchError] = {}
        pool = concurrent.futures.ThreadPoolExecutor(PARALLEL_DOWNLOADS)
        try:
            results = [(entry, pool.submit(self._one, entry)) for entry in entries]
            for entry, result in results:
                try:
                    paths[entry] = result.result()
                except DiskError:
                    raise
                except FetchError as error:
                    errors[entry] = error
                except OSError as error:
                    raise _disk_error(self._cache_dir, error) from None
        finally:
            # Ctrl-C ends downloads that run and cancels those that have not begun.
            self._stopped.set()
            pool.shutdown(cancel_futures=True)
            self._meter.close()
        if errors:
            raise _together(errors)
        return paths

    def _one(self, entry: lockfile.Entry) -> pathlib.Path:
        path = self._cache_dir / entry.sha256
        with self._locked(entry, path):
            if self._is_in_place(entry, path):
                self._meter.add(entry.size, files=1)
                return path
            download = race.Race(entry, path, self._mirrors, self._limits, self._meter, self._stopped)
            if _has_run(download, path):
                self._meter.add(0, files=1)
                return path
            return self._elsewhere(entry, download.failures)

    def _elsewhere(self, entry: lockfile.Entry, failures: Mapping[str, sources.Failed]) -> pathlib.Path:
        """The archive from a place beyond the mirrors; each place is told in a line.

        Raises:
            FetchError: no place has it.
        """
        import places  # Not in DOWNLOADER: a change of it makes no repository anew, for the bytes are the pinned ones.

        self._tell(entry, self._bases, failures)
        tried: Dict[str, sources.Failed] = {}
        for place in places.beyond_the_mirrors(entry, self._bases, places.load_upstream()):
            if self._mirrors.why_given_up(place.base):
                continue
            path = self._cache_dir / place.entry.sha256
            if place.entry.sha256 == entry.sha256 or not self._is_in_place(place.entry, path):
                asked = self._others.setdefault(place.base, race.Mirrors((place.base,), self._meter.note))
                download = race.Race(place.entry, path, asked, self._limits, self._meter, self._stopped)
                if not _has_run(download, path):
                    tried[str(place)] = download.failures[place.base]
                    if not asked.why_given_up(place.base):
                        self._tell(entry, [str(place)], tried)
                    continue
            if self._bases:
                self._meter.note(f"{entry.name} {entry.version}: found in {sources.printable(str(place))}")
            self._meter.add(0, files=1)
            return path
        if self._bases:
            error = _missing(entry, self._bases, failures, len(tried), places.REMEDY)
        else:
            error = _missing(entry, list(tried), tried, 0, places.REMEDY)
        if type(error) is FetchError:  # It is gone; the subclasses are of mirrors that may have it later.
            places.remember_gone(entry, self._cache_dir)
        raise error

    def _tell(self, entry: lockfile.Entry, where: Sequence[str], failures: Mapping[str, sources.Failed]) -> None:
        for place in where:
            # A mirror that was given up was told of once.
            if place in failures and not self._mirrors.why_given_up(place):
                shown = sources.printable(place)
                self._meter.note(f"{entry.name} {entry.version}: not from {shown}: {failures[place].reason}")

    @contextlib.contextmanager
    def _locked(self, entry: lockfile.Entry, path: pathlib.Path) -> Iterator[None]:
        """Keeps other processes away from the entry."""
        lock = path.with_suffix(".lock")
        with open(lock, "w", encoding="ascii") as guard:
            waited = False
            while True:
                try:
                    fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not waited:
                        self._meter.note(f"another process downloads {entry.name} {entry.version}; waiting for it")
                    waited = True
                if self._stopped.wait(_LOCK_POLL_SECONDS):
                    raise race.Stopped
            yield
            lock.unlink(missing_ok=True)

    def _is_in_place(self, entry: lockfile.Entry, path: pathlib.Path) -> bool:
        """Whether the archive is in the cache; removes a damaged one.

        Raises:
            DiskError: what lies there cannot be read.
        """
        try:
            clause = digests.wrong_bytes(entry, path)
            if clause is None:
                return True
            self._meter.note(
                f"{entry.name} {entry.version} ({path}): damaged in the archive cache ({clause}); it is removed and "
                "downloaded again. Check the disk if this happens again"
            )
            path.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise DiskError(
                f"archive cache {path}: cannot be read or replaced ({error.strerror or error}). Remove it, and run the "
                "same command again"
            ) from None
        return False


def _has_run(download: race.Race, path: pathlib.Path) -> bool:
    """Runs a download and moves what it got to `path`; whether it got the archive."""
    partial = download.run()
    if partial is None:
        return False
    with open(partial, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(partial, path)
    download.remove_partials()
    return True


def _disk_error(directory: pathlib.Path, error: OSError) -> DiskError:
    return DiskError(
        f"archive cache {directory}: cannot be written ({error.strerror or error}). Free the disk or set "
        "XDG_CACHE_HOME to a writable directory, then run the same command again; downloads resume "
        "where they stopped"
    )


def _together(errors: Mapping[lockfile.Entry, FetchError]) -> FetchError:
    """The error of the first entry, with the number of the others."""
    first = next(iter(errors.values()))
    more = f" (and {len(errors) - 1} more archives)" if len(errors) > 1 else ""
    raised = type(first)(f"{first}{more}")
    raised.entries = tuple(errors)
    return raised


def _missing(
    entry: lockfile.Entry, bases: Sequence[str], failures: Mapping[str, sources.Failed], others: int, remedy: str
) -> FetchError:
    """The error for an entry that no mirror and none of the `others`, the places beyond them, served."""
    tried: List[str] = [f"{sources.printable(base)}: {failures[base].reason}" for base in bases if base in failures]
    reasons = "; ".join(tried) or "no mirror given"
    kinds = {failure.kind for failure in failures.values()}
    if kinds == {sources.Kind.SILENT}:
        return UnreachableError(
            f"none of {len(bases)} Debian mirrors can be reached ({reasons}), so {entry.name} "
            f"{entry.version} is missing. Check the network, or name a mirror or a directory of archives in "
            f"{mirrors_lib.ENVIRONMENT_VARIABLE}, and run the same command again"
        )
    what = f"{entry.name} {entry.version} ({entry.file_name}): none of {len(bases)} mirrors has it ({reasons})"
    if others:
        what += f"; {others} other places were tried"
    again = f"{what}. Run the same command again, which resumes a download that was cut off; if that does not help, n"
    if sources.Kind.DIFFERENT in kinds:
        return ChecksumError(again + remedy)
    if failures and not _is_gone(failures):
        return UnreachableError(again + remedy)
    return FetchError(f"{what}. N{remedy}")


def _is_gone(failures: Mapping[str, sources.Failed]) -> bool:
    """Whether mirrors told that they do not have an archive, and another attempt will not help.

    A directory holds what a user put there. Only if there is no other mirror does it tell that an archive is gone.
    """
    if any(failure.kind is sources.Kind.TEMPORARY for failure in failures.values()):
        return False
    servers = [failure for base, failure in failures.items() if mirrors_lib.directory(base) is None]
    return any(failure.kind is sources.Kind.ABSENT for failure in servers or failures.values())
