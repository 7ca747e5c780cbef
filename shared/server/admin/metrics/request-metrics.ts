/**
 * Metrics of requests by route, as the reference's dashboards need them (docs/dev/wire-format.md#metrics). Route
 * and method come from a fixed set, whatever clients send. A path that matches no route is `other`.
 */
import type { Counter } from 'prom-client';
import { OTHER } from './bounded-names.ts';
import type { ObservedSeries, PreparedHistogram } from './prepared-histogram.ts';
import type { MetricsRegistry } from './registry.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
/** The reference's buckets, seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100];
const MIB = 1024 * 1024;
/** The reference's buckets, bytes. */
const BODY_BYTES = [1, 2.5, 5, 10, 25, 50, 100, 250].map(mib => mib * MIB);
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

/** Figures of a route and method. Their number is bounded, because routes and methods come from fixed sets. */
interface RouteFigures {
  readonly labels: Readonly<Record<RouteLabel, string>>;
  running: number;
  readonly requestBytes: ObservedSeries;
  readonly responseBytes: ObservedSeries;
  /** Durations by status, of WebSockets and of other requests. */
  readonly socketSeconds: Map<number, ObservedSeries>;
  readonly seconds: Map<number, ObservedSeries>;
}

export class RequestMetrics implements RequestObserver {
  readonly #seconds: PreparedHistogram<MetricLabel>;
  readonly #requestBytes: PreparedHistogram<RouteLabel>;
  readonly #responseBytes: PreparedHistogram<RouteLabel>;
  readonly #panics: Counter<never>;
  /** Figures by method and route. */
  readonly #figures = new Map<string, Map<string, RouteFigures>>();

  constructor(registry: MetricsRegistry) {
    const ofRoute = ['method', 'route'] as const;
    this.#seconds = registry.preparedHistogram<MetricLabel>({
      name: 'loki_request_duration_seconds',
      help: 'Duration of requests in seconds.',
      labels: ['method', 'route', 'status_code', 'ws'],
      buckets: SECONDS,
    });
    this.#requestBytes = registry.preparedHistogram<RouteLabel>({
      name: 'loki_request_message_bytes',
      help: 'Size of request bodies, as sent.',
      labels: ofRoute,
      buckets: BODY_BYTES,
    });
    this.#responseBytes = registry.preparedHistogram<RouteLabel>({
      name: 'loki_response_message_bytes',
      help: 'Size of response bodies, as sent.',
      labels: ofRoute,
      buckets: BODY_BYTES,
    });
    registry.gauge<RouteLabel>({
      name: 'loki_inflight_requests',
      help: 'Running requests.',
      labels: ofRoute,
      read: () =>
        [...this.#figures.values()].flatMap(ofMethod =>
          Array.from(ofMethod.values(), ({ labels, running }) => ({ labels, value: running })),
        ),
    });
    this.#panics = registry.counter({
      name: 'loki_panic_total',
      help: 'Requests that failed because of a defect; see the log.',
    });
  }

  begin({ method: sent, path, bodyBytes, ws = false }: ObservedRequest): EndOfRequest {
    const method = METHODS.has(sent) ? sent : OTHER;
    const figures = this.#figuresOf(method, path === undefined ? OTHER : routeName(path));
    const startedMs = performance.now();
    figures.running++;
    figures.requestBytes.observe(bodyBytes);
    return ({ status, bytes }) => {
      figures.running--;
      this.#secondsOf(figures, status, ws).observe((performance.now() - startedMs) / 1000);
      figures.responseBytes.observe(bytes);
    };
  }

  defect(): void {
    this.#panics.inc();
  }

  #figuresOf(method: string, route: string): RouteFigures {
    let ofMethod = this.#figures.get(method);
    if (ofMethod === undefined) this.#figures.set(method, (ofMethod = new Map()));
    let figures = ofMethod.get(route);
    if (figures === undefined) {
      const labels = { method, route };
      figures = {
        labels,
        running: 0,
        requestBytes: this.#requestBytes.series(labels),
        responseBytes: this.#responseBytes.series(labels),
        socketSeconds: new Map(),
        seconds: new Map(),
      };
      ofMethod.set(route, figures);
    }
    return figures;
  }

  #secondsOf({ labels, seconds, socketSeconds }: RouteFigures, status: number, ws: boolean): ObservedSeries {
    const byStatus = ws ? socketSeconds : seconds;
    let series = byStatus.get(status);
    if (series === undefined) {
      series = this.#seconds.series({ ...labels, status_code: String(status), ws: String(ws) });
      byStatus.set(status, series);
    }
    return series;
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
