"""The least that gn wants of a project."""

#: Path -> text. Arguments are called as Chromium calls them.
FILES = {
    ".gn": 'buildconfig = "//build/BUILDCONFIG.gn"\n',
    "build/BUILDCONFIG.gn": """\
declare_args() {
  clang_embed_bitcode = false
  lld_emit_index = false
  list_of_blocks = ""
}
set_default_toolchain("//build:clang")
set_defaults("executable") { configs = [ "//build:flags" ] }
set_defaults("source_set") { configs = [ "//build:flags" ] }
set_defaults("static_library") { configs = [ "//build:flags" ] }
set_defaults("shared_library") { configs = [ "//build:flags" ] }
""",
    "build/BUILD.gn": """\
config("flags") {
  cflags = [ "-O2", "-fPIC", "-ffunction-sections" ]
  ldflags = []
  if (clang_embed_bitcode) {
    cflags += [ "-Xclang", "-fembed-bitcode=all" ]
  }
  if (list_of_blocks != "") {
    cflags += [ "-fbasic-block-sections=list=$list_of_blocks" ]
  }
  if (lld_emit_index) {
    cflags += [ "-flto=thin" ]
    ldflags += [ "-flto=thin", "-Wl,--save-temps=import", "-Wl,--save-temps=prelink", "-Wl,--thinlto-emit-index-files" ]
  }
}
toolchain("clang") {
  cc = getenv("CC")
  cxx = getenv("CXX")
  out = "{{target_out_dir}}/{{target_output_name}}/{{source_name_part}}.o"
  tool("cc") {
    command = "$cc {{defines}} {{include_dirs}} {{cflags}} -c {{source}} -o {{output}}"
    outputs = [ out ]
  }
  tool("cxx") {
    command = "$cxx -std=c++17 {{defines}} {{include_dirs}} {{cflags}} -c {{source}} -o {{output}}"
    outputs = [ out ]
  }
  tool("asm") {
    command = "$cc -c {{source}} -o {{output}}"
    outputs = [ out ]
  }
  tool("alink") {
    command = "rm -f {{output}} && llvm-ar rcs {{output}} {{inputs}}"
    outputs = [ "{{target_out_dir}}/{{target_output_name}}{{output_extension}}" ]
    default_output_extension = ".a"
    output_prefix = "lib"
  }
  tool("solink") {
    command = "$cxx -shared -nostdlib -fuse-ld=lld {{ldflags}} -o {{output}} @{{output}}.rsp"
    outputs = [ "{{root_out_dir}}/{{target_output_name}}{{output_extension}}" ]
    rspfile = "{{output}}.rsp"
    rspfile_content = "{{inputs}}"
    default_output_extension = ".so"
    output_prefix = "lib"
  }
  tool("link") {
    command = "$cxx {{ldflags}} -o {{output}} {{inputs}} {{libs}}"
    outputs = [ "{{root_out_dir}}/{{target_output_name}}" ]
  }
  tool("stamp") {
    command = "touch {{output}}"
  }
}
""",
}
