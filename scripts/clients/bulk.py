"""elasticsearch-py: `bulk.py URL` ships the lines of standard input, 100 in a request."""

import datetime
import sys

from elasticsearch import Elasticsearch, helpers

client = Elasticsearch(f"{sys.argv[1]}/elasticsearch")
assert client.ping()


def actions():
    for line in sys.stdin.buffer:
        yield {
            "_op_type": "create",
            "_index": "python-bulk",
            "@timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "message": line.decode().removesuffix("\n"),
        }


# By default, it gives up at a 429, and a part of a chunk waits for the next line.
helpers.bulk(client, actions(), chunk_size=100, flush_after_seconds=1, max_retries=10, initial_backoff=1)
