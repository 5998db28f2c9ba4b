"""The files that a repository rule of pinned archives runs."""

# A change of one of them makes the repositories anew.
DOWNLOADER = [
    "digests.py",
    "fetch.py",
    "lockfile.py",
    "meter.py",
    "mirrors.py",
    "pace.py",
    "race.py",
    "sources.py",
    "transfer.py",
    "unpack.py",
]
