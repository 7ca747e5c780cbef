/**
 * Requests by route, as the reference's dashboards ask for them (docs/dev/wire-format.md#metrics). Route and method are of a
 * small set whatever clients send: a path that no route has is `other`.
 */
import type { Counter, Gauge, Histogram } from 'prom-client';
import { OTHER } from './bounded-names.ts';
import type { MetricsRegistry } from './registry.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
/** The reference's, seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100];
const MIB = 1024 * 1024;
/** The reference's, bytes. */
const BODY_BYTES = [1, 2.5, 5, 10, 25, 50, 100, 250].map(mib => mib * MIB);
/** Metrics whose labels are put together once: routes times methods times answers that there are in practice. */
const MAX_KEPT = 2000;

type Label = 'method' | 'route' | 'status_code' | 'ws';
type RouteLabel = 'method' | 'route';

export interface ObservedRequest {
  readonly method: string;
  /** Template of the route, undefined where none matches. */
  readonly path: string | undefined;
  readonly bodyBytes: number;
  /** A WebSocket, which lasts. */
  readonly ws?: boolean;
}

/** A request under way: told once when it ends. */
export type EndOfRequest = (answer: { readonly status: number; readonly bytes: number }) => void;

export interface RequestObserver {
  begin(request: ObservedRequest): EndOfRequest;
  /** A defect ended a request. */
  defect(): void;
}

/** For a dispatcher that nobody watches. */
export const NO_REQUEST_OBSERVER: RequestObserver = { begin: () => () => undefined, defect: () => undefined };

interface Observe {
  observe(value: number): void;
}

export class RequestMetrics implements RequestObserver {
  readonly #seconds: Histogram<Label>;
  readonly #requestBytes: Histogram<RouteLabel>;
  readonly #responseBytes: Histogram<RouteLabel>;
  readonly #inflight: Gauge<RouteLabel>;
  readonly #panics: Counter<never>;
  readonly #kept = new Map<string, Observe>();

  constructor(registry: MetricsRegistry) {
    const ofRoute = ['method', 'route'] as const;
    this.#seconds = registry.histogram<Label>({
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
      if (this.#kept.size < MAX_KEPT) this.#kept.set(key, child);
    }
    return child;
  }
}

const NAMES = new Map<string, string>();

/** `/svc/api/v1/label/{name}/values` → `loki_api_v1_label_name_values`: under the name that dashboards know. */
export function routeName(path: string): string {
  let name = NAMES.get(path);
  if (name === undefined) {
    name = path
      .replace(/^\/svc\/api\//, '/loki/api/')
      .replace(/^\/compat\/api\//, '/prometheus/api/')
      .replace(/^\/api\/compat\//, '/api/prom/')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_|_$/g, '');
    // Templates come from the route table: there are as many as routes.
    NAMES.set(path, name);
  }
  return name;
}
