/** Metric queries of `query --stdin`, over an in-memory store. In a separate file of the bundle, because a store is large. */
import { type Labels, labelsToObject } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { CommandError } from './command-error.ts';
import { memoryStore } from './memory-store.ts';
import { type RangeAnswer, readAnswer } from './range-query.ts';
import { MAX_STDIN_LINE_BYTES } from './stdin-limits.ts';

/** Maximum input, which is held in memory. */
const MAX_METRIC_INPUT_BYTES = 256 * 1024 * 1024;
const PUSH_BYTES = 1_000_000;
const MAX_SERIES = 100_000;

const CONFIG: Config = {
  ...DEFAULT_CONFIG,
  limits: {
    ...DEFAULT_LIMITS,
    maxLineSize: MAX_STDIN_LINE_BYTES,
    maxQuerySeries: MAX_SERIES,
    // Both kinds of query see only the labels of the stream.
    discoverLogLevels: false,
    discoverServiceName: [],
  },
  logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
};

/** Values at the end of the input, from an in-memory store with all of it. */
export async function stdinMetric(
  input: AsyncIterable<readonly Buffer[]>,
  { query, labels }: { readonly query: string; readonly labels: Labels },
): Promise<RangeAnswer> {
  const startNs = SYSTEM_CLOCK.nowNs();
  const store = memoryStore(CONFIG, startNs);
  const stream = labelsToObject(labels);
  let values: [string, string][] = [];
  let bytes = 0;
  let totalBytes = 0;
  let timeNs = startNs;
  const pushAll = async () => {
    if (values.length > 0) await store.push(JSON.stringify({ streams: [{ stream, values }] }));
    values = [];
    bytes = 0;
  };
  for await (const lines of input) {
    for (const line of lines) {
      values.push([`${timeNs++}`, line.toString('utf8')]);
      bytes += line.length;
      totalBytes += line.length;
    }
    if (totalBytes > MAX_METRIC_INPUT_BYTES)
      throw new CommandError(
        'a metric query over --stdin accepts up to 256 MiB; push the file to a store instead',
      );
    if (bytes >= PUSH_BYTES) await pushAll();
  }
  await pushAll();
  const params = new URLSearchParams({ query, time: `${timeNs}`, limit: `${MAX_SERIES}` });
  return readAnswer(await store.get('/loki/api/v1/query', params), 'backward');
}
