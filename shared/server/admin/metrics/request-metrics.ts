/**
 * Metrics of requests by route, as the reference's dashboards need them (docs/dev/wire-format.md#metrics). Route
 * and method come from a fixed set, whatever clients send. A path that matches no route is `other`.
 */
import type { Counter, Gauge, Histogram } from 'prom-client';
import { OTHER } from './bounded-names.ts';
import type { MetricsRegistry } from './registry.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
/** The reference's buckets, seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100];
const MIB = 1024 * 1024;
/** The reference's buckets, bytes. */
const BODY_BYTES = [1, 2.5, 5, 10, 25, 50, 100, 250].map(mib => mib * MIB);
/** Cached metrics with prepared labels: routes times methods times statuses that occur in practice. */
const MAX_CACHED = 2000;

type MetricLabel = 'method' | 'route' | 'status_code' | 'ws';
type RouteLabel = 'method' | 'route';

interface ObservedRequest {
  readonly method: string;
  /** Path template of the route; `undefined` if none matches. */
  readonly path: string | undefined;
  readonly bodyBytes: number;
  /** True for a WebSocket, which stays open. */
  readonly ws?: boolean;
}

/** Ends a running request. Call it once. */
export type EndOfRequest = (answer: { readonly status: number; readonly bytes: number }) => void;

export interface RequestObserver {
  begin(request: ObservedRequest): EndOfRequest;
  /** Counts a request that failed because of a defect. */
  defect(): void;
}

/** No-op observer. */
export const NO_REQUEST_OBSERVER: RequestObserver = { begin: () => () => undefined, defect: () => undefined };

interface Observe {
  observe(value: number): void;
}

export class RequestMetrics implements RequestObserver {
  readonly #seconds: Histogram<MetricLabel>;
  readonly #requestBytes: Histogram<RouteLabel>;
  readonly #responseBytes: Histogram<RouteLabel>;
  readonly #inflight: Gauge<RouteLabel>;
  readonly #panics: Counter<never>;
  readonly #kept = new Map<string, Observe>();

  constructor(registry: MetricsRegistry) {
    const ofRoute = ['method', 'route'] as const;
    this.#seconds = registry.histogram<MetricLabel>({
      name: 'loki_request_duration_seconds',
      help: 'Duration of requests in seconds.',
      labels: ['method', 'route', 'status_code', 'ws'],
      buckets: SECONDS,
    });
    this.#requestBytes = registry.histogram<RouteLabel>({
      name: 'loki_request_message_bytes',
      help: 'Size of request bodies, as sent.',
      labels: ofRoute,
      buckets: BODY_BYTES,
    });
    this.#responseBytes = registry.histogram<RouteLabel>({
      name: 'loki_response_message_bytes',
      help: 'Size of response bodies, as sent.',
      labels: ofRoute,
      buckets: BODY_BYTES,
    });
    this.#inflight = registry.gauge<RouteLabel>({
      name: 'loki_inflight_requests',
      help: 'Running requests.',
      labels: ofRoute,
    });
    this.#panics = registry.counter({
      name: 'loki_panic_total',
      help: 'Requests that failed because of a defect; see the log.',
    });
  }

  begin({ method: sent, path, bodyBytes, ws = false }: ObservedRequest): EndOfRequest {
    const method = METHODS.has(sent) ? sent : OTHER;
    const route = path === undefined ? OTHER : routeName(path);
    const startedMs = performance.now();
    this.#inflight.inc({ method, route });
    this.#child('in', this.#requestBytes, { method, route }).observe(bodyBytes);
    return ({ status, bytes }) => {
      this.#inflight.dec({ method, route });
      const labels = { method, route, status_code: String(status), ws: String(ws) };
      this.#child('seconds', this.#seconds, labels).observe((performance.now() - startedMs) / 1000);
      this.#child('out', this.#responseBytes, { method, route }).observe(bytes);
    };
  }

  defect(): void {
    this.#panics.inc();
  }

  #child<L extends string>(what: string, metric: Histogram<L>, labels: Record<L, string>): Observe {
    const key = `${what} ${Object.values(labels).join(' ')}`;
    let child = this.#kept.get(key);
    if (child === undefined) {
      child = metric.labels(labels);
      if (this.#kept.size < MAX_CACHED) this.#kept.set(key, child);
    }
    return child;
  }
}

const NAMES = new Map<string, string>();

/** Converts `/svc/api/v1/label/{name}/values` to `loki_api_v1_label_name_values`, the name in dashboards. */
export function routeName(path: string): string {
  let name = NAMES.get(path);
  if (name === undefined) {
    name = path
      .replace(/^\/svc\/api\//, '/loki/api/')
      .replace(/^\/compat\/api\//, '/prometheus/api/')
      .replace(/^\/api\/compat\//, '/api/prom/')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_|_$/g, '');
    // Bounded by the number of routes, because templates come from the route table.
    NAMES.set(path, name);
  }
  return name;
}
