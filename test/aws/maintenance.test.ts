/** Compaction, index sync and collection over the protocols of S3 and DynamoDB, by two processes on one bucket and table. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage, type StorageOptions } from '../../local/storage.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { listStoredObjects } from '../../shared/storage/catalog/stored-objects.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import { findEntries, getJson } from '../end-to-end/support/ask.ts';
import { JSON_TYPE, jsonPush } from '../end-to-end/support/push.ts';
import { until } from '../support/until.ts';
import { DYNAMODB_PLACES, newName, S3_PLACES } from './support/places.ts';
import { type StoreOnStorage, startOn } from './support/start-on.ts';

/** A day long closed. */
const T0 = 1_704_067_200n * NS_PER_SECOND;
const DAY = 19_723;
const TENANT = 'acme';
const PUSHES = 60;
/** No job runs on a schedule here, and merged chunks may be deleted immediately. */
const YAML = `
limits_config: { reject_old_samples: false }
compactor: { compaction_interval: 1h }
logboom: { index_sync_interval: 1h, collection_interval: 1h, object_grace_period: 0, group_commit_wait: 0, inline_max_bytes: 300 }`;

/** Some compress well and lie in the catalog, some do not and go to the bucket. */
const lineOf = (push: number) =>
  `push ${push} ${push % 2 === 0 ? '' : createHash('sha512').update(`${push}`).digest('hex').repeat(3)}`;

for (const s3 of S3_PLACES) {
  describe.each(DYNAMODB_PLACES)(`maintenance on S3 of ${s3.name}, DynamoDB of $name`, dynamoDb => {
    let storage: StorageOptions;
    let stores: StoreOnStorage[];
    beforeAll(async () => {
      storage = {
        kind: 's3',
        bucket: newName(),
        table: newName(),
        endpoint: s3.endpoint,
        dynamoDbEndpoint: dynamoDb.endpoint,
      };
      stores = [await startOn(storage, YAML)];
      stores.push(await startOn(storage, YAML));
    });
    afterAll(async () => {
      for (const store of stores) await store.stop();
    });

    const send = (store: StoreOnStorage, method: string, path: string, body?: string) =>
      store.client.send({
        method,
        path,
        headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT },
        body,
      });
    const lines = async (store: StoreOnStorage): Promise<string[]> => {
      const range = { start: `${T0}`, end: `${T0 + 3600n * NS_PER_SECOND}` };
      const found = await findEntries(
        store.client,
        { query: '{app=~".+"}', limit: '5000', ...range },
        { tenant: TENANT },
      );
      return found.map(({ line }) => line).sort();
    };
    const recordsOf = async (catalog: Catalog) => (await catalog.day(TENANT, DAY))?.records ?? [];

    test('two processes that flush concurrently merge every chunk once', async () => {
      for (let push = 0; push < PUSHES; push++) {
        const entries = [{ ns: T0 + BigInt(push) * NS_PER_SECOND, line: lineOf(push) }];
        const body = jsonPush([{ labels: { app: `app-${push % 7}` }, entries }]);
        const answer = await send(stores[push % 2], 'POST', '/loki/api/v1/push', body);
        expect([answer.status, answer.text]).toEqual([204, '']);
      }
      const { store, table, close } = await openStorage(storage);
      const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
      const before = await recordsOf(catalog);
      expect(before.length).toBe(PUSHES);
      expect(before.some(({ inline }) => inline === undefined)).toBe(true);

      const flushes = await Promise.all(stores.map(one => send(one, 'POST', '/flush/tenant')));
      for (const { status } of flushes) expect([202, 204]).toContain(status);
      // 202: the flush takes longer than a request may and continues, or the other process has the day.
      for (let isOver = false; !isOver; ) {
        const again = [];
        for (const one of stores) again.push((await send(one, 'POST', '/flush/tenant')).status);
        for (const status of again) expect([202, 204]).toContain(status);
        isOver = again.every(status => status === 204);
      }
      const records = await recordsOf(catalog);
      expect(records.length).toBeLessThanOrEqual(2);
      expect(records.reduce((sum, { rows }) => sum + rows, 0)).toBe(PUSHES);
      const wanted = Array.from({ length: PUSHES }, (_, push) => lineOf(push)).sort();
      for (const one of stores) expect(await lines(one)).toEqual(wanted);

      const problems: unknown[] = [];
      const parts = { catalog, store, clock: SYSTEM_CLOCK };
      await checkStore(parts, { full: true, report: problem => problems.push(problem) });
      expect(problems).toEqual([]);
      await close();
    });

    /** Earlier pushes give the day several chunks, whatever a flush in progress merges. */
    const syncOnce = async (i: number) => {
      const entries = [{ ns: T0 + BigInt(i), line: `late ${i}` }];
      const push = jsonPush([{ labels: { app: 'late' }, entries }]);
      expect((await send(stores[0], 'POST', '/loki/api/v1/push', push)).status).toBe(204);
      expect((await send(stores[0], 'PUT', '/sync-indexes')).status).toBe(202);
      await until(async () => {
        const [entry] = JSON.parse((await send(stores[1], 'GET', '/sync-indexes')).text) as {
          in_progress: boolean;
          last_trigger: string;
        }[];
        expect(entry.last_trigger).toBe('manual');
        return !entry.in_progress;
      });
    };

    test('an index sync that one process requests is visible in both', async () => {
      const { store, close } = await openStorage(storage);
      const kinds = new Set<string>();
      // A flush of the previous test that was answered with 202 can still hold the day, and a sync skips such a
      // day.
      for (let i = 0; i < 10 && !kinds.has('index'); i++) {
        await syncOnce(i);
        for await (const { kind } of listStoredObjects(store)) kinds.add(kind);
      }
      expect(kinds).toContain('index');
      await close();
      const range = { start: `${T0}`, end: `${T0 + 3600n * NS_PER_SECOND}` };
      for (const one of stores) {
        const answer = await getJson(one.client, '/api/v1/label/app/values', range, { tenant: TENANT });
        expect(answer).toMatchObject({
          data: ['app-0', 'app-1', 'app-2', 'app-3', 'app-4', 'app-5', 'app-6', 'late'],
        });
      }
    });
  });
}
