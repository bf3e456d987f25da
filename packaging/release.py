#!/usr/bin/env python3
"""What belongs to a release and not to one target.

    packaging/release.py FOLDER     completes the packages in a folder: the npm package `glee-review`, `SHA256SUMS`, a sum
                                    for each archive, `install.sh`, the Homebrew formula, and the text of the release
    packaging/release.py check TAG  whether a tag names the version, and the changelog has its section and day"""

import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
NAME = MANIFEST["package"]["name"]
VERSION = MANIFEST["workspace"]["package"]["version"]
REPOSITORY = MANIFEST["workspace"]["package"]["repository"]


class Platform(NamedTuple):
    npm: str  # as Node.js calls it: process.platform-process.arch
    uname: str  # as `uname -sm` prints it
    brew: tuple  # as Homebrew calls it
    deb: str | None


PLATFORMS = {
    "x86_64-unknown-linux-gnu": Platform("linux-x64", "Linux x86_64", ("linux", "intel"), "amd64"),
    "aarch64-unknown-linux-gnu": Platform("linux-arm64", "Linux aarch64", ("linux", "arm"), "arm64"),
    "x86_64-apple-darwin": Platform("darwin-x64", "Darwin x86_64", ("macos", "intel"), None),
    "aarch64-apple-darwin": Platform("darwin-arm64", "Darwin arm64", ("macos", "arm"), None),
}


def archive(path, folder, files):
    """A .tar.gz of files by name, of which `glee` is a program. The same files give the same archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(data)
            entry.mode = 0o755 if Path(name).name == "glee" else 0o644
            tar.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def npm_manifest(name):
    package = MANIFEST["package"]
    return {
        "name": name,
        "version": VERSION,
        "description": package["description"],
        "license": "MIT",
        "homepage": REPOSITORY,
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
    }


def npm_main(out):
    """The package that people name. npm installs the optional dependency of this platform only."""
    manifest = npm_manifest(NAME) | {
        "keywords": MANIFEST["workspace"]["package"]["keywords"],
        "bin": {"glee": "bin/glee"},
        "files": ["bin"],
        "optionalDependencies": {f"@{NAME}/{platform.npm}": VERSION for platform in PLATFORMS.values()},
    }
    files = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "README.md")}
    files |= {"package.json": json.dumps(manifest, indent=2).encode(), "bin/glee": (HERE / "npm/glee").read_bytes()}
    archive(out / f"{NAME}-{VERSION}.tgz", "package", files)


def changes():
    """The section of the changelog for this version."""
    text = (ROOT / "CHANGELOG.md").read_text()
    _, heading, rest = text.partition(f"\n## {VERSION} - ")
    if not heading:
        sys.exit(f"error: CHANGELOG.md has no section `## {VERSION} - YYYY-MM-DD`")
    return rest.partition("\n")[2].partition("\n## ")[0].strip() + "\n"


def collect(out):
    npm_main(out)
    sums = {}
    for path in sorted(out.iterdir()):
        if path.name.startswith(NAME.replace("-", "_")) or path.name.endswith((".tar.gz", ".tgz", ".deb")):
            sums[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (out / "SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in sums.items()))
    archives = {}
    for target, platform in PLATFORMS.items():
        name = f"{NAME}-v{VERSION}-{target}.tar.gz"
        if name in sums:
            archives[target] = (platform, sums[name])
            (out / f"{name}.sha256").write_text(f"{sums[name]}  {name}\n")
    rows = [f"  '{platform.uname}') target={target} sum={value} ;;" for target, (platform, value) in archives.items()]
    written = filled("install.sh", PLATFORMS="\n".join(rows))
    (out / "install.sh").write_text(written)
    (out / "install.sh").chmod(0o755)
    (out / "glee-review.rb").write_text(filled("glee-review.rb", DOWNLOADS="\n".join(map(download, archives.items()))))
    (out / "notes.md").write_text(changes())


def download(entry):
    target, (platform, value) = entry
    system, processor = platform.brew
    url = f"{REPOSITORY}/releases/download/v{VERSION}/{NAME}-v{VERSION}-{target}.tar.gz"
    return f'  on_{system} do\n    on_{processor} do\n      url "{url}"\n      sha256 "{value}"\n    end\n  end\n'


def filled(template, **more):
    text = (HERE / template).read_text()
    given = {"NAME": NAME, "VERSION": VERSION, "REPOSITORY": REPOSITORY, "DESCRIPTION": MANIFEST["package"]["description"]}
    for key, value in (given | more).items():
        text = text.replace(f"@{key}@", value)
    return text


def main(arguments):
    match arguments:
        case ["check", tag]:
            if tag != f"v{VERSION}":
                sys.exit(f"error: the tag is {tag}, and Cargo.toml has the version {VERSION}: the tag would be v{VERSION}")
            dated = re.escape(f"## {VERSION} - ") + r"\d{4}-\d{2}-\d{2}$"
            if not re.search(f"^{dated}", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE):
                sys.exit(f"error: CHANGELOG.md has no section `## {VERSION} - YYYY-MM-DD`: give it the day of the release")
        case [folder] if Path(folder).is_dir():
            collect(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
