# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the package `tuner`: files alone, so that nothing needs to be installed or fetched for it."""

import base64
import csv
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'VERSION = "([^"]+)"', (ROOT / "tuner/_version.py").read_text())[1]
NAME = f"tuner-{VERSION}"
INFO = f"{NAME}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: tuner
Version: {VERSION}
Summary: The fastest known CUDA kernel for each problem size, for arrays of torch, CuPy and NumPy
License: Apache-2.0
Requires-Python: >=3.9
"""


def _sources():
    return sorted(path for path in (ROOT / "tuner").rglob("*") if path.suffix in (".py", ".typed"))


def _wheel(directory, contents):
    """Writes a wheel of the files whose contents are given by name."""
    files = {**contents, f"{INFO}/METADATA": METADATA.encode(),
             f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tuner\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    rows = io.StringIO()
    record = csv.writer(rows, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.writerow((name, f"sha256={digest}", len(content)))
    record.writerow((f"{INFO}/RECORD", "", ""))
    files[f"{INFO}/RECORD"] = rows.getvalue().encode()
    wheel = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _sources()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"tuner.pth": f"{ROOT}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    archive = pathlib.Path(sdist_directory) / f"{NAME}.tar.gz"
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for path in (ROOT / "pyproject.toml", ROOT / "build_backend.py", *_sources()):
            tar.add(path, f"{NAME}/{path.relative_to(ROOT)}")
        info = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        info.size = len(METADATA.encode())
        tar.addfile(info, io.BytesIO(METADATA.encode()))
    return archive.name
