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


def package_files():
    """(name in the wheel, content, whether it is a program) of each file of the package."""
    return [(path.relative_to(ROOT).as_posix(), path.read_bytes(), False) for path in _sources()]


def write_wheel(directory, files, platform="any", requires=()):
    """Writes a wheel of the files (name, content, whether it is a program) and returns its name."""
    tag = f"py3-none-{platform}"
    metadata = METADATA + "".join(f"Requires-Dist: {each}\n" for each in requires)
    about = f"Wheel-Version: 1.0\nGenerator: tuner\nRoot-Is-Purelib: {str(platform == 'any').lower()}\nTag: {tag}\n"
    files = [*files, (f"{INFO}/METADATA", metadata.encode(), False), (f"{INFO}/WHEEL", about.encode(), False)]
    rows = io.StringIO()
    record = csv.writer(rows, lineterminator="\n")
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.writerow((name, f"sha256={digest}", len(content)))
    record.writerow((f"{INFO}/RECORD", "", ""))
    wheel = f"{NAME}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, is_program in [*files, (f"{INFO}/RECORD", rows.getvalue().encode(), False)]:
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(info, content)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, [("tuner.pth", f"{ROOT}\n".encode(), False)])


def build_sdist(sdist_directory, config_settings=None):
    archive = pathlib.Path(sdist_directory) / f"{NAME}.tar.gz"
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for path in (ROOT / "pyproject.toml", ROOT / "build_backend.py", *_sources()):
            tar.add(path, f"{NAME}/{path.relative_to(ROOT)}")
        info = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        info.size = len(METADATA.encode())
        tar.addfile(info, io.BytesIO(METADATA.encode()))
    return archive.name
