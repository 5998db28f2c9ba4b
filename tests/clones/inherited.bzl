"""What a test that runs a nested Bazel needs of the environment; see INHERITED in nested.py."""

INHERITED = [
    "BAZEL",
    "HOME",
    "MLGO_DEBIAN_MIRRORS",
    "PATH",
    "PIP_CONFIG_FILE",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "USER",
    "XDG_CACHE_HOME",
]
