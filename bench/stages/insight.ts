/**
 * Volume, statistics and labels of a month of a tenant with 100,000 streams, each with two entries per day,
 * in one chunk and one index per day. `again` is a dashboard's later request; `first day` has no cached data
 * of one day. The month is created by the first case, which takes a minute.
 */

import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseSelector } from '../../shared/language/logql/parse.ts';
import { Insight } from '../../shared/read/insight/insight.ts';
import type { VolumeGrouping } from '../../shared/read/insight/volume-day.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import type { ChunkRows } from '../../shared/storage/chunk/rows.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';
import { rowsOf } from '../../test/support/rows.ts';

const DAY = 20_000;
const DAYS = 30;
const STREAMS = 100_000;
const SERVICES = 50;
const START_NS = BigInt(DAY) * NS_PER_DAY;
/** Default step of a month. */
const STEP_NS = 10_368_000_000_000n;
const LINE = 'level=info msg="query finished" duration=12ms status=200 path=/api/v1/orders/17/items';

function rowsOfDay(): ChunkRows {
  const at = (i: number) => 1 + Math.floor((i / STREAMS) * 40_000) * 1e9;
  const entry = (i: number, time: number) => ({
    stream: { service_name: `service-${i % SERVICES}`, namespace: 'shop', pod: `pod-${i}` },
    time,
    line: LINE,
    metadata: { detected_level: 'info' },
  });
  const entries = Array.from({ length: STREAMS }, (_, i) => [entry(i, at(i)), entry(i, at(i) + 4e13)]);
  return rowsOf(entries.flat());
}

async function makeMonth() {
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const indexes = () =>
    new DayIndexes({
      store,
      onBroken: error => {
        throw error;
      },
    });
  const syncer = new Syncer({
    catalog,
    store,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    indexes: indexes(),
    graceMs: 1,
  });
  const rows = rowsOfDay();
  const signal = new AbortController().signal;
  for (let day = DAY; day < DAY + DAYS; day++) {
    const head = { id: SYSTEM_IDS.randomHex(16), tenant: 't', day, level: 1, createdMs: 1, inputs: [] };
    const written = await writeChunk(head, rows, QUICK_COMPRESSION);
    await catalog.addChunks([await storeChunk(store, written, 0)]);
    await syncer.syncDay({ tenant: 't', day, force: true, untilMs: Infinity, signal });
    process.stderr.write('+');
  }
  const insight = () =>
    new Insight({ catalog, source: new ChunkSource(store), clock: SYSTEM_CLOCK, indexes: indexes() });
  return { insight, warm: insight() };
}

let month: ReturnType<typeof makeMonth> | undefined;
function whenMade(): ReturnType<typeof makeMonth> {
  month ??= makeMonth();
  return month;
}

const requester = {
  tenants: ['t'],
  tenantsKey: 't',
  limits: { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n },
  signal: new AbortController().signal,
  partial: false,
  tags: '',
};
const matchers = parseSelector('{service_name=~".+"}');
const grouping: VolumeGrouping = { by: 'series', names: ['service_name'] };
const whole = { startNs: START_NS, endNs: START_NS + BigInt(DAYS) * NS_PER_DAY - 1n };
/** Range that starts and ends inside a day, like "the last 30 days". */
const cut = {
  startNs: START_NS + NS_PER_DAY / 3n,
  endNs: START_NS + BigInt(DAYS) * NS_PER_DAY - NS_PER_DAY / 3n,
};
const oneDay = { startNs: START_NS, endNs: START_NS + NS_PER_DAY - 1n };

const volumes = (insight: Insight, range: typeof whole, stepNs: bigint | undefined) =>
  insight.volumes({ matchers, range, grouping, stepNs }, requester);

export const cases = [
  { name: 'volume, whole days, again', run: async () => volumes((await whenMade()).warm, whole, undefined) },
  { name: 'volume, cut days, again', run: async () => volumes((await whenMade()).warm, cut, undefined) },
  { name: 'volume_range, again', run: async () => volumes((await whenMade()).warm, cut, STEP_NS) },
  {
    name: 'stats, whole days, again',
    run: async () => (await whenMade()).warm.stats(matchers, whole, requester),
  },
  {
    name: 'stats, cut days, again',
    run: async () => (await whenMade()).warm.stats(matchers, cut, requester),
  },
  {
    name: 'detected_labels, whole days, again',
    run: async () =>
      (await whenMade()).warm.detectedLabels(matchers, { ...whole, endNs: whole.endNs + 1n }, requester),
  },
  {
    name: 'volume, first day',
    run: async () => volumes((await whenMade()).insight(), oneDay, undefined),
  },
  {
    name: 'volume_range, first day',
    run: async () => volumes((await whenMade()).insight(), oneDay, STEP_NS),
  },
  {
    name: 'stats, first day',
    run: async () => (await whenMade()).insight().stats(matchers, oneDay, requester),
  },
];
