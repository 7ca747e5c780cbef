/** OpenTelemetry SDK for JavaScript: `otel-js.mjs URL` logs the lines of standard input. */
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { inputLines } from './input-lines.mjs';

const exporter = new OTLPLogExporter({ url: `${process.argv[2]}/otlp/v1/logs`, timeoutMillis: 30_000 });
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': 'otel-js' }),
  processors: [new BatchLogRecordProcessor({ exporter, scheduledDelayMillis: 1000 })],
});
const logger = provider.getLogger('shop');
for await (const line of inputLines()) logger.emit({ body: line });
await provider.forceFlush();
await provider.shutdown();
