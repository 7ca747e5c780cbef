"""python-logging-loki: `loki.py URL FILE` logs the lines of a file."""

import logging
import sys

import logging_loki

url, file = sys.argv[1:]
handler = logging_loki.LokiHandler(
    url=f"{url}/loki/api/v1/push", tags={"app": "python-loki"}, version="1"
)
logger = logging.getLogger("shop")
logger.addHandler(handler)
for line in open(file, encoding="utf-8").read().splitlines():
    logger.warning(line)
