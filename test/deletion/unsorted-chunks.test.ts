/** Delete requests and retention that apply to chunks with pages in no order: entries are hidden, then removed, and the others stay. */
import { expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR, NS_PER_DAY, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { FORMAT_VERSION } from '../../shared/storage/chunk/format.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { testStores } from '../maintenance/store.ts';
import {
  DAY,
  FROM_NS,
  fillDay,
  HEADERS,
  inOrder,
  mergeDay,
  type PushedEntry,
  pushesOf,
  TENANT,
  TO_NS,
} from '../support/unsorted-day.ts';

const PUSHES = pushesOf(3, 6);

async function filled(given: Partial<typeof DEFAULT_CONFIG.limits>) {
  const limits = { ...DEFAULT_CONFIG.limits, deletionMode: 'filter-and-delete' as const, ...given };
  const stores = testStores({}, { limits });
  const process = stores.process(1);
  await fillDay(process, stores, PUSHES);
  const footers = async () => {
    const { records } = (await process.catalog.day(TENANT, DAY))!;
    return Promise.all(records.map(record => readFooter(stores.store, record)));
  };
  expect((await footers()).map(({ version }) => version)).toEqual([FORMAT_VERSION]);
  return {
    process,
    stores,
    footers,
    /** Lines in the order of an export. */
    async lines() {
      const asked = {
        query: '{app=~".+"}',
        format: 'jsonl',
        start: `${FROM_NS}`,
        end: `${TO_NS}`,
        bytes: '10000000',
      };
      const rawQuery = `${new URLSearchParams(asked)}`;
      const { status, body } = await process.ask('GET', '/svc/api/v1/export', { headers: HEADERS, rawQuery });
      expect(status).toBe(200);
      return Buffer.from(body)
        .toString()
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line).line);
    },
    async problems() {
      const found: Problem[] = [];
      const { clock, store } = stores;
      const options = { full: true, report: (one: Problem) => found.push(one) };
      await checkStore({ catalog: process.catalog, store, clock }, options);
      return found;
    },
  };
}

const without = (isGone: (entry: PushedEntry) => boolean) =>
  inOrder(PUSHES)
    .filter(entry => !isGone(entry))
    .map(({ line }) => line);

test('delete requests of lines, streams and times', async () => {
  const world = await filled({});
  const { process, stores } = world;
  // Begins and ends within pages.
  const [start, end] = [FROM_NS + 17n * NS_PER_SECOND, FROM_NS + 50n * NS_PER_SECOND];
  for (const query of [
    '{app=~"json|mixed"} |= "u-3"',
    '{app="logfmt"}',
    '{app="tiny",pod="7"}',
    '{app="odd"} |= "="',
  ]) {
    const rawQuery = `${new URLSearchParams({ query, start: `${Number(start / 1_000_000_000n)}`, end: `${Number(end / 1_000_000_000n)}` })}`;
    const { status } = await process.ask('POST', '/loki/api/v1/delete', { headers: HEADERS, rawQuery });
    expect(status).toBe(204);
  }
  const kept = without(({ labels: { app, pod }, timeNs, line }) => {
    if (timeNs < start || timeNs > end) return false;
    if (app === 'json' || app === 'mixed') return line.includes('u-3');
    return app === 'logfmt' || (app === 'tiny' && pod === '7') || (app === 'odd' && line.includes('='));
  });
  expect(kept.length).toBeLessThan(inOrder(PUSHES).length - 700);
  expect(await world.lines()).toEqual(kept);
  await stores.clock.advance(2 * MS_PER_DAY);
  // The first run picks them up, and they are applied when every process knows it.
  for (let run = 0; run < 2; run++) {
    expect(await process.run('deletion')).toMatchObject({ failures: [] });
    await stores.clock.advance(MS_PER_HOUR);
  }
  const after = await world.footers();
  expect(after.reduce((sum, { rows }) => sum + rows, 0)).toBe(kept.length);
  expect(await world.lines()).toEqual(kept);
  expect(await world.problems()).toEqual([]);
  // And what is left is merged again.
  await mergeDay(process, stores, { level: 3, seed: 200 });
  expect(await world.lines()).toEqual(kept);
});

test('retention of a stream within pages of several', async () => {
  const retentionStream = ['stack', 'json'].map(app => ({
    selector: `{app="${app}"}`,
    priority: 1,
    periodNs: NS_PER_DAY,
  }));
  const world = await filled({ retentionStream });
  const kept = without(({ labels: { app } }) => app === 'stack' || app === 'json');
  expect(await world.lines()).toEqual(without(() => false));
  await world.stores.clock.advance(2 * MS_PER_DAY);
  expect(await world.lines()).toEqual(kept);
  expect(await world.process.run('retention')).toMatchObject({ failures: [] });
  const after = await world.footers();
  expect(after.reduce((sum, { rows }) => sum + rows, 0)).toBe(kept.length);
  expect(await world.lines()).toEqual(kept);
  expect(await world.problems()).toEqual([]);
});
