"""python-logging-loki: `loki.py URL` logs the lines of standard input."""

import logging
import sys

import logging_loki

handler = logging_loki.LokiHandler(
    url=f"{sys.argv[1]}/loki/api/v1/push", tags={"app": "python-loki"}, version="1"
)
logger = logging.getLogger("shop")
logger.addHandler(handler)
for line in sys.stdin.buffer:
    logger.warning("%s", line.decode().removesuffix("\n"))
