"""Names of policies, by which a compiler's option selects one of several for a problem."""

visibility(["//release/..."])

_ENDS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_INSIDE = _ENDS + "._-"

def unusable_names(names):
    """Those of `names` that cannot stand in an option, a target's name and a line of `clang --version`.

    Args:
      names: list of str.
    """
    return [name for name in names if not _is_name(name)]

def _is_name(name):
    if type(name) != "string" or not name:
        return False
    return name[0] in _ENDS and name[-1] in _ENDS and all([letter in _INSIDE for letter in name.elems()])
