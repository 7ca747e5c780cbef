/**
 * Query endpoints as functions. Times are Unix milliseconds, except names that end in `Ns` (nanoseconds as
 * text).
 */
import { fetchJson } from './client.ts';
import type { DetectedField, Labels, QueryAnswer, VectorSample } from './types.ts';

export interface MsRange {
  readonly fromMs: number;
  readonly toMs: number;
}

interface LogsRequest {
  readonly query: string;
  /** Inclusive. */
  readonly startNs: string;
  /** Exclusive. */
  readonly endNs: string;
  readonly limit: number;
  readonly direction: 'forward' | 'backward';
}

const CATEGORIZED = { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' };

export function nsOf(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

/** Entries of a range, or samples of a metric query. */
export function fetchLogs(asked: LogsRequest, signal?: AbortSignal): Promise<QueryAnswer> {
  const { query, startNs, endNs, limit, direction } = asked;
  const params = { query, start: startNs, end: endNs, limit, direction };
  return fetchJson('/svc/api/v1/query_range', { params, headers: CATEGORIZED, signal });
}

interface MetricsRequest extends MsRange {
  readonly query: string;
  readonly stepMs: number;
}

export function fetchMetric(asked: MetricsRequest, signal?: AbortSignal): Promise<QueryAnswer> {
  const { query, fromMs, toMs, stepMs } = asked;
  const params = { query, start: nsOf(fromMs), end: nsOf(toMs), step: stepMs / 1000 };
  return fetchJson('/svc/api/v1/query_range', { params, signal });
}

/** Values of a metric query at one time. */
export async function fetchInstant(
  query: string,
  timeMs: number,
  signal?: AbortSignal,
): Promise<readonly VectorSample[]> {
  const params = { query, time: nsOf(timeMs) };
  const answer = await fetchJson<{ data: { result: VectorSample[] } }>('/svc/api/v1/query', {
    params,
    signal,
  });
  return answer.data.result;
}

/** Label names of the streams that match `selector`, or of all streams. */
export async function fetchLabelNames(
  { fromMs, toMs }: MsRange,
  selector?: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const params = { start: nsOf(fromMs), end: nsOf(toMs), query: selector };
  return (await fetchJson<{ data?: string[] }>('/svc/api/v1/labels', { params, signal })).data ?? [];
}

export async function fetchLabelValues(
  name: string,
  { fromMs, toMs }: MsRange,
  selector?: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const params = { start: nsOf(fromMs), end: nsOf(toMs), query: selector };
  const path = `/svc/api/v1/label/${encodeURIComponent(name)}/values`;
  return (await fetchJson<{ data?: string[] }>(path, { params, signal })).data ?? [];
}

/** Fields of lines and structured metadata. */
export async function fetchDetectedFields(
  query: string,
  { fromMs, toMs }: MsRange,
  signal?: AbortSignal,
): Promise<readonly DetectedField[]> {
  const params = { query, start: nsOf(fromMs), end: nsOf(toMs), line_limit: 200 };
  const path = '/svc/api/v1/detected_fields';
  return (await fetchJson<{ fields?: DetectedField[] }>(path, { params, signal })).fields ?? [];
}

interface VolumeRequest extends MsRange {
  readonly selector: string;
  /** Labels to group the volume by. */
  readonly by: readonly string[];
  readonly limit: number;
}

export interface Volume {
  readonly labels: Labels;
  readonly bytes: number;
}

/** Bytes by label values, largest first. */
export async function fetchVolume(asked: VolumeRequest, signal?: AbortSignal): Promise<readonly Volume[]> {
  const { selector, by, limit, fromMs, toMs } = asked;
  const params = { query: selector, targetLabels: by.join(','), limit, start: nsOf(fromMs), end: nsOf(toMs) };
  const answer = await fetchJson<{ data: { result: VectorSample[] } }>('/svc/api/v1/index/volume', {
    params,
    signal,
  });
  return answer.data.result
    .map(({ metric, value }) => ({ labels: metric, bytes: Number(value[1]) }))
    .sort((a, b) => b.bytes - a.bytes);
}
