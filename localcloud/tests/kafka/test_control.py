"""What one may do to brokers at the door of localcloud, and what status shows."""

from __future__ import annotations

import pytest
import requests


@pytest.mark.parametrize("verb", ["kill", "pause", "resume", "restart"])
def test_brokers_break_on_demand(cloud, make_cluster, pretended, verb):
    cluster = make_cluster()["ClusterName"]
    status, answer = _post(cloud, f"{verb}-broker", cluster=cluster, broker=2)
    assert status == 200
    assert next(iter(answer.values())).startswith(f"b-2.{cluster}.")
    assert pretended[cluster].done == [(verb, 2)]
    status, answer = _post(cloud, f"{verb}-broker", cluster=cluster, broker=3)
    assert (status, answer["error"]) == (404, f"{cluster} has no broker 3; there are 1, 2")


def test_a_cluster_must_be_named(cloud, make_cluster):
    arn = make_cluster()["ClusterArn"]
    status, answer = _post(cloud, "kill-broker", cluster="none", broker=1)
    assert status == 404
    assert answer["error"].startswith("0 running clusters are named 'none'; there is ")
    assert arn in answer["error"]


def test_status_shows_clusters(cloud, make_cluster):
    arn = make_cluster()["ClusterArn"]
    clusters = requests.get(f"{cloud.endpoint}/_localcloud/status", timeout=60).json()["clusters"]
    (shown,) = [cluster for cluster in clusters if cluster["arn"] == arn]
    assert shown["state"] == "ACTIVE"
    assert shown["start_seconds"] < 60
    assert list(shown["brokers"].values()) == ["127.99.99.1", "127.99.99.2"]
    assert shown["processes"] == [{"node": 100, "pid": 1, "memory_mb": 2}]


def _post(cloud, name, **arguments):
    answer = requests.post(f"{cloud.endpoint}/_localcloud/{name}", json=arguments, timeout=60)
    return answer.status_code, answer.json()
