/** Status of the process that serves the page, and of the store. */
import type { ConfigTree } from '../values/config-paths.ts';
import { type MetricSample, metricSamples } from '../values/metrics-text.ts';
import { fetchJson, fetchText } from './client.ts';
import { ApiError } from './errors.ts';

const JSON_ONLY = { Accept: 'application/json' };

interface BuildInfo {
  /** API version. */
  readonly version: string;
  /** Revision, with the version of Logboom. */
  readonly revision: string;
  /** Runtime version. */
  readonly goVersion: string;
}

export function fetchBuildInfo(signal?: AbortSignal): Promise<BuildInfo> {
  return fetchJson('/svc/api/v1/status/buildinfo', { signal });
}

interface Readiness {
  readonly isReady: boolean;
  /** Reason why it is not ready. */
  readonly reason: string;
}

/** Readiness. "Not ready" is a result, not an error. */
export async function fetchReady(signal?: AbortSignal): Promise<Readiness> {
  try {
    return { isReady: true, reason: await fetchText('/ready', { signal }) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return { isReady: false, reason: error.message };
    throw error;
  }
}

interface ServiceStatus {
  readonly name: string;
  readonly state: string;
}

export async function fetchServices(signal?: AbortSignal): Promise<readonly ServiceStatus[]> {
  const text = await fetchText('/services', { signal });
  return text.split('\n').flatMap(line => {
    const [name, state] = line.split(' => ');
    return state === undefined ? [] : [{ name, state }];
  });
}

interface Member {
  readonly id: string;
  readonly state: string;
  readonly address: string;
  /** Last heartbeat, RFC 3339. */
  readonly timestamp: string;
  readonly registered_timestamp: string;
  readonly zone: string;
}

interface Ring {
  readonly name: string;
  /** Undefined if this process does not show the ring. */
  readonly ids: ReadonlySet<string> | undefined;
}

export interface Members {
  readonly members: readonly Member[];
  readonly rings: readonly Ring[];
}

const RINGS = [
  ['Distributor', '/distributor/ring'],
  ['Ingester', '/ring'],
  ['Query frontend', '/scheduler/ring'],
  ['Index gateway', '/indexgateway/ring'],
  ['Ruler', '/ruler/ring'],
  ['Compactor', '/compactor/ring'],
] as const;

/** All members, and the members of each ring. */
export async function fetchMembers(signal?: AbortSignal): Promise<Members> {
  const [members, ...rings] = await Promise.all([
    fetchRing('/memberlist', signal),
    ...RINGS.map(async ([name, path]): Promise<Ring> => {
      try {
        return { name, ids: new Set((await fetchRing(path, signal)).map(({ id }) => id)) };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return { name, ids: undefined };
        throw error;
      }
    }),
  ]);
  return { members, rings };
}

async function fetchRing(path: string, signal?: AbortSignal): Promise<readonly Member[]> {
  return (await fetchJson<{ shards: Member[] }>(path, { headers: JSON_ONLY, signal })).shards;
}

export interface JobRun {
  readonly started: string;
  readonly ended: string;
  /** Duration in Go's format: `754ms`. */
  readonly duration: string;
  /** False if work is left for the next run. */
  readonly done: boolean;
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

export interface Job {
  readonly name: string;
  readonly interval: string;
  readonly last_run: JobRun | null;
}

interface BoundedCount {
  readonly count: number;
  readonly at_least: boolean;
}

interface Maintenance {
  readonly jobs: readonly Job[];
  readonly backlog: {
    readonly outstanding_days: BoundedCount;
    readonly oldest_announcement: string | null;
    readonly garbage_lists: BoundedCount;
  };
}

export function fetchMaintenance(signal?: AbortSignal): Promise<Maintenance> {
  return fetchJson('/svc/api/v1/status/maintenance', { signal });
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export async function fetchLogLevel(signal?: AbortSignal): Promise<string> {
  const { message } = await fetchJson<{ message: string }>('/log_level', { signal });
  return message.slice(message.lastIndexOf(' ') + 1);
}

export async function setLogLevel(level: string): Promise<void> {
  await fetchText('/log_level', { method: 'POST', params: { log_level: level } });
}

type ConfigMode = 'full' | 'diff';

/** @param section path of a section; empty for the whole configuration */
export function fetchConfig(
  { mode, section }: { readonly mode: ConfigMode; readonly section: string },
  signal?: AbortSignal,
): Promise<ConfigTree> {
  return fetchJson('/config', { params: { mode, q: section }, headers: JSON_ONLY, signal });
}

/** @param names names of the metrics to read */
export async function fetchMetrics(
  names: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<readonly MetricSample[]> {
  return metricSamples(await fetchText('/metrics', { signal }), names);
}
