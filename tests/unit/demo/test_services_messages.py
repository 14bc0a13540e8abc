"""Messages of services are counted by the lines of their logs."""

from __future__ import annotations

from demo.services.messages import Messages

_A = """\
writing 1 messages to foo-topic (partition: 2)
writing 1 messages to foo-topic (partition: 0)
service-a-1 received message: This is message 1 from host service-b-1
service-a-1: a record for topic 'foo-topic' was not acknowledged within 10 s; trying again
"""
_B = """\
writing 1 messages to bar-topic (partition: 1)
service-b-1 received message: This is message 2 from host service-a-1
service-b-1 received message: This is message 2 from host service-a-1
"""


def test_a_message_is_lost_if_nobody_has_received_it_and_double_if_two_have():
    counted = Messages.count({"service-a-1": _A.splitlines(), "service-b-1": _B.splitlines()})

    assert counted.find_lost() == {"This is message 1 from host service-a-1"}
    assert counted.count_duplicates() == 1
    assert list(counted.describe()) == [
        {"host": "service-a-1", "written": 2, "received": 1, "twice": 1},
        {"host": "service-b-1", "written": 1, "received": 1, "twice": 0},
    ]


def test_a_message_that_was_received_and_whose_writer_does_not_know_it_is_none_too_many():
    heard = "service-b-1 received message: This is message 7 from host service-a-1"

    counted = Messages.count({"service-a-1": [], "service-b-1": [heard]})

    assert (counted.find_lost(), counted.count_duplicates()) == (set(), 0)
