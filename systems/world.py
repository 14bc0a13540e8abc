"""What outlives a job: its account, the topics that it reads, its checkpoint and dead letters."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import boto3

from localcloud.cloud import Cloud
from localcloud.door.operations import Call, HttpAnswer
from localcloud.faults import Faults, Performed
from localcloud.network.names import write_hosts
from localcloud.testing.policies import allow, document
from systems.clusters import ANONYMOUS, Brokers, running_brokers
from systems.error_tables import make_error_table
from systems.killing import ACCOUNT, REGION, ROOT, JobProcess
from systems.traps import Trap

_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_USER, _PASSWORD = "analytics", "secret"


@contextmanager
def running_broker(folder: Path) -> Iterator[Brokers]:
    """Run one broker that knows the job's user."""
    with running_brokers(folder, broker_count=1) as running:
        running.cluster.set_user(_USER, _PASSWORD)
        yield running


class World:
    """An account with a bucket, a registry and a table of errors, which knows no other job."""

    def __init__(
        self, cloud: Cloud, client: Callable[..., Any], kafka: Brokers, folder: Path, program: str
    ) -> None:
        """Make it for a program of jobs/."""
        self.endpoint, self._folder, self._program = cloud.endpoint, folder, program
        self.kafka, self.faults = kafka, cloud.state(Faults)
        self.name = f"killed-{secrets.token_hex(4)}"
        self.glue, self._secrets = client("glue"), client("secretsmanager")
        self._iam = client("iam")
        session = boto3.Session(ACCOUNT, "any", region_name=REGION)
        s3: Any = session.resource("s3", endpoint_url=cloud.endpoint)
        self.bucket = s3.create_bucket(
            Bucket=self.name, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        self.database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
        self.errors = make_error_table(self.database, f"{self.name}-errors")
        self.glue.create_registry(RegistryName=self.name)
        self._secret = self._secrets.create_secret(
            Name=f"AmazonMSK_{self.name}", SecretString=_write_login(_PASSWORD)
        )["ARN"]
        self.arguments = {
            "--bootstrap-servers": kafka.cluster.bootstrap_servers("SCRAM"),
            "--security": "scram",
            "--secret-arn": self._secret,
            "--ca-file": str(kafka.cluster.ca_file),
            "--registry": f"glue://{self.name}?region={REGION}",
            "--checkpoint": f"s3://{self.name}/checkpoint",
            "--trigger": "available-now",
            "--errors-table": self.errors.name,
            "--parked-bucket": self.name,
            "--lease-seconds": "5",
            "--heartbeat-seconds": "1",
        }
        self._hosts = folder / "hosts"
        write_hosts(self._hosts, kafka.cluster.names)
        self.sources = ROOT  # of the programs
        self.environ: dict[str, str] = {}  # variables that the programs get beside their keys
        self._trap = Trap()
        self._runs, self._numbers = 0, count(1)
        self._keys: dict[str, dict[str, str]] = {}

    def replace_password(self, password: str) -> None:
        """Give the job's user another password, first on the brokers and then in its secret."""
        self.kafka.cluster.set_user(_USER, password)
        self._secrets.put_secret_value(SecretId=self._secret, SecretString=_write_login(password))

    def create_topic(self, partitions: int) -> str:
        """Create a topic that the job may read and anybody write."""
        name = self.kafka.create_topic(partitions)
        self.kafka.allow(_USER, name, "READ")
        self.kafka.allow(ANONYMOUS, name, "WRITE")
        return name

    def around(self, call: Call, perform: Performed) -> HttpAnswer | None:
        """Stand between localcloud, with its faults, and the job that runs."""
        return self._trap.around(call, perform)

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        return [self._program, *(word for pair in self.arguments.items() for word in pair)]

    def start(self, trap: Trap, words: Sequence[str] = ()) -> JobProcess:
        """Start the job, or another program, for its trap; calls of others go through it too."""
        master = "local-cluster[1,2,512]" if trap.executor else "local[2]"
        job = self.launch(words or self.words, master)
        end = job.kill_executor if trap.executor else job.kill
        trap.kill, self._trap = job.stop if trap.stops else end, trap
        return job

    def launch(self, words: Sequence[str], master: str = "local[2]") -> JobProcess:
        """Start a program of jobs/ with its arguments."""
        self._runs = number = next(self._numbers)
        folder = self._folder / f"{words[0]}-{number}"
        environ = self.environ | {"AWS_ENDPOINT_URL": self.endpoint, **self._find_keys(words[0])}
        program = str(self.sources / "jobs" / f"{words[0]}.py")
        return JobProcess(master, [program, *words[1:]], environ, self._hosts, folder)

    def _find_keys(self, program: str) -> dict[str, str]:
        """Return the keys of a program's user, by whom its calls are known."""
        if program not in self._keys:
            user = {"UserName": f"{self.name}-{program}"}
            policy = document(allow("*"))
            self._iam.create_user(**user)
            self._iam.put_user_policy(PolicyName="all", PolicyDocument=policy, **user)
            made = self._iam.create_access_key(**user)["AccessKey"]
            self._keys[program] = {
                "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
            }
        return self._keys[program]

    def watch(self) -> Trap:
        """Begin to take down what is called."""
        self._trap = Trap()
        return self._trap

    def run(self, trap: Trap, words: Sequence[str] = ()) -> int:
        """Run a program; demand that it ends well (0), or is killed by the trap (-9)."""
        job = self.start(trap, words)
        try:
            code = job.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            said = f"run {self._runs} did not end: {trap.calls[-5:]}\n{job.tell()}"
            raise AssertionError(said) from None
        finally:
            self._trap = Trap()
        print(f"run {self._runs}: {code}, call {len(trap.calls)} was {trap.calls[-1:]}")
        assert code == 0 or (code == -9 and trap.snapped), (code, job.tell())
        return code

    def close(self) -> None:
        """Take away what other tests could see."""
        self.errors.delete()
        self.glue.delete_registry(RegistryId={"RegistryName": self.name})
        self._secrets.delete_secret(SecretId=self._secret, ForceDeleteWithoutRecovery=True)
        self.bucket.objects.delete()
        self.bucket.delete()


def _write_login(password: str) -> str:
    return json.dumps({"username": _USER, "password": password})


_World = TypeVar("_World", bound=World)


@contextmanager
def entered(world: _World) -> Iterator[_World]:
    """Let every call to localcloud pass through a world, and close it."""
    with closing(world), world.faults.wrapped(world.around):
        yield world
