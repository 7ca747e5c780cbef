/**
 * Feeds a collector: `otelcol-feed.mjs PROGRAM CONFIG` starts it and logs the lines of standard input to its
 * OTLP receiver, through the SDK for JavaScript. RECEIVER_PORT in the configuration stands for a free port.
 *
 * Pitfall: the collector drops batches that wait for a retry when it stops. It runs until SIGTERM, not until
 * the end of the input.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { freePort, until } from '../processes.mjs';
import { inputLines } from './input-lines.mjs';

const START_TIMEOUT_MS = 60_000;

const [, , program, configuration] = process.argv;
const port = await freePort();
writeFileSync(configuration, readFileSync(configuration, 'utf8').replaceAll('RECEIVER_PORT', String(port)));
const collector = spawn(program, ['--config', configuration], { stdio: ['ignore', 'inherit', 'inherit'] });
process.once('SIGTERM', () => collector.kill('SIGTERM'));
collector.once('exit', code => process.exit(code ?? 1));

const url = `http://127.0.0.1:${port}/v1/logs`;
// Any response means that the receiver listens.
await until(START_TIMEOUT_MS, undefined, async () => (await fetch(url)).status > 0);
const exporter = new OTLPLogExporter({ url });
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': 'otelcol' }),
  processors: [new BatchLogRecordProcessor({ exporter, scheduledDelayMillis: 1000 })],
});
const logger = provider.getLogger('shop');
for await (const line of inputLines()) logger.emit({ body: line });
await provider.forceFlush();
