/**
 * A canary against a running store, for as long as it is let:
 *
 *     node bin/with-runtime.mjs scripts/tail-canary.ts --url http://localhost:3100 --tenant canary --minutes 60
 *
 * Each round of a minute prints its figures; the exit code is 1 where an entry was missing or twice, in a tail or in a query.
 * What it does is told in test/end-to-end/support/canary.ts.
 */
import { parseArgs } from 'node:util';
import { runCanary } from '../test/end-to-end/support/canary.ts';

const ROUND_MS = 60_000;

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://localhost:3100' },
    tenant: { type: 'string', default: 'canary' },
    minutes: { type: 'string', default: '10' },
    readers: { type: 'string', default: '2' },
  },
});
const endMs = Date.now() + Number(values.minutes) * ROUND_MS;
let failed = false;
do {
  const durationMs = Math.max(1000, Math.min(ROUND_MS, endMs - Date.now()));
  const { url, tenant } = values;
  // 20 pushes a second and writer: a round fits one lookback.
  const report = await runCanary({
    url,
    tenant,
    durationMs,
    readers: Number(values.readers),
    pushesPerSecond: 20,
  });
  const { missedInTail, twiceInTail, missedInQuery, twiceInQuery } = report;
  failed ||= missedInTail + twiceInTail + missedInQuery + twiceInQuery > 0;
  console.log(JSON.stringify({ at: new Date().toISOString(), ...report }));
} while (Date.now() < endMs);
process.exitCode = failed ? 1 : 0;
