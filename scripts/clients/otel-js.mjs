/**
 * OpenTelemetry SDK for JavaScript: `otel-js.mjs URL PACKAGE [SERVICE PATH]` logs the lines of standard input through the
 * exporter of a package. Exporters for protobuf and for JSON have one interface.
 */
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { inputLines } from './input-lines.mjs';

const [, , url, name, service = name.replace(/.*\//, ''), path = '/otlp/v1/logs'] = process.argv;
const { OTLPLogExporter } = await import(name);
const exporter = new OTLPLogExporter({ url: `${url}${path}`, timeoutMillis: 30_000 });
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': service }),
  processors: [new BatchLogRecordProcessor({ exporter, scheduledDelayMillis: 1000 })],
});
const logger = provider.getLogger('shop');
for await (const line of inputLines()) logger.emit({ body: line });
await provider.forceFlush();
await provider.shutdown();
