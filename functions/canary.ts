/** Lambda function that tests the store every few minutes like a client. */
import { systemClock } from '../shared/base/runtime/system-clock.ts';
import { createCanary } from './canary-handler.ts';

export const handler = createCanary({
  environment: process.env,
  nowMs: systemClock.nowMs,
  print: line => process.stdout.write(`${line}\n`),
});
