/** Lambda function that tests the store every few minutes like a client. */
import { SYSTEM_CLOCK } from '../shared/base/runtime/system-clock.ts';
import { createCanary } from './canary-handler.ts';

export const handler = createCanary({
  environment: process.env,
  nowMs: SYSTEM_CLOCK.nowMs,
  print: line => process.stdout.write(`${line}\n`),
});
