/**
 * Two tenants with everything equal but the name. Requests of one tenant to any endpoint show nothing of the
 * other, neither in responses nor in headers, messages and logs, and are the same with and without the other.
 */
import { expect, test } from '@jest/globals';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { type Asked, nameOf, requestsOf, rowsOf } from './calls.ts';
import { type Shown, startWorld, type World } from './world.ts';

const MINE = 'mine';
const THEIRS = 'theirs';
/** Occurs only in data of the other tenant. */
const MARKER = 'sesame';
const WORD = 'plain';
/** Routes that end a process come last. */
const ORDER = ROUTES.toSorted(
  (a, b) => Number(a.path.startsWith('/ingester')) - Number(b.path.startsWith('/ingester')),
);
/**
 * Information about a tenant that operators see next to its name, as in the reference: see
 * docs/dev/security-review.md.
 */
const NAMES_OF_GROUPS = /(?<=rule_group=")[^"]*/g;
/** These report on the process or the whole store: figures, and no words of a tenant. */
const isOfAll = ({ name }: Asked): boolean =>
  ROUTES.some(
    ({ access, ...route }) =>
      nameOf(route) === name &&
      (access.kind !== 'scope' || access.over === 'store') &&
      !name.includes('/format_query'),
  );

test.each(ROUTES.map(route => [nameOf(route)]))('%s has a row', name => {
  expect(rowsOf(name).map(([routes]) => String(routes))).toHaveLength(1);
});

/** Everything that a tenant can bring, and the jobs that work on it. */
async function bring(world: World, tenant: string, word: string): Promise<void> {
  for (const route of ROUTES) {
    const name = nameOf(route);
    if (
      !/^(POST|POST,PUT) \/(svc\/api\/v1\/(push|push\/jsonline|delete|rules\/\S+|cache\/\S+)|otlp\/v1\/logs|_bulk|aws\/firehose)$/.test(
        name,
      )
    ) {
      continue;
    }
    const [{ method, path, given }] = requestsOf(route, word, tenant);
    const { status, text } = await world.send(method, path, given);
    if (status >= 300) throw new Error(`${name}: ${status} ${text}`);
  }
}

async function fetchAll(world: World): Promise<{ asked: Asked; answer: Shown }[]> {
  const answers = [];
  for (const asked of ORDER.flatMap(route => requestsOf(route, WORD, MINE))) {
    answers.push({ asked, answer: await world.send(asked.method, asked.path, asked.given) });
  }
  return answers;
}

test('no response, header or log line of one tenant shows data of the other', async () => {
  const world = startWorld();
  await bring(world, THEIRS, MARKER);
  await bring(world, MINE, WORD);
  for (const job of ['rules', 'compaction', 'index-sync']) await world.run(job);
  // The other tenant sees its own: the marker is there to be found.
  const theirs = await world.send('GET', '/svc/api/v1/query_range', {
    rawQuery: new URLSearchParams({ query: '{app=~".+"}', since: '2h', limit: '1000' }).toString(),
    headers: { 'x-scope-orgid': THEIRS },
  });
  expect(theirs.text).toContain(MARKER);
  expect(
    (await world.send('GET', '/svc/api/v1/rules', { headers: { 'x-scope-orgid': THEIRS } })).text,
  ).toContain(MARKER);
  const answers = await fetchAll(world);
  for (const { asked, answer: given } of answers) {
    const answer = { ...given, text: given.text.replaceAll(NAMES_OF_GROUPS, '') };
    expect([asked.name, asked.path, JSON.stringify(answer).includes(MARKER)]).toEqual([
      asked.name,
      asked.path,
      false,
    ]);
    // None of these responses is an internal error.
    if (!asked.path.startsWith('/ingester'))
      expect([asked.name, answer.status, answer.text, answer.status < 500]).toEqual([
        asked.name,
        answer.status,
        answer.text,
        true,
      ]);
  }
  expect(answers.filter(({ answer }) => answer.text.includes(WORD)).length).toBeGreaterThan(20);
  expect(world.logged.join('\n')).not.toContain(MARKER);
});

test('responses of one tenant are the same for any actions of the other', async () => {
  const alone = startWorld();
  const beside = startWorld();
  await bring(alone, MINE, WORD);
  // Before, with and after; the same words, so that only the tenant distinguishes them.
  await bring(beside, THEIRS, WORD);
  await bring(beside, MINE, WORD);
  await bring(beside, THEIRS, `${WORD}er`);
  for (const job of ['rules', 'compaction', 'index-sync']) {
    await alone.run(job);
    await beside.run(job);
  }
  const [expected, got] = [await fetchAll(alone), await fetchAll(beside)];
  for (const [i, { asked, answer }] of got.entries()) {
    if (isOfAll(asked)) continue;
    expect([asked.name, asked.path, comparable(answer)]).toEqual([
      asked.name,
      asked.path,
      comparable(expected[i].answer),
    ]);
  }
});

/**
 * Removes random values and measured times: IDs, tickets, seconds of statistics, rates that follow from them,
 * and stored sizes of chunks, because their IDs are compressed with them.
 */
function comparable({ status, headers, text }: Shown) {
  const plain = text
    .replaceAll(
      /"(\w*(?:[Tt]ime|PerSecond|ms|Ms|seconds?|Seconds|stored_bytes|ingest|storage|queries|total))":\s*"?[-+.\de]+"?/g,
      '"$1":0',
    )
    .replaceAll(/[0-9a-f]{8,}/g, 'id');
  return { status, headers: { ...headers, 'content-length': '', 'x-delete-request-id': '' }, text: plain };
}
