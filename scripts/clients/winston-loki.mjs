/** winston-loki: `winston-loki.mjs URL` logs the lines of standard input. */
import winston from 'winston';
import LokiTransport from 'winston-loki';
import { inputLines } from './input-lines.mjs';

const transport = new LokiTransport({
  host: process.argv[2],
  labels: { app: 'winston' },
  json: true,
  interval: 1,
  // Initial retry delay.
  timeout: 10_000,
  format: winston.format.printf(({ message }) => message),
  onConnectionError: error => process.stderr.write(`${error}\n`),
});
const logger = winston.createLogger({ transports: [transport] });
for await (const line of inputLines()) logger.info(line);
await transport.flush();
logger.close();
