"""What pre-commit installs from this repository: the published wheel of the same version, so that nothing is compiled.

`packaging/build` builds that wheel."""

import re
from pathlib import Path

from setuptools import setup

manifest = Path(__file__).with_name("Cargo.toml").read_text()
version = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE)[1]
setup(name="glee-review-hook", version=version, install_requires=[f"glee-review=={version}"], packages=[])
