"""A web page in the browser of whoever runs localcloud: it can send requests, and gets nothing."""

from __future__ import annotations

import http.client
import json
import urllib.request
from contextlib import closing
from urllib.parse import urlencode, urlsplit

import pytest
from botocore.config import Config

from localcloud.brokers.token_server import serve_token_checks
from localcloud.functions.runtime_api import Event, RuntimeApi
from localcloud.services.secretsmanager.secrets import NextPasswords

_PAGE = "https://evil.example"
_REBOUND = "rebound.evil.example:4566"  # a name of the page's own that leads to 127.0.0.1
_SCOPE = "111111111111/20261122/eu-central-1/{}/aws4_request"
_HIDDEN = {"SecretId": "page/secret"}
_FROM_A_PAGE = [
    pytest.param({"Origin": _PAGE}, id="fetch"),
    pytest.param({"Origin": "null"}, id="fetch from a frame without an origin"),
    pytest.param({"Origin": "http://localhost:3000"}, id="fetch from another server here"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, id="image, script or link"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, id="image of another server here"),
    pytest.param({"Host": _REBOUND, "Origin": f"http://{_REBOUND}"}, id="rebound name, fetch"),
    pytest.param({"Host": _REBOUND}, id="rebound name, nothing else"),
    pytest.param({"Host": "127.0.0.1.evil.example"}, id="name that begins like ours"),
    pytest.param({"Host": "localhost.evil.example:4566"}, id="name that begins with localhost"),
    pytest.param({"Host": "evillocalhost"}, id="name that ends like ours"),
]


@pytest.fixture
def send(cloud):
    """Send a request with exactly these headers and `Host`; returns the answer and its body."""

    def send(method, path, headers, body=b""):
        where = urlsplit(cloud.endpoint)
        with closing(http.client.HTTPConnection(where.hostname, where.port, timeout=60)) as made:
            made.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            host = {} if "Host" in headers else {"Host": where.netloc}
            for name, value in {**host, **headers, "Content-Length": str(len(body))}.items():
                made.putheader(name, value)
            made.endheaders(body)
            answer = made.getresponse()
            return answer, answer.read()

    return send


@pytest.fixture
def users(client):
    """Names of the IAM users, which anybody can make by a request of one line."""
    iam = client("iam")
    return lambda: {user["UserName"] for user in iam.list_users()["Users"]}


def _in_query(service, **parameters):
    """The address of a call whose credentials are in its query string: no preflight is asked."""
    return "/?" + urlencode({"X-Amz-Credential": _SCOPE.format(service), **parameters})


def _allows_nothing(answer):
    return not any(name.lower().startswith("access-control-") for name in answer.headers)


@pytest.mark.parametrize("headers", _FROM_A_PAGE)
def test_a_page_reads_no_secret(client, send, headers):
    secrets = client("secretsmanager")
    if not secrets.list_secrets(Filters=[{"Key": "name", "Values": ["page/"]}])["SecretList"]:
        secrets.create_secret(Name="page/secret", SecretString="hunter2")
    signed = {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={_SCOPE.format('secretsmanager')}",
        "X-Amz-Target": "secretsmanager.GetSecretValue",
        "Content-Type": "application/x-amz-json-1.1",
    }
    body = json.dumps(_HIDDEN).encode()
    assert b"hunter2" in send("POST", "/", signed, body)[1]

    answer, said = send("POST", "/", {**signed, **headers}, body)

    assert (answer.status, _allows_nothing(answer)) == (403, True)
    assert b"hunter2" not in said
    assert said.startswith(b"localcloud ")


@pytest.mark.parametrize("headers", _FROM_A_PAGE)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_changes_nothing_with_credentials_in_the_query_string(send, users, method, headers):
    asked = _in_query("iam", Action="CreateUser", UserName="intruder", Version="2010-05-08")

    answer, _ = send(method, asked, {**headers, "Content-Type": "text/plain"})

    assert (answer.status, _allows_nothing(answer)) == (403, True)
    assert "intruder" not in users()


@pytest.mark.parametrize("path", ["/", "/bucket/key", "/_localcloud/add-fault"])
def test_a_preflight_allows_nothing(send, path):
    asked = {"Origin": _PAGE, "Access-Control-Request-Method": "POST"}
    asked |= {"Access-Control-Request-Headers": "authorization,x-amz-target,content-type"}

    answer, _ = send("OPTIONS", path, asked)

    assert (answer.status, _allows_nothing(answer)) == (403, True)


def test_no_answer_allows_a_page_to_read_it(client, send):
    client("s3").create_bucket(
        Bucket="read-by-no-page",
        CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
    )
    for path in (_in_query("s3"), "/read-by-no-page?X-Amz-Credential=" + _SCOPE.format("s3")):
        answer, _ = send("GET", path, {})
        assert (answer.status, _allows_nothing(answer)) == (200, True)


@pytest.mark.parametrize("headers", _FROM_A_PAGE)
def test_a_page_does_not_reach_the_control_door(cloud, send, headers):
    body = b'{"password": "known"}'
    kind = {"Content-Type": "application/json"}

    answer, _ = send("POST", "/_localcloud/set-random-password", {**kind, **headers}, body)

    assert answer.status == 403
    assert cloud.state(NextPasswords).password is None


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_the_control_door_wants_json(cloud, send, kind):
    headers = {"Content-Type": kind} if kind else {}

    answer, said = send("POST", "/_localcloud/set-random-password", headers, b'{"password": "x"}')

    expected = "set-random-password takes Content-Type: application/json"
    assert (answer.status, json.loads(said)["error"]) == (415, expected)
    assert cloud.state(NextPasswords).password is None


@pytest.mark.parametrize("headers", _FROM_A_PAGE)
def test_a_page_takes_no_event_of_a_function(headers):
    with closing(RuntimeApi()) as api:
        api.send(Event(b"secret", {}))
        url = f"http://{api.address}/2018-06-01/runtime/invocation/next"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60)
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.read() == b"secret"


@pytest.mark.parametrize("headers", _FROM_A_PAGE)
def test_a_page_gets_no_answer_that_is_for_brokers(headers):
    asked = []
    with serve_token_checks(asked.append) as url:
        question = urllib.request.Request(f"{url}token", b"a token", headers)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(question, timeout=60)
    assert not asked


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:4566", "127.20.3.4:4566", "localhost:4566", "LOCALHOST", "[::1]:4566"],
)
def test_a_program_reaches_it_by_every_local_name(send, host):
    answer, _ = send("GET", _in_query("sts", Action="GetCallerIdentity"), {"Host": host})

    assert answer.status == 200


def test_a_bucket_may_be_in_the_name_of_the_host(cloud, client, send):
    virtual = Config(s3={"addressing_style": "virtual"})
    port = urlsplit(cloud.endpoint).port
    s3 = client("s3")
    region = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket="in-the-host", CreateBucketConfiguration=region)
    s3.put_object(Bucket="in-the-host", Key="a", Body=b"found")
    local = client("s3", endpoint_url=f"http://localhost:{port}", config=virtual)
    named = {"Bucket": "in-the-host", "Key": "a"}
    url = urlsplit(local.generate_presigned_url("get_object", named))
    assert url.netloc == f"in-the-host.localhost:{port}"

    answer, body = send("GET", f"{url.path}?{url.query}", {"Host": url.netloc})

    assert (answer.status, body) == (200, b"found")


def test_a_presigned_address_works_in_a_program_and_pasted_into_a_browser(client, send):
    s3 = client("s3")
    region = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket="presigned", CreateBucketConfiguration=region)
    s3.put_object(Bucket="presigned", Key="a", Body=b"found")
    url = urlsplit(s3.generate_presigned_url("get_object", {"Bucket": "presigned", "Key": "a"}))

    for headers in ({}, {"Sec-Fetch-Site": "none"}):
        answer, body = send("GET", f"{url.path}?{url.query}", headers)
        assert (answer.status, body) == (200, b"found")
