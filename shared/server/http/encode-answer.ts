/**
 * Encodes query results as JSON (docs/dev/wire-format.md#envelope, #label-categories; docs/dev/logql-semantics.md#encoding-of-results). The text is
 * written in parts, because a result can have 100,000 entries. `resultType` comes before `result`, as
 * Grafana's stream parser needs it.
 */

import type { Labels } from '../../base/model/labels.ts';
import { formatPlain } from '../../base/model/number.ts';
import type { MetricResult } from '../../execution/metrics/result.ts';
import type { QueryAnswer } from '../../read/query/engine.ts';
import type { LogStream } from '../../read/query/log-query.ts';
import type { Explained } from './encode-explain.ts';
import { statisticsTree } from './encode-statistics.ts';
import { LabelsEncoder } from './labels-encoder.ts';

interface EncodingOptions {
  /** Values of the header X-Loki-Response-Encoding-Flags, as sent. */
  readonly flags: readonly string[];
  /** Warnings about limits that cut the result, in addition to those of the result. */
  readonly warnings?: readonly string[] | undefined;
  /** Explanation to add. Default: none. */
  readonly explained?: Explained | undefined;
}

export const CATEGORIZE_FLAG = 'categorize-labels';

export function encodeAnswer(
  answer: Pick<QueryAnswer, 'result' | 'statistics' | 'execNs'>,
  { flags, warnings: cuts = [], explained }: EncodingOptions,
): string {
  const { result } = answer;
  const parts: string[] = ['{"status":"success",'];
  const warnings = 'warnings' in result ? [...cuts, ...result.warnings] : cuts;
  if (warnings.length > 0) parts.push(`"warnings":${JSON.stringify(warnings)},`);
  parts.push(`"data":{"resultType":"${result.kind}",`);
  if (result.kind === 'streams') {
    if (flags.length > 0) parts.push(`"encodingFlags":${JSON.stringify(flags)},`);
    parts.push('"result":');
    encodeStreams(parts, result.streams, flags.includes(CATEGORIZE_FLAG));
  } else {
    parts.push('"result":');
    encodeMetric(parts, result);
  }
  parts.push(`,"stats":${JSON.stringify(statisticsTree(answer))}`);
  if (explained !== undefined) parts.push(`,"explain":${JSON.stringify(explained)}`);
  parts.push('}}');
  return parts.join('');
}

function encodeStreams(parts: string[], streams: readonly LogStream[], categorize: boolean): void {
  const encoder = new LabelsEncoder();
  parts.push('[');
  streams.forEach((stream, i) => {
    parts.push(`${i > 0 ? ',' : ''}{"stream":${encoder.encode(stream.labels, shownInStream)},"values":[`);
    stream.entries.forEach(({ timeNs, line, structuredMetadata, parsed }, j) => {
      const categories = categorize ? `,${categoriesJson(encoder, structuredMetadata, parsed)}` : '';
      parts.push(`${j > 0 ? ',' : ''}["${timeNs}",${JSON.stringify(line.toWellFormed())}${categories}]`);
    });
    parts.push(']}');
  });
  parts.push(']');
}

function categoriesJson(
  encoder: LabelsEncoder,
  structuredMetadata: Labels | undefined,
  parsed: Labels | undefined,
): string {
  const parts: string[] = [];
  if (structuredMetadata?.length) parts.push(`"structuredMetadata":${encoder.encode(structuredMetadata)}`);
  if (parsed?.length) parts.push(`"parsed":${encoder.encode(parsed)}`);
  return `{${parts.join()}}`;
}

/**
 * Replaces U+FFFD in the labels of a result stream by a space, as in the reference. A byte that is not UTF-8
 * is U+FFFD.
 */
function shownInStream(value: string): string {
  return value.replaceAll('\ufffd', ' ').toWellFormed();
}

function encodeMetric(parts: string[], result: MetricResult): void {
  const encoder = new LabelsEncoder();
  switch (result.kind) {
    case 'scalar':
      parts.push(sampleJson(result.timeMs, result.value));
      return;
    case 'vector':
      parts.push('[');
      result.samples.forEach(({ labels, value }, i) => {
        const comma = i > 0 ? ',' : '';
        parts.push(
          `${comma}{"metric":${encoder.encode(labels)},"value":${sampleJson(result.timeMs, value)}}`,
        );
      });
      parts.push(']');
      return;
    case 'matrix':
      parts.push('[');
      result.series.forEach(({ labels, timesMs, values }, i) => {
        parts.push(`${i > 0 ? ',' : ''}{"metric":${encoder.encode(labels)},"values":[`);
        for (let j = 0; j < values.length; j++) {
          parts.push(`${j > 0 ? ',' : ''}${sampleJson(timesMs[j], values[j])}`);
        }
        parts.push(']}');
      });
      parts.push(']');
  }
}

/** Seconds with up to three decimals, and the value as a string. */
function sampleJson(timeMs: number, value: number): string {
  return `[${timeMs / 1000},"${formatPlain(value)}"]`;
}
