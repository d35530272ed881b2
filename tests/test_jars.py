"""Jars are checked at every start; what is missing or damaged is fetched again, and only that."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbook.errors import JarsDamaged, JarsMissing, WorkbookError
from workbook.stack import jars
from workbook.stack.doctor import look
from workbook.stack.folders import ROOT


@pytest.fixture
def cache(fetched: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own with good copies of Spark's few jars."""
    good = [jar.path for jar in jars.locked("spark")]
    (tmp_path / "jars").mkdir()
    for path in good:
        shutil.copy(path, tmp_path / "jars")
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    return tmp_path / "jars"


def test_a_damaged_and_a_missing_jar_are_named_with_the_fix(cache, monkeypatch) -> None:
    assert set(jars.class_path("spark")) == set(cache.iterdir())
    monkeypatch.setattr(jars, "needed", lambda: jars.locked("spark"))
    jar = jars.locked("spark")[0].path
    jar.write_bytes(jar.read_bytes()[:-1])  # one byte short
    assert_named(JarsDamaged, "does not have its recorded SHA-256 sum")
    jar.unlink()
    assert_named(JarsMissing, "1 of 5 jars for spark are not in")


def assert_named(error: type[WorkbookError], said: str) -> None:
    with pytest.raises(error, match=f"{said}.*workbook prefetch"):
        jars.class_path("spark")
    [finding] = look("jars")
    assert finding.state == "fault"
    assert said in finding.text
    assert "workbook prefetch" in finding.fix


def test_only_what_is_missing_or_damaged_is_fetched_and_a_jar_of_two_groups_once(cache) -> None:
    group = jars.locked("spark")
    wanted = [*group, replace(group[0], group="another")]
    group[0].path.unlink()
    group[1].path.write_bytes(b"damaged")
    assert jars.prefetch(lambda said: None, wanted) == 2
    assert len(jars.class_path("spark")) == 5
    assert jars.prefetch(lambda said: None, wanted) == 0


def test_an_archive_is_unpacked_as_a_whole_or_not_at_all(tmp_path, monkeypatch) -> None:
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


def test_without_a_network_the_error_says_what_to_do(cache, monkeypatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    jars.locked("spark")[0].path.unlink()
    with pytest.raises(JarsMissing, match=r"Is there a network\? .*workbook prefetch"):
        jars.prefetch(lambda said: None)


CUT = b"a file that"
"""What comes before the connection breaks."""


@pytest.fixture
def served(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """What a mirror serves to those who log in: Spark's jars, which the cache doesn't have."""
    files = {f"/maven/{jar.place}": jar.path.read_bytes() for jar in jars.locked("spark")}

    class Mirror(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers["Authorization"] == f"Basic {b64encode(b'me:p@ss').decode()}"
            self.send_response(200 if known and self.path in files else 404)
            if files.get(self.path) == CUT:
                self.send_header("Content-Length", "99")
            self.end_headers()
            self.wfile.write(files.get(self.path, b"")[:1000])
            time.sleep(0.1)
            self.wfile.write(files.get(self.path, b"")[1000:])

        def log_message(self, *said: object) -> None: ...

    for file in cache.iterdir():
        file.unlink()
    monkeypatch.setattr(jars, "SAY_EVERY", 0.05)
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(jars.MIRROR, f"http://me:p%40ss@127.0.0.1:{server.server_port}/maven/")
        yield files
        server.shutdown()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (CUT, JarsMissing(r"from http://127.0.0.1:\d+/maven/ \(IncompleteRead.*88 more expected")),
        (b"another file", JarsDamaged("came with another SHA-256 sum .* it wasn't kept")),
        (None, JarsMissing(r"from http://127.0.0.1:\d+/maven/ \(HTTP Error 404.*WORKBOOK_MAVEN")),
    ],
)
def test_what_a_mirror_lacks_or_has_changed_is_refused(served, cache, content, why) -> None:
    [wrong, *_] = group = jars.locked("spark")
    served.pop(place := f"/maven/{wrong.place}")
    if content:
        served[place] = content
    with pytest.raises(type(why), match=str(why)) as refused:
        jars.prefetch(lambda said: None, group)
    assert not re.search("p(@|%40)ss", str(refused.value))
    assert not wrong.path.exists()
    assert [*cache.parent.iterdir()] == [cache]


def test_a_mirror_serves_all_and_an_interruption_leaves_whole_files_only(served, cache) -> None:
    said: list[str] = []

    def interrupt(line: str) -> None:
        said.append(line)
        if " of " in line.partition(":")[2]:
            raise KeyboardInterrupt

    group = jars.locked("spark")
    with pytest.raises(KeyboardInterrupt):
        jars.prefetch(interrupt, group)
    assert said == ["Fetching 10 MB of jars ...", "Fetching jars: 0 of 10 MB"]
    assert [*cache.parent.iterdir()] == [cache]
    left = [jar for jar in group if not jar.path.exists()]
    assert left
    assert jars.prefetch(lambda said: None, group) == len(left)
    assert len(jars.class_path("spark")) == 5


@pytest.mark.parametrize("address", ["m_e:secret@repo.example.org/maven", "ftp//x", "http://[bad"])
def test_an_address_that_is_none_is_named(cache, address, monkeypatch) -> None:
    monkeypatch.setenv(jars.MIRROR, address)
    jars.locked("spark")[0].path.unlink()
    with pytest.raises(JarsMissing, match="set WORKBOOK_MAVEN to its address") as refused:
        jars.prefetch(lambda said: None)
    assert "secret" not in str(refused.value)


def test_a_cache_named_without_its_full_path_is_the_same_for_servers_elsewhere(tmp_path) -> None:
    code = (
        "import os; from workbook.stack import folders; os.chdir('/'); print(folders.cache_dir())"
    )
    say = [sys.executable, "-c", code]
    env = {**os.environ, "WORKBOOK_CACHE": "mine", "PYTHONPATH": str(ROOT)}
    assert subprocess.check_output(say, cwd=tmp_path, env=env, text=True) == f"{tmp_path}/mine\n"
