#!/bin/sh
# Finds or installs two software Vulkan drivers, so that the wgpu runtime is tested without a GPU:
# Mesa's lavapipe, and SwiftShader out of Debian's package of Chromium's parts.
#
# Prints a line for each driver there is: a value for VK_DRIVER_FILES. Joined by a colon they give
# one process both. Installs only as root and where apt-get is; everything it says goes to stderr.
set -eu

cache="${XDG_CACHE_HOME:-$HOME/.cache}/firebrick-vulkan"
swiftshader="$cache/swiftshader.json"

say() { echo "vulkan: $*" >&2; }

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

lavapipe() {
    for file in /usr/share/vulkan/icd.d/lvp_icd*.json; do
        if [ -e "$file" ]; then echo "$file"; return; fi
    done
}

update() {
    if [ -z "${updated:-}" ]; then apt-get update -q >&2; updated=yes; fi
}

if [ -z "$(lavapipe)" ] && can_install; then
    say "installing mesa-vulkan-drivers and libvulkan1"
    update
    apt-get install -q -y mesa-vulkan-drivers libvulkan1 >&2
fi

# The package is unpacked, not installed: one library of it is wanted, and it needs no browser.
unpack_swiftshader() {
    work=$(mktemp -d)
    (cd "$work" && apt-get download -q chromium-common >&2 && dpkg -x chromium-common_*.deb unpacked) &&
        mkdir -p "$cache" &&
        cp "$work/unpacked/usr/lib/chromium/libvk_swiftshader.so" "$cache/"
    status=$?
    rm -rf "$work"
    return "$status"
}

# The description that comes with it has a path relative to the browser's folder.
describe_swiftshader() {
    cat >"$swiftshader" <<END
{
    "file_format_version": "1.0.0",
    "ICD": {"library_path": "$cache/libvk_swiftshader.so", "api_version": "1.0.5"}
}
END
}

if [ ! -e "$swiftshader" ] && can_install; then
    say "unpacking SwiftShader into $cache"
    update
    if unpack_swiftshader; then describe_swiftshader; else say "SwiftShader cannot be had"; fi
fi

found=$(lavapipe)
if [ -e "$swiftshader" ]; then found="$found
$swiftshader"; fi
if [ -z "$found" ]; then
    say "no software driver here; as root on Debian or Ubuntu this script installs two"
    exit 1
fi
echo "$found" | sed '/^$/d'
