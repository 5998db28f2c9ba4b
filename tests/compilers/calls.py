"""C with many calls on which policies of inlining decide."""

HELPERS = 16


def calls_of_helpers(name: str, attribute: str = "") -> str:
    """Functions whose names begin with `name`: helpers of growing size, and callers of each of them."""
    source = [f"extern int {name}_data[];"]
    for n in range(HELPERS):
        body = " ".join(f"x += {name}_data[x & {k}] * {k + 3};" for k in range(1 + n % 6))
        call = f"x += {name}_help{n // 2}(x & {n});" if n else ""
        source.append(f"static {attribute} int {name}_help{n}(int x) {{ {body} {call} return x; }}")
    for n in range(HELPERS // 2):
        calls = " + ".join(f"{name}_help{(n + k) % HELPERS}(x + {k})" for k in range(4))
        source.append(f"{attribute} int {name}_call{n}(int x) {{ return {calls}; }}")
    return "\n".join(source) + "\n"
