"""Downloads pinned archives into a content-addressed cache; verifies them, resumes, and allows concurrent processes."""

import concurrent.futures
import errno
import fcntl
import hashlib
import http.client
import os
import pathlib
import shutil
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Callable, Dict, Iterable, List, Mapping, Optional, Sequence

import lockfile
import mirrors as mirrors_lib

PARALLEL_DOWNLOADS = 4
ATTEMPTS_PER_MIRROR = 3
TIMEOUT_SECONDS = 60
CHUNK_BYTES = 1 << 20
PROGRESS_SECONDS = 10

Progress = Callable[[str], None]


_CUT_OFF = "cut off"
# Errors of this machine, for which another attempt or mirror does not help.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


class FetchError(Exception):
    """An archive that no mirror has; names the archive and the remedy.

    Attributes:
        entries: every archive that is missing, set by `fetch`.
    """

    entries: Sequence[lockfile.Entry] = ()


class ChecksumError(FetchError):
    """Every mirror that has the file has other bytes than the lock says."""


class UnreachableError(FetchError):
    """No mirror answered at all."""


class DiskError(FetchError):
    """The archive cache cannot be written."""


def default_cache(environ: Mapping[str, str]) -> pathlib.Path:
    """The per-user archive cache: $XDG_CACHE_HOME/mlgo/archives, by default below ~/.cache."""
    base = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "mlgo" / "archives"


def to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def sha256_of(path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


class _Mirrors:
    """The mirrors to try. A mirror that did not answer is not asked again, because a time-out for each archive takes
    minutes.
    """

    def __init__(self, bases: Sequence[str]):
        self.bases = tuple(bases)
        self._silent: Dict[str, str] = {}

    def set_silent(self, base: str, reason: str) -> None:
        self._silent.setdefault(base, reason)

    def why_silent(self, base: str) -> Optional[str]:
        return self._silent.get(base)

    def all_silent(self) -> bool:
        return bool(self.bases) and all(base in self._silent for base in self.bases)


class _Silent(Exception):
    """A mirror did not answer; carries the reason."""


class _Meter:
    """Prints progress: a line at most every PROGRESS_SECONDS, or one line rewritten on a terminal."""

    def __init__(self, total_files: int, total_bytes: int, progress: Progress, clock=time.monotonic):
        self._total = (total_files, total_bytes)
        self._files = self._bytes = 0
        self._progress, self._clock = progress, clock
        self._terminal = progress is to_stderr and sys.stderr.isatty()
        self._start = self._last = clock()
        self._lock = threading.Lock()

    def add(self, count: int, files: int = 0) -> None:
        with self._lock:
            self._bytes += count
            self._files += files
            now = self._clock()
            if now - self._last >= (0.2 if self._terminal else PROGRESS_SECONDS):
                self._last = now
                self._say(now)

    def _say(self, now: float) -> None:
        rate = self._bytes / max(now - self._start, 1e-3)
        left = max(self._total[1] - self._bytes, 0) / max(rate, 1)
        text = (
            f"debian: {self._files} of {self._total[0]} archives, {self._bytes / 1e6:.0f} of "
            f"{self._total[1] / 1e6:.0f} MB, {rate / 1e6:.1f} MB/s, {left:.0f} s left"
        )
        if self._terminal:
            sys.stderr.write("\r\033[K" + text)
            sys.stderr.flush()
        else:
            self._progress(text)

    def close(self) -> None:
        if self._terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def fetch(
    entries: Iterable[lockfile.Entry], cache_dir, mirrors: Sequence[str], progress: Progress = to_stderr
) -> Dict[lockfile.Entry, pathlib.Path]:
    """Fetches the entries that the cache lacks and returns the path of each entry.

    A file in the cache was verified before it got its name, the digest; only its size is checked again. Mirrors are
    tried in order for each entry; a mirror may be a directory.

    Raises:
        FetchError: no mirror has an entry; all others were fetched. Also its subclasses.
    """
    cache_dir = pathlib.Path(cache_dir)
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _disk_error(cache_dir, error) from None
    entries = list(dict.fromkeys(entries))
    paths = {entry: cache_dir / entry.sha256 for entry in entries}
    missing = [entry for entry in entries if not _is_whole(entry, paths[entry])]
    if not missing:
        return paths
    meter = _Meter(len(missing), sum(entry.size for entry in missing), progress)
    errors: List[FetchError] = []
    failed: List[lockfile.Entry] = []
    answering = _Mirrors(mirrors)
    pool = concurrent.futures.ThreadPoolExecutor(PARALLEL_DOWNLOADS)
    try:
        results = [(entry, pool.submit(_fetch_one, entry, paths[entry], answering, meter)) for entry in missing]
        for entry, result in results:
            try:
                result.result()
            except DiskError:
                raise
            except FetchError as error:
                errors.append(error)
                failed.append(entry)
            except OSError as error:
                raise _disk_error(cache_dir, error) from None
    finally:
        # Ctrl-C cancels downloads that have not begun.
        pool.shutdown(cancel_futures=True)
        meter.close()
    if errors:
        more = f" (and {len(errors) - 1} more archives)" if len(errors) > 1 else ""
        raised = type(errors[0])(f"{errors[0]}{more}")
        raised.entries = tuple(failed)
        raise raised
    return paths


def fetch_with_environment(
    entries: Iterable[lockfile.Entry], environ: Mapping[str, str], progress: Progress = to_stderr
) -> Dict[lockfile.Entry, pathlib.Path]:
    """`fetch` with the user's cache and mirrors; looks for mirrors only when an entry is missing."""
    entries = list(entries)
    cache_dir = default_cache(environ)
    if all(_is_whole(entry, cache_dir / entry.sha256) for entry in entries):
        return {entry: cache_dir / entry.sha256 for entry in entries}
    return fetch(entries, cache_dir, mirrors_lib.find_mirrors(environ), progress)


def _is_whole(entry: lockfile.Entry, path: pathlib.Path) -> bool:
    return path.exists() and path.stat().st_size == entry.size


def wrong_bytes(entry: lockfile.Entry, path: pathlib.Path) -> Optional[str]:
    """How the file differs from the archive `entry`, as a clause; None when they are equal."""
    size, digest = path.stat().st_size, sha256_of(path)
    if digest == entry.sha256:
        return None
    cut = "cut off: " if size < entry.size else ""
    return f"{cut}size is {size} bytes and sha256 {digest}, the lock says {entry.size} bytes and {entry.sha256}"


def drop_if_damaged(entry: lockfile.Entry, path: pathlib.Path) -> None:
    """Removes an archive that cannot be unpacked from the cache if it is damaged.

    Raises:
        ChecksumError: it is damaged.
    """
    clause = wrong_bytes(entry, path)
    if clause:
        path.unlink()
        raise ChecksumError(
            f"{entry.name} {entry.version} ({path}): damaged in the archive cache ({clause}); it is removed now. "
            "Run the same command again to download it, and check the disk if this happens again"
        )


def _disk_error(directory: pathlib.Path, error: OSError) -> DiskError:
    return DiskError(
        f"archive cache {directory}: cannot be written ({error.strerror or error}). Free the disk or set "
        "XDG_CACHE_HOME to a writable directory, then run the same command again; downloads resume "
        "where they stopped"
    )


def _fetch_one(entry: lockfile.Entry, path: pathlib.Path, mirrors: _Mirrors, meter: _Meter) -> None:
    with open(path.with_suffix(".lock"), "w", encoding="ascii") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if _is_whole(entry, path):
            meter.add(entry.size, files=1)
            return
        tried = []
        checksum_differs = False
        for mirror in mirrors.bases:
            outcome = mirrors.why_silent(mirror)
            if outcome is None:
                try:
                    outcome = _from_mirror(entry, path, mirror, meter)
                except _Silent as silent:
                    outcome = str(silent)
                    mirrors.set_silent(mirror, outcome)
                if outcome is None:
                    meter.add(0, files=1)
                    path.with_suffix(".lock").unlink(missing_ok=True)
                    return
            checksum_differs = checksum_differs or "sha256" in outcome
            tried.append(outcome)
    reasons = "; ".join(dict.fromkeys(tried)) or "no mirror given"
    if mirrors.all_silent():
        raise UnreachableError(
            f"none of {len(mirrors.bases)} Debian mirrors can be reached ({reasons}), so {entry.name} "
            f"{entry.version} is missing. Check the network, or name a mirror or a directory of archives in "
            f"{mirrors_lib.ENVIRONMENT_VARIABLE}, and run the same command again"
        )
    what = f"{entry.name} {entry.version} ({entry.file_name}): none of {len(mirrors.bases)} mirrors has it ({reasons})"
    elsewhere = (
        f"ame a mirror or directory that has it in {mirrors_lib.ENVIRONMENT_VARIABLE}, or pin today's version: "
        + lockfile.RELOCK
    )
    if checksum_differs:
        remedy = "Run the same command again, which resumes a download that was cut off; if that does not help, n"
        raise ChecksumError(f"{what}. {remedy}{elsewhere}")
    raise FetchError(f"{what}. N{elsewhere}")


def _from_mirror(entry: lockfile.Entry, path: pathlib.Path, mirror: str, meter: _Meter) -> Optional[str]:
    """Gets one entry from one mirror; returns None when the verified file is in place, otherwise the reason."""
    partial = path.with_suffix(".part")
    if "://" not in mirror or mirror.startswith("file://"):
        source = pathlib.Path(mirror[len("file://") :] if mirror.startswith("file://") else mirror) / entry.path
        if not source.is_file():
            return "not in the directory"
        shutil.copyfile(source, partial)
        meter.add(entry.size)
        reason = wrong_bytes(entry, partial)
    else:
        resumed = partial.exists()
        reason = _download(f"{mirror}/{entry.path}", partial, entry.size, meter)
        if reason is None and resumed and wrong_bytes(entry, partial):
            # The partial file of an earlier attempt need not be the beginning of this file.
            partial.unlink()
            reason = _download(f"{mirror}/{entry.path}", partial, entry.size, meter)
        if reason == _CUT_OFF:
            return wrong_bytes(entry, partial)
        if reason is not None:
            return reason
        reason = wrong_bytes(entry, partial)
    if reason is not None:
        partial.unlink(missing_ok=True)
        return reason
    with open(partial, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(partial, path)
    return None


def _download(url: str, partial: pathlib.Path, size: int, meter: _Meter) -> Optional[str]:
    """Downloads `url` to `partial`, resuming an earlier attempt; returns the reason of a failure.

    Raises:
        _Silent: the mirror did not answer any attempt.
        OSError: the file cannot be written.
    """
    reason, answered = "no attempt made", False
    for attempt in range(ATTEMPTS_PER_MIRROR):
        have = partial.stat().st_size if partial.exists() else 0
        if have == size:
            return None
        if have > size:
            partial.unlink()
            have = 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                answered = True
                if have and response.status != 206:
                    have = 0
                with open(partial, "ab" if have else "wb") as file:
                    for chunk in iter(lambda: response.read(CHUNK_BYTES), b""):
                        file.write(chunk)
                        meter.add(len(chunk))
            if partial.stat().st_size == size:
                return None
            reason = _CUT_OFF
        except urllib.error.HTTPError as error:
            answered = True
            reason = f"HTTP {error.code}"
            if error.code in (403, 404, 410):
                return reason
            if error.code == 416:
                partial.unlink(missing_ok=True)
        except http.client.IncompleteRead:
            reason = _CUT_OFF
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "errno", None) in _DISK_ERRORS:
                raise
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt + 1 < ATTEMPTS_PER_MIRROR:
            time.sleep(attempt)
    if not answered:
        raise _Silent(reason)
    return reason
