"""loki-logger-handler: `loki-handler.py URL` logs the lines of standard input."""

import logging
import sys

from loki_logger_handler.formatters.logger_formatter import LoggerFormatter
from loki_logger_handler.loki_logger_handler import LokiLoggerHandler

handler = LokiLoggerHandler(
    url=f"{sys.argv[1]}/loki/api/v1/push",
    labels={"app": "python-handler"},
    timeout=1,
    default_formatter=LoggerFormatter(),
)
logger = logging.getLogger("shop")
logger.addHandler(handler)
for line in sys.stdin.buffer:
    logger.warning("%s", line.decode().removesuffix("\n"))
