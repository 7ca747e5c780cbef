"""OpenTelemetry SDK for Python: `otlp.py URL FILE` logs the lines of a file."""

import logging
import sys

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

url, file = sys.argv[1:]
provider = LoggerProvider(resource=Resource.create({"service.name": "python-otlp"}))
exporter = OTLPLogExporter(endpoint=f"{url}/otlp/v1/logs", headers={"X-Scope-OrgID": "acme"})
provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
logger = logging.getLogger("shop")
logger.addHandler(LoggingHandler(logger_provider=provider))
for line in open(file, encoding="utf-8").read().splitlines():
    logger.warning(line)
provider.shutdown()
