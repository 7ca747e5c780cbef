/**
 * In-memory store with the input of one test; it accepts and queries data like a store with the default
 * configuration.
 */

import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { type Config, DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';
import { engineQuery, type RuleQuery } from '../../../shared/server/rules/rule-query.ts';
import { MEMORY_TENANT, memoryStore } from '../memory-store.ts';
import type { RuleTest } from './test-file.ts';

/** Entries per push, far below the limit. */
const ENTRIES_OF_PUSH = 5000;

const CONFIG: Config = {
  ...DEFAULT_CONFIG,
  // Tests may use any time. Rates are not limited without a usage exchange.
  limits: { ...DEFAULT_LIMITS, rejectOldSamples: false },
  logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
};

/** Query function over the store of a test. Throws CommandError if the store refuses the input. */
export async function testStore(test: RuleTest, endNs: bigint): Promise<RuleQuery> {
  const { context, push } = memoryStore(CONFIG, endNs);
  for (const body of pushesOf(test)) await push(body);
  const query = engineQuery({
    engine: context.engine,
    limitsOf: () => CONFIG.limits,
    // This clock only limits the duration of queries.
    clock: SYSTEM_CLOCK,
  });
  return (_, expr, timeNs, signal) => query(MEMORY_TENANT, expr, timeNs, signal);
}

function* pushesOf({ input, start }: RuleTest): Generator<string> {
  for (const { stream, entries } of input) {
    const values = entries.flatMap(({ at, every, line, metadata }) =>
      Array.from({ length: every.count }, (_, i) => {
        const timeNs = start + at + BigInt(i) * every.stepNs;
        return [String(timeNs), line, metadata];
      }),
    );
    for (let i = 0; i < values.length; i += ENTRIES_OF_PUSH) {
      yield JSON.stringify({ streams: [{ stream, values: values.slice(i, i + ENTRIES_OF_PUSH) }] });
    }
  }
}
