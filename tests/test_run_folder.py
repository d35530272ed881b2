"""The run folder on a machine with other users: planted, open, full, and other people's tools."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from labs import OwnLab, read_until, until

from workbook.errors import ServerFailed
from workbook.stack import client, folders, process

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder of the victim's, as somebody else would like it to be emptied."""
    folder = tmp_path / "thesis"
    folder.mkdir(mode=0o700)
    (folder / "chapter").write_text("all of it")
    return folder


def test_a_link_in_place_of_the_run_folder_is_refused_and_its_target_stays(lab, precious) -> None:
    lab.folder.symlink_to(precious)
    for deed in (process.clear, client.status, lambda: client.Lease("kernel")):
        with pytest.raises(ServerFailed, match="no link"):
            deed()
    with pytest.raises(ServerFailed, match="no link"):
        folders.claim(lab.folder)
    _, said = lab.workbook("down")
    assert "no link" in said
    assert (precious / "chapter").read_text() == "all of it"
    lab.folder.unlink()


def test_a_folder_swapped_for_a_link_is_emptied_and_no_link_in_it_followed(lab, precious) -> None:
    lab.folder.mkdir(mode=0o700)
    (lab.folder / "kafka").symlink_to(precious)
    (lab.folder / "user-1").mkdir()
    (lab.folder / "user-1" / "link").symlink_to(precious)
    held = folders.claim(lab.folder)
    assert held is not None
    lab.folder.rename(lab.folder.with_suffix(".moved"))
    lab.folder.symlink_to(precious)
    folders.remove(lab.folder, held)
    os.close(held)
    lab.folder.unlink()
    assert (precious / "chapter").read_text() == "all of it"
    lab.folder.with_suffix(".moved").rmdir()  # which is empty now


def test_a_run_folder_that_others_own_or_can_change_is_refused_at_once(lab: OwnLab) -> None:
    began = time.monotonic()
    lab.folder.mkdir()
    lab.folder.chmod(0o770)
    with pytest.raises(ServerFailed, match="yours alone"):
        client.Lease("test")
    _, said = lab.workbook("up")
    assert "its mode 700" in said
    assert "set TMPDIR to a folder of your own" in said
    if os.getuid() == 0:  # only root can give a folder away
        lab.folder.chmod(0o700)
        os.chown(lab.folder, 65534, -1)
        with pytest.raises(ServerFailed, match="yours alone"):
            client.Lease("test")
    lab.folder.rmdir()
    lab.folder.write_text("")
    with pytest.raises(ServerFailed, match="yours alone"):
        client.Lease("test")
    lab.folder.unlink()
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("left", [False, True])  # by a server that outlived its lab
def test_nobody_else_can_look_into_the_run_folder_whatever_the_umask(lab, left) -> None:
    if left:
        lab.folder.mkdir(mode=0o755)
        (lab.folder / "registry").mkdir()
    before = os.umask(0)
    try:
        client.Lease("test").close()
        assert not (lab.folder / "registry").exists()
        assert lab.folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
    lab.assert_nothing_is_left(set())


@pytest.mark.parametrize("chosen", ["/sys", "/nowhere", "relative", "full"])
def test_a_folder_for_temporary_files_that_cannot_be_used_is_refused(
    lab: OwnLab, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    short = Path(tempfile.mkdtemp(dir="/tmp"))  # a socket's name must fit
    if chosen == "full":
        chosen = str(short)
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "lab", chosen]
        if os.getuid() != 0 or subprocess.run(mount, check=False).returncode:
            short.rmdir()
            pytest.skip("only root can mount a small disk")
    monkeypatch.setenv("TMPDIR", chosen)
    try:
        with pytest.raises(ServerFailed, match="set TMPDIR to"):
            client.Lease("test")
        assert not list(short.iterdir())
    finally:
        subprocess.run(["umount", "--lazy", short], check=False, stderr=subprocess.DEVNULL)
        short.rmdir()


SLOW = """
import sys
from workbook.stack import kafka, process, supervisor
process._libc = None  # as on a Mac
again = "import os, sys\\nwhile True: os.makedirs(sys.argv[1], exist_ok=True)"
kafka.prepare = lambda folder, port: (
    [sys.executable, "-c", again, str(folder)], f"127.0.0.1:{port}"
)
supervisor.main()
"""


def test_down_ends_a_server_that_is_still_starting(lab: OwnLab) -> None:
    lab.start("-c", SLOW)
    until((lab.folder / "socket").exists, "the supervisor")
    asks = "from workbook.stack.client import lease; lease('kernel').ask('server', name='kafka')"
    kernel = lab.start("-c", asks)
    until(lambda: lab.servers(f"{lab.folder}/kafka"), "a server that starts")
    kernel.kill()
    until(lambda: not (client.status() or {})["users"], "a look without the dead user", within=5)
    _, said = lab.workbook("down")
    assert "have ended" in said
    lab.assert_nothing_is_left(set())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_socket_of_another_user_hears_nothing(lab: OwnLab) -> None:
    """Whoever plants a folder after our look could take it away before a second one."""
    lab.folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as planted:
        planted.bind(str(lab.folder / "socket"))
        os.seteuid(3_000_000_000)
        planted.listen()
        os.seteuid(0)
        with pytest.raises(ServerFailed, match="yours alone"):
            client.Lease("test")
        assert planted.accept()[0].recv(100) == b""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(planted.getsockname())
            assert client._user_of(link) == 3_000_000_000


def test_a_port_is_a_servers_where_its_command_is_a_script_that_runs_it() -> None:
    opens = "import socket; s = socket.create_server(('', 0)); print(s.getsockname()[1]); input()"
    script = ["sh", "-c", f'"{sys.executable}" -uc "{opens}"; true']
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        port = int(server.stdout.readline())
        assert process.has_port(server.pid, port)
        with socket.create_server(("", 0)) as other:
            assert not process.has_port(server.pid, other.getsockname()[1])
        server.communicate(b"\n")
    assert not process.has_port(server.pid, port)


OWNS = f"""
import subprocess, sys
from workbook.stack import folders
from workbook.stack.client import lease
names_the_folder = [*{SLEEPS!r}, str(folders.run_dir() / "data")]
mine = subprocess.Popen(names_the_folder, start_new_session=True)
lease("user").ask("own", pid=mine.pid)
print("owns", mine.pid, lease().supervisor, flush=True)
sys.stdin.readline()
"""


def test_down_ends_what_the_lab_started_and_names_the_rest(lab: OwnLab) -> None:
    user = lab.start("-c", OWNS)
    owned, boss = map(psutil.Process, map(int, read_until(user, "owns ").split()[1:]))
    watching = lab.folder / "supervisor.log"
    other = subprocess.Popen(["tail", "-f", str(watching)])
    boss.kill()
    user.kill()
    user.wait()
    assert owned.is_running()
    _, said = lab.workbook("down")
    assert f"Cleared leftovers: process {owned.pid}, file " in said
    assert f"process {owned.pid} (" not in said
    assert other.poll() is None
    other.kill()
    other.wait()
    until(lambda: not owned.is_running(), "the end of what the lab had started", within=10)
    assert not lab.folder.exists()


def test_a_process_that_was_given_the_number_of_another_is_not_ended(lab: OwnLab) -> None:
    lab.folder.mkdir(mode=0o700)
    other = subprocess.Popen(SLEEPS)
    began = psutil.Process(other.pid).create_time()
    (lab.folder / process.NOTES).write_text(f"{other.pid} {began - 60}\n{other.pid}")
    assert process.alive(lab.folder) == []
    found = process.clear()
    assert (found, other.poll()) == ([f"file {lab.folder / process.NOTES}"], None)
    other.kill()
    other.wait()
