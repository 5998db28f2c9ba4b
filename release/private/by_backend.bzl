"""Values that depend on the backend of a policy."""

visibility(["//release/..."])

def by_backend(backend, cpp, aot):
    """The value of an attribute for a backend.

    Args:
      backend: `cpp` or `aot`; "" or None: the value of --//release:backend.
      cpp: the value with backend `cpp`.
      aot: the value with backend `aot`.
    Returns: one of them, or a `select` between them.
    """
    if backend:
        return {"aot": aot, "cpp": cpp}[backend]
    return select({
        Label("//release/private:aot"): aot,
        "//conditions:default": cpp,
    })
