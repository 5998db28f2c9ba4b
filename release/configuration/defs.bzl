"""The configuration files that `mlgo_clang` puts beside clang."""

CONFIGURATION_FILES = [
    Label("//release/configuration:mlgo-cold.cfg"),
    Label("//release/configuration:mlgo-size.cfg"),
    Label("//release/configuration:mlgo-speed-arm.cfg"),
    Label("//release/configuration:mlgo-speed.cfg"),
]
