"""The question to Lake Formation: does a grant outlive the database that it was on?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_name, make_role


def ask_deleted_grants(session: Any) -> Finding:
    """Grant a role something on a database, delete the database, and look at it made again."""
    lake, name = session.client("lakeformation"), make_name().replace("-", "_")
    defaults = lake.get_data_lake_settings()["DataLakeSettings"]["CreateTableDefaultPermissions"]
    decides = "IAM alone decides" if defaults else "Lake Formation decides too: see docs/lake.md"
    lines = [f"on new tables {decides}"]
    with make_role(session, name, "lambda.amazonaws.com") as role:
        grant = {
            "Principal": {"DataLakePrincipalIdentifier": role},
            "Resource": {"Database": {"Name": name}},
        }
        try:
            with _database(session.client("glue"), name):
                lake.grant_permissions(**grant, Permissions=["DESCRIBE"])
        except ClientError as error:  # only an administrator of the lake, or a creator, may grant
            return Finding(None, [*lines, str(error)])
        with _database(session.client("glue"), name):
            left = lake.list_permissions(**grant)["PrincipalResourcePermissions"]
            if left:
                lake.revoke_permissions(**grant, Permissions=["DESCRIBE"])
    outlived = "is still there" if left else "is gone"
    lines.append(f"the grant on a database that was deleted and made again {outlived}")
    return Finding(not left, lines)


@contextlib.contextmanager
def _database(glue: Any, name: str) -> Iterator[None]:
    glue.create_database(DatabaseInput={"Name": name})
    try:
        yield
    finally:
        glue.delete_database(Name=name)
