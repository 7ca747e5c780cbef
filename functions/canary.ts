/** Lambda function that tries the store every few minutes, as a client would. */
import { systemClock } from '../shared/base/runtime/system-clock.ts';
import { createCanary } from './canary-handler.ts';

export const handler = createCanary({
  environment: process.env,
  nowMs: systemClock.nowMs,
  print: line => process.stdout.write(`${line}\n`),
});
