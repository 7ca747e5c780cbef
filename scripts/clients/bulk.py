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


# By default, it gives up at the first 429.
helpers.bulk(client, actions(), chunk_size=100, max_retries=10, initial_backoff=1)
