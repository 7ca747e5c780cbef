/** pino-loki: `pino-loki.mjs URL` logs the lines of standard input. */
import pino from 'pino';
import { inputLines } from './input-lines.mjs';

const transport = pino.transport({
  target: 'pino-loki',
  options: {
    host: process.argv[2],
    labels: { app: 'pino' },
    batching: { interval: 1, maxBufferSize: 10_000 },
  },
});
const logger = pino(transport);
for await (const line of inputLines()) logger.info(line);
await new Promise(resolve => {
  transport.once('close', resolve);
  transport.end();
});
