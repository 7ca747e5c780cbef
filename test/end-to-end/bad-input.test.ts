/**
 * Wrong and hostile input over HTTP: it is refused with the right status and text, and after each of them the store
 * takes and gives entries as before.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findEntries } from './support/ask.ts';
import {
  ACCEPTED,
  labeled,
  MAX_BODY_BYTES,
  MAX_DECOMPRESSED_BYTES,
  many,
  metadata,
  NOW,
  REFUSED,
  type Sent,
  value,
} from './support/bad-input-rows.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'bad-input';

describe('bad input', () => {
  let store: TestStore;
  let probes = 0;

  beforeAll(async () => {
    store = await startStore(`
      auth_enabled: true
      distributor: { max_recv_msg_size: ${MAX_BODY_BYTES}, max_decompressed_size: ${MAX_DECOMPRESSED_BYTES} }
    `);
  });
  afterAll(() => store.stop());

  function push({ type = JSON_TYPE, encoding, tenant = TENANT, body }: Sent) {
    const headers: Record<string, string> = {};
    if (type !== null) headers['content-type'] = type;
    if (encoding !== undefined) headers['content-encoding'] = encoding;
    if (tenant !== null) headers['x-scope-orgid'] = tenant;
    return store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
  }

  /** Pushes a new entry and reads it back. */
  async function expectService(): Promise<void> {
    const line = `probe ${probes++}`;
    const tenant = 'prober';
    const answer = await push({
      tenant,
      body: jsonPush([{ labels: { app: 'probe' }, entries: [{ ns: NOW, line }] }]),
    });
    expect([answer.status, answer.text]).toEqual([204, '']);
    const query = { query: `{app="probe"} |= "${line}"`, start: `${NOW}`, end: `${NOW + 1n}` };
    const found = await findEntries(store.client, query, { tenant });
    expect(found.map(one => one.line)).toEqual([line]);
  }

  describe.each(REFUSED)('%s', (_, rows) => {
    test.each(rows.map(row => [row[0], row] as const))(
      '%s is refused',
      async (_name, [, sent, status, message]) => {
        const answer = await push(sent);
        expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
        expect(answer.text).toMatch(/^[^\n].*\n$/s);
        expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
        expect(answer.headers['x-content-type-options']).toBe('nosniff');
        await expectService();
      },
    );
  });

  test.each(ACCEPTED)('%s is accepted', async (_, sent) => {
    const answer = await push(sent);
    expect([answer.status, answer.text]).toEqual([204, '']);
    await expectService();
  });

  test('the valid part of a partly invalid push is stored, and sending it again harms nothing', async () => {
    const tenant = 'partly';
    const body = jsonPush([
      {
        labels: { app: 'a' },
        entries: [
          { ns: NOW, line: 'kept 1' },
          { ns: 0n, line: 'old' },
          { ns: 1n, line: 'old too' },
        ],
      },
      { labels: { app: 'b', ...many(20) }, entries: [{ ns: NOW, line: 'too many labels' }] },
      {
        labels: { app: 'c' },
        entries: [
          { ns: NOW, line: 'x'.repeat(262_145) },
          { ns: NOW + 1n, line: 'kept 2' },
        ],
      },
    ]);
    for (let round = 0; round < 2; round++) {
      const { status, text: message } = await push({ tenant, body });
      expect(status).toBe(400);
      expect(message).toContain(
        '2 errors like: entry for stream \'{app="a", service_name="a"}\' has timestamp too old',
      );
      expect(message).toContain('has 21 label names; limit 15');
      expect(message).toContain("max entry size '262144' bytes exceeded");
      expect(message.split('; ').filter(part => / errors? like: /.test(part))).toHaveLength(3);
      const query = { query: '{app=~".+"}', start: `${NOW - 1n}`, end: `${NOW + 10n}` };
      const found = await findEntries(store.client, query, { tenant });
      expect(found.map(one => one.line).sort()).toEqual(['kept 1', 'kept 2']);
    }
  });

  test('a request that cannot be parsed stores nothing, not even the entries before the mistake', async () => {
    const tenant = 'whole';
    const body = `{"streams":[{"stream":{"app":"x"},"values":[["${NOW}","first"],["${NOW}",7]]}]}`;
    expect((await push({ tenant, body })).status).toBe(400);
    const query = { query: '{app="x"}', start: `${NOW - 1n}`, end: `${NOW + 1n}` };
    expect(await findEntries(store.client, query, { tenant })).toEqual([]);
  });
});

describe('limits that are not the defaults', () => {
  test('requires a label of streams without discovery, and metadata may be forbidden', async () => {
    const store = await startStore(`
      auth_enabled: false
      limits_config: { discover_service_name: [], allow_structured_metadata: false }
    `);
    try {
      const push = (body: string) =>
        store.client.send({
          method: 'POST',
          path: '/loki/api/v1/push',
          headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': 'not # looked at' },
          body,
        });
      const bare = await push(labeled('{}'));
      expect([bare.status, bare.text]).toEqual([
        400,
        'error at least one label pair is required per stream\n',
      ]);
      const forbidden = await push(metadata({ a: 'b' }));
      expect([forbidden.status, forbidden.text]).toEqual([
        400,
        'stream \'{app="bad"}\' includes structured metadata, but this feature is disallowed. Please see `limits_config.allow_structured_metadata` or contact your Loki administrator to enable it\n',
      ]);
      expect((await push(value('"plain"'))).status).toBe(204);
      const found = await findEntries(store.client, {
        query: '{app="bad"}',
        start: `${NOW}`,
        end: `${NOW + 1n}`,
      });
      expect(found).toEqual([{ labels: { app: 'bad' }, ns: NOW, line: 'plain' }]);
    } finally {
      await store.stop();
    }
  });

  test('long lines may be cut instead', async () => {
    const store = await startStore(`
      auth_enabled: false
      limits_config: { max_line_size: 20, max_line_size_truncate: true, max_line_size_truncate_identifier: '[cut]' }
    `);
    try {
      const headers = { 'content-type': JSON_TYPE };
      const body = value(`"${'0123456789'.repeat(5)}"`);
      const answer = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
      expect(answer.status).toBe(204);
      const found = await findEntries(store.client, {
        query: '{app="bad"}',
        start: `${NOW}`,
        end: `${NOW + 1n}`,
      });
      expect(found.map(({ line }) => line)).toEqual(['012345678901234[cut]']);
    } finally {
      await store.stop();
    }
  });
});
