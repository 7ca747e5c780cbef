"""OpenTelemetry SDK for Python: `otlp.py URL` logs the lines of standard input."""

import logging
import sys

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

provider = LoggerProvider(resource=Resource.create({"service.name": "python-otlp"}))
# Tries again for as long: six times, a second apart at first.
exporter = OTLPLogExporter(endpoint=f"{sys.argv[1]}/otlp/v1/logs", timeout=120)
processor = BatchLogRecordProcessor(exporter, schedule_delay_millis=1000)
provider.add_log_record_processor(processor)
logger = logging.getLogger("shop")
logger.addHandler(LoggingHandler(logger_provider=provider))
for line in sys.stdin.buffer:
    logger.warning("%s", line.decode().removesuffix("\n"))
# It ends a retry that is under way: what is left goes first.
provider.force_flush(120_000)
provider.shutdown()
