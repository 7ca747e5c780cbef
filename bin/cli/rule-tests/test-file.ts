/**
 * YAML of rule unit tests (docs/reference/rules.md). Scalars keep their text, as in rule files, so that a
 * label `version: 1.0` stays `1.0`. Times are durations since the start of the test.
 */
import { isNode, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { parsePrometheusDuration } from '../../../shared/base/model/duration.ts';
import { parseGoFloat } from '../../../shared/base/model/number.ts';
import { NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';
import { parseRfc3339 } from '../../../shared/server/http/timestamp.ts';
import { CommandError } from '../command-error.ts';

/** Maximum entries of one test. All are held in memory, and a test that needs more is not a unit test. */
export const MAX_TEST_ENTRIES = 100_000;
/** Maximum evaluations of a group in a test, each with queries: a week of minutes. */
export const MAX_TEST_INSTANTS = 10_080;
const DEFAULT_START = '2026-01-01T00:00:00Z';

/** Nanoseconds of a duration. */
const duration = z.string().transform((text, context) => {
  try {
    return parsePrometheusDuration(text);
  } catch {
    context.addIssue(`"${text}" is not a duration such as 30s, 5m or 1h30m`);
    return z.NEVER;
  }
});

const interval = duration.refine(ns => ns >= NS_PER_SECOND, 'an interval must be at least 1s');

const instant = z.string().transform((text, context) => {
  const ns = parseRfc3339(text);
  if (ns !== undefined) return ns;
  context.addIssue(`"${text}" is not a time such as ${DEFAULT_START}`);
  return z.NEVER;
});

const number = z.string().transform((text, context) => {
  const value = parseGoFloat(text);
  if (value !== undefined) return value;
  context.addIssue(`"${text}" is not a number`);
  return z.NEVER;
});

const texts = z.record(z.string(), z.string());

/** Parses `10s x 30`: 30 entries, 10 s apart. */
const series = z.string().transform((text, context) => {
  const match = /^(\S+) x ([1-9]\d{0,5})$/.exec(text);
  const stepNs = match === null ? undefined : duration.safeParse(match[1]).data;
  if (match !== null && stepNs !== undefined && stepNs > 0n) return { stepNs, count: Number(match[2]) };
  context.addIssue(`"${text}" is not written like "10s x 30"`);
  return z.NEVER;
});

const entry = z.strictObject({
  at: duration.default(0n),
  every: series.default({ stepNs: 0n, count: 1 }),
  line: z.string(),
  metadata: texts.default({}),
});

const input = z.strictObject({
  stream: texts.refine(labels => Object.keys(labels).length > 0, 'a stream needs at least one label'),
  entries: z.array(entry).min(1, 'at least one entry is required'),
});

const expectedAlert = z.strictObject({
  state: z.enum(['pending', 'firing'], 'pending or firing').default('firing'),
  labels: texts.default({}),
  /** Compared only if present. */
  annotations: texts.optional(),
  value: number.optional(),
});

const expectedSample = z.strictObject({ labels: texts.default({}), value: number });

const alertCheck = z.strictObject({ at: duration, alert: z.string(), expect: z.array(expectedAlert) });
const sampleCheck = z.strictObject({ at: duration, record: z.string(), expect: z.array(expectedSample) });

const ruleTest = z
  .strictObject({
    name: z.string().min(1, 'a test needs a name'),
    start: instant.default(parseRfc3339(DEFAULT_START) as bigint),
    evaluation_interval: interval.default(60n * NS_PER_SECOND),
    external_labels: texts.default({}),
    external_url: z.string().default(''),
    input: z.array(input).default([]),
    alerts: z.array(alertCheck).default([]),
    samples: z.array(sampleCheck).default([]),
  })
  .refine(({ alerts, samples }) => alerts.length + samples.length > 0, 'the test has no expectations')
  .refine(one => entriesOf(one) <= MAX_TEST_ENTRIES, `a test has at most ${MAX_TEST_ENTRIES} entries`);

const testFile = z.strictObject({
  rule_files: z.array(z.string()).min(1, 'at least one rule file is required'),
  tests: z.array(ruleTest).min(1, 'at least one test is required'),
});

type RuleTestFile = z.output<typeof testFile>;
export type RuleTest = z.output<typeof ruleTest>;
export type AlertCheck = z.output<typeof alertCheck>;
export type SampleCheck = z.output<typeof sampleCheck>;

function entriesOf({ input: streams }: { input: readonly z.output<typeof input>[] }): number {
  return streams.reduce(
    (sum, { entries }) => sum + entries.reduce((of, { every }) => of + every.count, 0),
    0,
  );
}

/** Parses a test file. Throws CommandError with every problem and its line. */
export function readTestFile(file: string, text: string): RuleTestFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: 'failsafe', lineCounter: lines, logLevel: 'silent' });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const [broken] = document.errors;
  if (broken !== undefined) {
    throw new CommandError(`${file}:${lineAt(broken.pos[0])}: ${broken.message.split('\n', 1)[0]}`);
  }
  const lineOf = (path: readonly PropertyKey[]): number => {
    const node: unknown = document.getIn(path, true);
    if (isNode(node) && node.range) return lineAt(node.range[0]);
    return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
  };
  const result = testFile.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => ({
    line: lineOf(path),
    text: path.length === 0 ? message : `${pathText(path)}: ${message}`,
  }));
  problems.sort((a, b) => a.line - b.line);
  throw new CommandError(problems.map(problem => `${file}:${problem.line}: ${problem.text}`).join('\n'));
}

/** Path such as `tests[0].alerts[1].at`. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}
