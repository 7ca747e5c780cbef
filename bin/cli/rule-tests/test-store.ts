/** A store in memory with the input of one test in it, as a store with the default configuration takes and answers it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../local/system-clock.ts';
import { type Config, DEFAULT_CONFIG } from '../../../shared/admin/config-fields.ts';
import { Catalog } from '../../../shared/catalog/catalog.ts';
import { UsageRecords } from '../../../shared/catalog/usage-records.ts';
import { assembleContext } from '../../../shared/http/assemble.ts';
import { createDispatcher } from '../../../shared/http/dispatch.ts';
import { createRouter } from '../../../shared/http/routes.ts';
import { ROUTES } from '../../../shared/http/table.ts';
import { NS_PER_MS } from '../../../shared/model/duration.ts';
import { DEFAULT_LIMITS } from '../../../shared/model/limits.ts';
import { seededIds } from '../../../shared/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/ports/memory/table.ts';
import { engineQuery, type RuleQuery } from '../../../shared/rules/rule-query.ts';
import { CommandError } from '../command-error.ts';
import { say } from '../standard-output.ts';
import type { RuleTest } from './test-file.ts';

const TEST_TENANT = 'test';
/** Far below what a push may have. */
const ENTRIES_OF_PUSH = 5000;

const CONFIG: Config = {
  ...DEFAULT_CONFIG,
  // Times of tests lie anywhere; rates are not limited without an exchange.
  limits: { ...DEFAULT_LIMITS, rejectOldSamples: false },
  logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
};

/** Asks the store of a test. Throws CommandError where it refuses the input. */
export async function testStore(test: RuleTest, endNs: bigint): Promise<RuleQuery> {
  const clock = { nowMs: () => Number(endNs / NS_PER_MS), nowNs: () => endNs, sleep: () => nextTurn() };
  const ids = seededIds(1);
  const table = memoryTable({ clock });
  const context = assembleContext({
    config: CONFIG,
    store: memoryObjectStore(),
    catalog: new Catalog({ table, clock, ids }),
    clock,
    ids,
    usageRecords: new UsageRecords(table),
    notReady: () => undefined,
  });
  const dispatch = createDispatcher({
    router: createRouter(ROUTES),
    context,
    guard: context.access.guard,
    log: { error: (_, message) => say(`logboom: ${message}\n`) },
    compress: false,
  });
  for (const body of pushesOf(test)) {
    const answer = await dispatch({
      method: 'POST',
      path: '/loki/api/v1/push',
      rawQuery: '',
      headers: { 'content-type': 'application/json', 'x-scope-orgid': TEST_TENANT },
      body: Buffer.from(body),
      signal: new AbortController().signal,
      id: 'rule-test',
    });
    if (answer.status !== 204) {
      throw new CommandError(`the store refuses the input: ${Buffer.from(answer.body).toString().trim()}`);
    }
  }
  const query = engineQuery({
    engine: context.engine,
    limitsOf: () => CONFIG.limits,
    // Its time only bounds how long a query may take.
    clock: systemClock,
  });
  return (_, expr, timeNs, signal) => query(TEST_TENANT, expr, timeNs, signal);
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
