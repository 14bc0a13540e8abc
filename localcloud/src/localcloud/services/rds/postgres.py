"""A PostgreSQL process: its data, settings, start and end."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import trustme

from localcloud.children import Child, show_end, supervised
from localcloud.errors import DatabaseStartError
from localcloud.services.rds.programs import find_programs

_READY = "database system is ready to accept connections"
_ADMIN = "rdsadmin"
_START_SECONDS = 60
_END_SECONDS = 30
_POLL_SECONDS = 0.05
_LINES_SHOWN = 8
# A small server. Without fsync data survives the end of any process, though not of the machine.
_SETTINGS = {
    "fsync": "off",
    "shared_buffers": "16MB",
    "max_connections": "50",
    "jit": "off",
    "unix_socket_directories": "",
    "ssl": "on",
    "ssl_cert_file": "server.pem",
    "ssl_key_file": "server.key",
    "log_line_prefix": "%t:%r:%u@%d:[%p]:",  # RDS's
}
_ROLES = """
CREATE ROLE rds_replication;
CREATE ROLE rds_superuser;
GRANT rds_replication, pg_monitor, pg_signal_backend, pg_checkpoint TO rds_superuser
  WITH ADMIN OPTION;
"""
# On RDS a member of rds_replication may replicate. PostgreSQL asks for an attribute instead, which
# no role inherits: it follows the membership, once a second.
_SET_ATTRIBUTE = """
DO $$ DECLARE each name; BEGIN
  FOR each IN SELECT rolname FROM pg_roles
    WHERE rolcanlogin AND NOT rolreplication AND pg_has_role(oid, 'rds_replication', 'member')
  LOOP EXECUTE format('ALTER ROLE %I REPLICATION', each); END LOOP;
  FOR each IN SELECT rolname FROM pg_roles
    WHERE rolreplication AND NOT rolsuper AND NOT pg_has_role(oid, 'rds_replication', 'member')
  LOOP EXECUTE format('ALTER ROLE %I NOREPLICATION', each); END LOOP;
END $$ \\watch 1
"""


@dataclass(frozen=True, slots=True)
class Master:
    """The user that RDS creates, who is no superuser, and the first database."""

    user: str
    password: str
    database: str = ""


class PostgresServer:
    """A PostgreSQL server in a folder, under a name of its own in its certificate.

    It is created once, and started and stopped any number of times.
    """

    def __init__(self, home: Path, name: str, address: str, port: int) -> None:
        self._home, self._data = home, home / "data"
        self.name, self.address, self.port = name, address, port
        self.log, self.ca_file = home / "postgresql.log", home / "ca.pem"
        self._password = secrets.token_hex(16)
        self._children: list[Child] = []

    @property
    def running(self) -> bool:
        """Return whether the server runs."""
        return bool(self._children) and self._children[0].exit_code is None

    @property
    def pid(self) -> int | None:
        """The process id of PostgreSQL, None while it does not run."""
        with suppress(OSError, ValueError, IndexError):
            return int((self._data / "postmaster.pid").read_text().splitlines()[0])
        return None

    def create(
        self, master: Master, settings: Mapping[str, str], *, force_tls: bool = True
    ) -> None:
        """Create the data folder, the certificate, RDS's roles and the master, and start.

        Raises:
            MissingToolError: PostgreSQL is not installed.
            DatabaseStartError: it did not start.
        """
        self._home.mkdir(parents=True)
        word = self._home / "admin"
        word.touch(mode=0o600)
        word.write_text(self._password)
        words = ["-D", str(self._data), "-U", _ADMIN, "-A", "scram-sha-256", "-E", "UTF8"]
        words += ["--pwfile", str(word), "--locale=C.UTF-8", "--no-sync", "--no-instructions"]
        self._run(find_programs().command("initdb", *words), "")
        word.unlink()
        self._certify()
        self.start(settings, force_tls=force_tls)
        self.query(_ROLES + _make_master(master))
        if master.database:
            self.query(f"CREATE DATABASE {_name(master.database)} OWNER {_name(master.user)}")

    def start(self, settings: Mapping[str, str], *, force_tls: bool = True) -> None:
        """Start the server with settings, and wait until it accepts connections.

        Raises:
            DatabaseStartError: it ended, or was not ready in time.
        """
        self.configure(settings, force_tls=force_tls)
        deadline = time.monotonic() + _START_SECONDS
        begun = self.log.stat().st_size if self.log.exists() else 0
        self._children = [self._launch()]
        while _READY not in (printed := self._printed(begun)):
            if not self.running or time.monotonic() > deadline:
                lines = show_end(printed.splitlines(), (), _LINES_SHOWN)
                self.kill()
                raise DatabaseStartError(f"PostgreSQL {self.name} did not start:{lines}")
            time.sleep(_POLL_SECONDS)
        self._children.append(self._follow_members())

    def configure(self, settings: Mapping[str, str], *, force_tls: bool = True) -> None:
        """Write the settings; a running server reads those that need no restart."""
        own = {"listen_addresses": self.address, "port": str(self.port)}
        lines = [
            f"{name} = '{value}'\n" for name, value in {**_SETTINGS, **settings, **own}.items()
        ]
        (self._data / "postgresql.auto.conf").write_text("".join(lines))
        kind = "hostssl" if force_tls else "host"
        rules = [f"{kind} {what} all all scram-sha-256\n" for what in ("all", "replication")]
        (self._data / "pg_hba.conf").write_text("".join(rules))
        self._signal(signal.SIGHUP)

    def query(self, sql: str, database: str = "postgres") -> str:
        """Run SQL as RDS's own administrator and return the rows, fields parted by `|`."""
        words = (*self._connection(database), "-qAt", "-v", "ON_ERROR_STOP=1", "-f", "-")
        return self._run(find_programs().command("psql", *words), sql)

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user."""
        self.query(f"ALTER ROLE {_name(user)} PASSWORD {_text(password)}")

    def stop(self) -> None:
        """End the connections and the server; its data are as they were committed."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server; the next start recovers its data."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        """Signal PostgreSQL alone, whose parent then ends: it must not be left as a zombie."""
        self._signal(number)
        for child in self._children:
            if child.wait(_END_SECONDS) is None:
                child.kill()
                child.wait(None)
        self._children.clear()

    def _launch(self) -> Child:
        command = find_programs().command("postgres", "-D", str(self._data))
        with self.log.open("ab") as log:
            return Child(supervised(command), stdout=log, stderr=subprocess.STDOUT)

    def _follow_members(self) -> Child:
        script = self._home / "members.sql"
        script.write_text(_SET_ATTRIBUTE)
        words = (*self._connection("postgres"), "-q", "-f", str(script))
        return Child(
            supervised(find_programs().command("psql", *words)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            variables=self._variables,
        )

    def _certify(self) -> None:
        """Write an authority of our own and the server's certificate."""
        authority = trustme.CA()
        leaf = authority.issue_cert(self.name, self.address)
        authority.cert_pem.write_to_path(str(self.ca_file))
        key = self._data / "server.key"
        key.touch(mode=0o600)
        leaf.private_key_pem.write_to_path(str(key))
        for number, part in enumerate(leaf.cert_chain_pems):
            part.write_to_path(str(self._data / "server.pem"), append=number > 0)

    def _signal(self, number: signal.Signals) -> None:
        if self.running and (pid := self.pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _printed(self, begun: int) -> str:
        with self.log.open("rb") as log:
            log.seek(begun)
            return log.read().decode(errors="replace")

    def _connection(self, database: str) -> tuple[str, ...]:
        return ("-X", "-h", self.address, "-p", str(self.port), "-U", _ADMIN, "-d", database)

    @property
    def _variables(self) -> dict[str, str]:
        return {**os.environ, "PGPASSWORD": self._password}

    def _run(self, command: list[str], given: str) -> str:
        done = subprocess.run(
            command,
            input=given,
            env=self._variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise DatabaseStartError(f"PostgreSQL {self.name}: {done.stderr.strip()}")
        return done.stdout.strip()


def _make_master(master: Master) -> str:
    """Return the SQL of the master, who replicates as a member of rds_superuser."""
    name = _name(master.user)
    return (
        f"CREATE ROLE {name} LOGIN CREATEDB CREATEROLE PASSWORD {_text(master.password)};"
        f"GRANT rds_superuser TO {name};"
    )


def _name(word: str) -> str:
    """Return a name in SQL's quotes."""
    return '"' + word.replace('"', '""') + '"'


def _text(value: str) -> str:
    """Return a text in SQL's quotes."""
    return "'" + value.replace("'", "''") + "'"
