"""What the repository rules here have in common: a script that fetches pinned archives and makes files of them."""

load("//third_party/debian:messages.bzl", "failed", "no_python")

_REQUEST = ".request.json"

def run_script(rctx, script, modules, request, build_file):
    """Runs `script` of this package in the repository with `request` on standard input, and writes the BUILD file. Fails as the script does.

    Args:
      rctx: the repository; its attribute `timeout` is the script's.
      script: name of a file of this package.
      modules: package -> what the script imports from there. A change of one of these makes the repository anew.
      request: a value for JSON.
      build_file: its text.
    """
    python = rctx.which("python3")
    if not python:
        fail(no_python())
    for package, names in modules.items():
        for name in names:
            rctx.path(Label(package + ":" + name))
    rctx.file(_REQUEST, json.encode(request))
    result = rctx.execute(
        ["sh", "-c", "exec \"$0\" -EsB \"$1\" < " + _REQUEST, python, rctx.path(Label("//third_party/chromium:" + script))],
        timeout = rctx.attr.timeout,
        quiet = False,
    )
    if result.return_code:
        fail(failed(rctx.name, result.stderr))
    rctx.delete(_REQUEST)
    rctx.file("BUILD.bazel", build_file)
    rctx.file("REPO.bazel", "")
