/** What the start of a function loads: no package or part that its first request does not use. Counted in files, because time depends on the machine. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyFunctionName, StackFunctionName } from '../../functions/groups.ts';
import { httpApiEvent } from '../functions/events.ts';
import type { Built } from './build.ts';
import { type FakeServices, startFakeServices } from './fake-services.ts';

interface Loaded {
  readonly statuses: readonly number[];
  readonly files: readonly string[];
  readonly usesFetch: boolean;
}

const MODULE = 'index.js';
/** Start of the line with the result, among lines of the log. See loaded.mjs. */
const RESULT = 'loaded: ';
const LOADED = fileURLToPath(new URL('loaded.mjs', import.meta.url));
/** Parts of a query. */
const READ = ['part-day-index.js', 'part-read.js'];
const headers = { 'x-scope-orgid': 'start', 'content-type': 'application/json' };

/** Events at the present time, so that no deadline is over. */
const push = () =>
  httpApiEvent({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers,
    body: JSON.stringify({
      streams: [{ stream: { app: 'a' }, values: [[`${Date.now()}000000`, 'a line']] }],
    }),
    timeEpoch: Date.now(),
  });
const query = (logql: string) =>
  httpApiEvent({
    path: '/loki/api/v1/query_range',
    headers,
    query: `query=${encodeURIComponent(logql)}`,
    timeEpoch: Date.now(),
  });
const LABELS = httpApiEvent({ path: '/loki/api/v1/labels', headers, timeEpoch: Date.now() });

export function startTests(built: () => Built): void {
  describe('the start of a function', () => {
    let services: FakeServices;
    beforeAll(async () => {
      services = await startFakeServices();
    });
    afterAll(() => services?.close());

    async function loadedBy(
      name: AnyFunctionName | StackFunctionName,
      events: readonly unknown[],
      given: Record<string, string> = {},
    ): Promise<Loaded> {
      const child = spawn(process.execPath, [LOADED, join(built().folder, 'bundles', name, MODULE)], {
        env: {
          AWS_REGION: 'eu-central-1',
          AWS_ACCESS_KEY_ID: 'none',
          AWS_SECRET_ACCESS_KEY: 'none',
          LOGBOOM_BUCKET: 'chunks',
          LOGBOOM_TABLE: 'catalog',
          LOGBOOM_ENDPOINT: services.url,
          LOGBOOM_TAIL_FUNCTION: 'tails',
          LOGBOOM_QUERY_WORKER: 'worker',
          LOGBOOM_CONNECTIONS_ENDPOINT: services.url,
          ...given,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.end(JSON.stringify(events));
      const errors = text(child.stderr);
      try {
        for await (const line of createInterface(child.stdout)) {
          if (line.startsWith(RESULT)) return JSON.parse(line.slice(RESULT.length)) as Loaded;
        }
      } finally {
        // Lambda does not end a function from inside either, and Node.js can hang while it exits.
        child.kill('SIGKILL');
      }
      throw new Error(`no result: ${await errors}`);
    }

    test.each([
      ['push', () => [push()], [204], ['part-write.js']],
      ['query', () => [query('{app="a"} |= "line"')], [200], READ],
      ['status', () => [httpApiEvent()], [200], []],
      // A run of a job is a line of the log.
      [
        'maintenance',
        () => [{ job: 'compaction' }],
        [null],
        ['part-day-index.js', 'part-upkeep.js', 'pino.js'],
      ],
      ['query-worker', () => [], [], []],
      ['tail-connect', () => [], [], READ],
      ['tail-disconnect', () => [], [], READ],
      ['tail-dispatch', () => [{}], [null], READ],
      ['timer', () => [], [], []],
      ['authorizer', () => [], [], []],
      ['first-token', () => [], [], []],
    ] as const)(
      '%s loads no file that its first request does not use',
      async (name, events, statuses, files) => {
        expect(await loadedBy(name, events())).toEqual({ statuses, files, usesFetch: false });
      },
    );

    test.each([
      [
        'a regular expression loads its engine',
        query('{app=~"a.+c|d.*"} |~ "l[iy]ne$"'),
        [...READ, 're2js.js'],
      ],
      [
        'a template loads its interpreter',
        query('{app="a"} | line_format "{{.app}}"'),
        [...READ, 'part-template.js'],
      ],
      ['a list of labels loads its handlers', LABELS, ['part-insight.js', ...READ]],
    ])('%s, and nothing else', async (_, event, expected) => {
      const { statuses, files } = await loadedBy('query', [event]);
      expect({ statuses, files: files.toSorted() }).toEqual({ statuses: [200], files: expected.toSorted() });
    });

    test('a configuration loads the packages that read and check it', async () => {
      const configured = { LOGBOOM_CONFIG_YAML: 'limits_config: {max_line_size: 1MB}' };
      const { statuses, files } = await loadedBy('push', [push()], configured);
      expect({ statuses, files }).toEqual({ statuses: [204], files: ['part-write.js', 'yaml.js', 'zod.js'] });
    });
  });
}
