/** Level detection at the edges of docs/dev/wire-format.md#detected_level: empty values, an empty list of fields. */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { acceptedEntries } from './entries.ts';

const NOW = 1_704_164_645_500_000_000n;

/** Values of `detected_level` of one entry. */
function levelsOf(line: string, metadata: Record<string, string>, logLevelFields?: readonly string[]) {
  const streams = [{ stream: { zone: 'z' }, values: [[String(NOW), line, metadata]] }];
  const limits = { ...DEFAULT_LIMITS, ...(logLevelFields && { logLevelFields }) };
  const columns = atOnce(decodeJsonPush(Buffer.from(JSON.stringify({ streams }))));
  const { accepted } = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: NOW }));
  const [entry] = acceptedEntries(accepted);
  return entry.metadata.filter(([name]) => name === 'detected_level').map(([, value]) => value);
}

// [line, metadata, fields, levels]
const rows: [string, Record<string, string>, string[] | undefined, string[]][] = [
  ['level=warn', {}, undefined, ['warn']],
  ['level=warn', {}, [], ['warn']],
  ['level=warn', {}, ['other'], ['warn']],
  ['level=wrn', {}, ['other'], ['unknown']],
  ['level=warn', { level: 'ERR' }, undefined, ['error']],
  ['level=warn', { level: '' }, undefined, ['warn']],
  ['level=warn', { severity_number: '17' }, undefined, ['error']],
  ['level=warn', { severity_number: '' }, undefined, ['warn']],
  ['level=warn', { severity_number: 'x' }, undefined, ['info']],
];
test.each(rows)('detects the level of %s %j %j', (line, metadata, fields, want) => {
  expect(levelsOf(line, metadata, fields)).toEqual(want);
});
