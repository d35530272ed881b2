"""Jars are checked at every start; what is missing or damaged is fetched again, and only that."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from workbook.errors import JarsDamaged, JarsMissing
from workbook.stack import jars
from workbook.stack.doctor import examine
from workbook.stack.folders import ROOT


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own with good copies of Spark's few jars."""
    jars.prefetch()
    good = [jar.path for jar in jars.locked("spark")]
    (tmp_path / "jars").mkdir()
    for path in good:
        shutil.copy(path, tmp_path / "jars")
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    return tmp_path / "jars"


def test_a_good_cache_is_a_class_path(cache: Path) -> None:
    assert set(jars.class_path("spark")) == set(cache.iterdir())


def test_a_jar_that_is_one_byte_short_is_refused(cache: Path) -> None:
    jar = jars.locked("spark")[0].path
    jar.write_bytes(jar.read_bytes()[:-1])
    with pytest.raises(JarsDamaged, match=r"SHA-256.*workbook prefetch"):
        jars.class_path("spark")


def test_a_missing_jar_is_named_with_the_fix(cache: Path) -> None:
    jars.locked("spark")[0].path.unlink()
    with pytest.raises(JarsMissing, match=r"1 of 5 jars for spark.*workbook prefetch"):
        jars.class_path("spark")
    [finding] = [f for f in examine() if f.subject == "jars"]
    assert (finding.state, "workbook prefetch" in finding.fix) == ("fault", True)


def test_only_what_is_missing_or_damaged_is_fetched(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = jars.locked("spark")
    monkeypatch.setattr(jars, "locked", lambda only=None: group)
    group[0].path.unlink()
    group[1].path.write_bytes(b"damaged")
    assert jars.prefetch(lambda said: None) == 2
    assert len(jars.class_path("spark")) == 5
    assert jars.prefetch(lambda said: None) == 0


def test_a_jar_of_two_groups_is_fetched_once(cache: Path) -> None:
    jar = min(jars.locked("spark"), key=lambda jar: int(jar.size))
    wanted = [jar, replace(jar, group="another")]
    jar.path.unlink()
    assert jars.prefetch(lambda said: None, wanted) == 1
    assert jars.prefetch(lambda said: None, wanted) == 0


def test_an_archive_is_unpacked_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars.unpacked("registry")
    [good] = [jar.path for jar in jars.locked("registry")]
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / good.name).symlink_to(good)

    def full(archive: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "half-runner.jar").touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "unpack_archive", full)
        with pytest.raises(JarsMissing, match=r"No space left on device.*WORKBOOK_CACHE"):
            jars.unpacked("registry")
    assert [path.name for path in jars.unpacked("registry").glob("*.jar")] == [
        "apicurio-registry-app-2.6.13.Final-runner.jar"
    ]


def test_the_lab_opens_without_what_is_fetched_on_demand() -> None:
    left = {jar.group for jar in jars.locked()} - {jar.group for jar in jars.needed()}
    assert left == {"registry", "cassandra"}


def test_no_two_files_in_the_cache_have_one_name() -> None:
    files = {jar.file_name: jar.sha256 for jar in jars.locked()}
    assert {"jffi-1.3.11.jar", "jffi-1.3.11-native.jar"} <= files.keys()
    assert all(files[jar.file_name] == jar.sha256 for jar in jars.locked())


def test_without_a_network_the_error_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    jars.locked("spark")[0].path.unlink()
    with pytest.raises(JarsMissing, match=r"Is there a network\? .*workbook prefetch"):
        jars.prefetch(lambda said: None)


def test_a_cache_named_without_its_full_path_is_the_same_for_servers_elsewhere(
    tmp_path: Path,
) -> None:
    code = (
        "import os; from workbook.stack import folders; os.chdir('/'); print(folders.cache_dir())"
    )
    say = [sys.executable, "-c", code]
    env = {**os.environ, "WORKBOOK_CACHE": "mine", "PYTHONPATH": str(ROOT)}
    assert subprocess.check_output(say, cwd=tmp_path, env=env, text=True) == f"{tmp_path}/mine\n"
