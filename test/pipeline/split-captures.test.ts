/** Captures from columns of split lines are those of the whole lines, and are found without joining these. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CaptureWants, PageCaptures } from '../../shared/base/model/page-captures.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import { footerOf, rowsOf as viewOf } from '../../shared/storage/chunk/reader.ts';
import type { ChunkRows } from '../../shared/storage/chunk/rows.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { COMPACTION_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { capturesOfLine, textsOf, wantsOf } from '../support/pattern-captures.ts';

const HEAD = { id: '0'.repeat(32), tenant: 't', day: 20_000, level: 1, createdMs: 0, inputs: [] };
/** Pages of fewer bytes are not split. */
const LINE_BYTES = 66 * 1024;

/** Numbers that depend on the seed alone. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed | 1;
  return below => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    state ^= state >>> 15;
    return (state >>> 0) % below;
  };
}

type Random = ReturnType<typeof randomNumbers>;
const pick = (random: Random, texts: readonly string[]) => texts[random(texts.length)];

/** Values as logs have them; those at the end contain parts of literals, or are empty. */
const VALUES: Readonly<Record<string, (random: Random) => string>> = {
  ip: random => `10.${random(256)}.${random(256)}.${random(256)}`,
  number: random => `${random(100_000)}`,
  signed: random => `${random(2000) - 1000}`,
  decimal: random => `${random(100)}.${random(1000)}`,
  status: random => pick(random, ['200', '200', '200', '404', '500']),
  hex: random => (0x1_0000_0000 + random(0x1_0000_0000)).toString(16).slice(1),
  path: random => `/product/${random(3000)}${pick(random, ['', '', '_thumb.webp'])}`,
  request: random => `${pick(random, ['GET', 'PUT'])} /items/${random(500)} HTTP/1.1`,
  freeRequest: random => `GET /${random(1e9).toString(36)}/${random(1e9).toString(36)} HTTP/${random(2)}`,
  agent: random => pick(random, ['curl/8.9.1', 'Mozilla/5.0 (X11; Linux x86_64) Gecko', '-', 'kube-probe']),
  oddRequest: random =>
    random(400) === 0 ? pick(random, ['-', '', 'GET  /', 'a b c d']) : VALUES.request(random),
  host: random => pick(random, ['web-1', 'web-2', 'db - - a', 'x"', '" ', ' - ', '-', 'a=b']),
  bytes: random => pick(random, ['\xff\xfe', '\0', '\x01 \0', 'é', '" \xff']),
  empty: random => pick(random, ['', '', 'x', ' ', '"']),
};
/** Most templates have values that show where a capture ends. */
const valueName = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('ip', 'number', 'status', 'hex', 'path', 'request', 'agent') },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(VALUES)) },
);
const CONSTANTS = [' - - [', '] "', '" ', ' ', '"', ': ', ' "', '-', '', '=', ' - ', '  ', 'GET '];

interface Template {
  readonly texts: readonly string[];
  readonly values: readonly string[];
}

const template: fc.Arbitrary<Template> = fc
  .array(fc.tuple(valueName, fc.constantFrom(...CONSTANTS)), {
    minLength: 1,
    maxLength: 6,
  })
  .chain(parts =>
    fc.constantFrom('', 'level=', '[', 'a long constant text: ').map(first => ({
      texts: [first, ...parts.map(([, text]) => text)],
      values: parts.map(([value]) => value),
    })),
  );

function linesOf(templates: readonly Template[], seed: number): Buffer[] {
  const random = randomNumbers(seed);
  const lines: Buffer[] = [];
  for (let bytes = 0; bytes < LINE_BYTES; bytes += lines.at(-1)!.length + 1) {
    const { texts, values } = templates[random(templates.length)];
    const line = texts.map((text, i) => (i === 0 ? text : VALUES[values[i - 1]](random) + text)).join('');
    lines.push(Buffer.from(line, 'latin1'));
    if (lines.length > 4000) break;
  }
  return lines;
}

/** Patterns of the constant texts of a template, some of them shorter, longer or missing. */
const pattern = ({ texts }: Template): fc.Arbitrary<CaptureWants> =>
  fc
    .record({
      lead: fc.constantFrom('', texts[0], `${texts[0]}1`, 'x'),
      literals: fc
        .tuple(
          ...texts
            .slice(1)
            .map(text =>
              fc.oneof(
                { weight: 6, arbitrary: fc.constant(text) },
                { weight: 1, arbitrary: fc.constantFrom('', ...CONSTANTS) },
                { weight: 1, arbitrary: fc.constant(text.slice(0, 1)) },
                { weight: 1, arbitrary: fc.constant(`${text}${text}`) },
              ),
            ),
        )
        .map(list => list.filter(text => text.length > 0)),
    })
    .chain(({ lead, literals }) =>
      fc
        .uniqueArray(fc.nat(literals.length), { minLength: 1, maxLength: 3 })
        .map(captures => wantsOf(lead, literals, captures)),
    );

function rowsOf(lines: readonly Buffer[]): ChunkRows {
  const rows = lines.length;
  const ends = new Uint32Array(rows + 1);
  for (const [i, line] of lines.entries()) ends[i + 1] = ends[i] + line.length;
  return {
    streams: [{ labels: [{ name: 'app', value: 'x' }], text: '{app="x"}' }],
    rows,
    streamOf: new Uint32Array(rows),
    times: Float64Array.from({ length: rows }, (_, i) => i),
    sources: [Buffer.concat(lines)],
    sourceOf: new Uint16Array(rows),
    lineStart: ends.slice(0, rows),
    lineEnd: ends.slice(1),
    names: [],
    values: [],
    firstPair: new Uint32Array(rows + 1),
    pairName: new Uint32Array(0),
    pairValue: new Uint32Array(0),
  };
}

async function pageOf(lines: readonly Buffer[]): Promise<PageColumns> {
  const { parts, bytes } = await writeChunk(HEAD, rowsOf(lines), COMPACTION_COMPRESSION);
  const object = Buffer.concat(parts, bytes);
  const footer = footerOf(object, 'chunk');
  expect(footer.pages).toHaveLength(1);
  const columns = new PageColumns(footer, footer.pages[0], 'chunk');
  columns.add(0, object);
  return columns;
}

function request(columns: PageColumns, wants: CaptureWants): PageCaptures | undefined {
  const rows = viewOf(columns, { lines: 'bytes', metadata: new Set() });
  return rows.captures!(wants, rows.runs, rows.rows);
}

test('captures of any templates are those of the lines', async () => {
  let asked = 0;
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(
      fc
        .array(template, { minLength: 1, maxLength: 3 })
        .chain(templates =>
          fc.tuple(
            fc.constant(templates),
            fc.integer(),
            fc.array(fc.constantFrom(...templates).chain(pattern), { minLength: 6, maxLength: 6 }),
          ),
        ),
      async ([templates, seed, patterns]) => {
        const lines = linesOf(templates, seed);
        const columns = await pageOf(lines);
        for (const wants of patterns) {
          asked++;
          const found = request(columns, wants);
          if (found === undefined) continue;
          answered++;
          const texts = textsOf(found, lines.length, wants.captures.length);
          expect(texts).toEqual(lines.map(line => capturesOfLine(line.latin1Slice(), wants)));
        }
        // Lines that are read afterwards are whole.
        expect(columns.lines.equals(Buffer.concat(lines))).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
  expect(answered).toBeGreaterThan(asked / 10);
});
