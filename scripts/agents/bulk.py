"""elasticsearch-py: `bulk.py URL FILE` ships the lines of a file, after it asked who is there."""

import datetime
import sys

from elasticsearch import Elasticsearch, helpers

url, file = sys.argv[1:]
client = Elasticsearch(f"{url}/elasticsearch", headers={"X-Scope-OrgID": "acme"})
assert client.ping()
now = datetime.datetime.now(datetime.timezone.utc).isoformat()
lines = open(file, encoding="utf-8").read().splitlines()
actions = [
    {"_op_type": "create", "_index": "python-bulk", "@timestamp": now, "message": line}
    for line in lines
]
helpers.bulk(client, actions)
