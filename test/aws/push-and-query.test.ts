/** The whole store over the protocols of S3 and DynamoDB: pushed over HTTP, asked back, also after a restart. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage, type StorageOptions } from '../../local/storage.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { findEntries, getJson } from '../end-to-end/support/ask.ts';
import { JSON_TYPE, jsonPush, type PushedStream } from '../end-to-end/support/push.ts';
import { DYNAMODB_PLACES, newName, S3_PLACES } from './support/places.ts';
import { type StoreOnStorage, startOn } from './support/start-on.ts';

/** A whole minute of a day long ago, so that no answer depends on the clock. */
const T0 = 1_704_067_200n * NS_PER_SECOND;
const TENANT = 'acme';
const PUSHES = 12;
const ENTRIES_PER_PUSH = 400;
const YAML = 'auth_enabled: true\nlimits_config: { reject_old_samples: false }';

/** Lines that do not compress, so that a chunk is too large for the catalog and goes to the bucket. */
const lineOf = (push: number, entry: number): string =>
  `push=${push} entry=${entry} ${createHash('sha512').update(`${push}/${entry}`).digest('base64')}`;
const streamsOf = (push: number): PushedStream[] =>
  ['a', 'b'].map((app, offset) => ({
    labels: { app, env: 'prod' },
    entries: Array.from({ length: ENTRIES_PER_PUSH / 2 }, (_, i) => {
      const entry = 2 * i + offset;
      return { ns: T0 + BigInt(entry) * NS_PER_SECOND + BigInt(push), line: lineOf(push, entry) };
    }),
  }));

for (const s3 of S3_PLACES) {
  describe.each(DYNAMODB_PLACES)(`push and query on S3 of ${s3.name}, DynamoDB of $name`, dynamoDb => {
    let storage: StorageOptions;
    let store: StoreOnStorage;
    beforeAll(async () => {
      storage = {
        kind: 's3',
        bucket: newName(),
        table: newName(),
        endpoint: s3.endpoint,
        dynamoDbEndpoint: dynamoDb.endpoint,
      };
      store = await startOn(storage, YAML);
    });
    afterAll(async () => {
      await store.stop();
    });

    const range = { start: `${T0}`, end: `${T0 + BigInt(ENTRIES_PER_PUSH) * NS_PER_SECOND}` };
    const linesOf = async (query: string): Promise<string[]> => {
      const found = await findEntries(store.client, { query, limit: '5000', ...range }, { tenant: TENANT });
      return found.map(({ line }) => line).sort();
    };
    const wanted = (keep: (push: number, entry: number) => boolean): string[] =>
      Array.from({ length: PUSHES * ENTRIES_PER_PUSH }, (_, i) => [
        Math.floor(i / ENTRIES_PER_PUSH),
        i % ENTRIES_PER_PUSH,
      ])
        .filter(([push, entry]) => keep(push, entry))
        .map(([push, entry]) => lineOf(push, entry))
        .sort();
    const fetchAll = async (): Promise<void> => {
      expect(await linesOf('{env="prod"}')).toEqual(wanted(() => true));
      expect(await linesOf('{app="b"} |= "push=3 "')).toEqual(
        wanted((push, entry) => push === 3 && entry % 2 === 1),
      );
      expect(await linesOf('{app="a"} | logfmt | entry < 10')).toEqual(
        wanted((_, entry) => entry % 2 === 0 && entry < 10),
      );
    };

    test('queries return every entry of concurrent pushes', async () => {
      const pushes = Array.from({ length: PUSHES }, (_, push) =>
        store.client.send({
          method: 'POST',
          path: '/loki/api/v1/push',
          headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT },
          body: jsonPush(streamsOf(push)),
        }),
      );
      for (const answer of await Promise.all(pushes)) expect([answer.status, answer.text]).toEqual([204, '']);
      await fetchAll();
      // Otherwise, this would have tested only the table.
      const { store: objects, close } = await openStorage(storage);
      expect((await objects.list('')).objects.length).toBeGreaterThan(0);
      await close();
    });

    test('a metric query counts the same entries', async () => {
      const answer = await getJson(
        store.client,
        '/api/v1/query',
        {
          query: 'sum by (app) (count_over_time({env="prod"}[400s]))',
          time: `${T0 + 400n * NS_PER_SECOND - 1n}`,
        },
        { tenant: TENANT },
      );
      const half = String((PUSHES * ENTRIES_PER_PUSH) / 2);
      expect(answer).toMatchObject({
        data: {
          resultType: 'vector',
          result: [
            { metric: { app: 'a' }, value: [expect.any(Number), half] },
            { metric: { app: 'b' }, value: [expect.any(Number), half] },
          ],
        },
      });
    });

    test('another process on the same bucket and table returns the same', async () => {
      await store.stop();
      store = await startOn(storage, YAML);
      await fetchAll();
      expect(
        await findEntries(store.client, { query: '{env="prod"}', ...range }, { tenant: 'somebody-else' }),
      ).toEqual([]);
    });
  });
}
