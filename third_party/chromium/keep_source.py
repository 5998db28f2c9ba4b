"""Copies Chromium's pinned source tarballs into a directory that later builds use as a mirror.

Example:
  ./bazelw run //third_party/chromium:mirror -- /srv/mlgo-archives
  MLGO_DEBIAN_MIRRORS=/srv/mlgo-archives ./bazelw build //mlgo/corpus/chromium:corpus
"""

import pathlib
import sys

import chromium_lock

# chromium_lock made third_party/debian importable.
import lockfile
import mirror


def main(arguments=None) -> int:
    try:
        origins = chromium_lock.parse(pathlib.Path(__file__).with_name("lock.json").read_text(encoding="utf-8"))
        if chromium_lock.DEBIAN not in origins:
            raise lockfile.LockError(chromium_lock.missing_origin(chromium_lock.DEBIAN, list(origins)))
    except lockfile.LockError as error:
        print(f"mirror: {error}", file=sys.stderr)
        return 1
    debian = origins[chromium_lock.DEBIAN]
    return mirror.run([debian.source, debian.packaging], arguments, __doc__)


if __name__ == "__main__":
    raise SystemExit(main())
