/**
 * Sends alerts to Alertmanagers (API v2). Each receives all alerts, because they do not share them. One that
 * was down receives active alerts when they are sent again.
 */

import { formatRfc3339Nano } from '../../../base/model/rfc3339.ts';
import type { ClientAuth, RelabelConfig, RulerConfig } from '../../admin/config-ruler.ts';
import { urlsOf } from '../../admin/config-ruler.ts';
import { type SendParts, type SendResult, send } from '../send.ts';
import { joinLabels } from '../series-labels.ts';
import { relabel } from './relabel.ts';

/** Alerts per request, as in Prometheus. */
export const ALERTS_AT_ONCE = 256;
const API_PATH = '/api/v2/alerts';

export interface Notice {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAtNs: bigint;
  readonly endsAtNs: bigint;
  /** Query of the rule, for the link. */
  readonly expr: string;
}

interface NoticeResult {
  /** One value per notice: true if at least one Alertmanager accepted it, or none should receive it. */
  readonly taken: readonly boolean[];
  readonly failures: readonly string[];
}

export type Notify = (
  tenant: string,
  notices: readonly Notice[],
  signal: AbortSignal,
) => Promise<NoticeResult>;

interface AlertmanagerOptions {
  readonly urls: readonly string[];
  readonly auth: ClientAuth;
  readonly timeoutMs: number;
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly relabelConfigs: readonly RelabelConfig[];
  readonly externalUrl: string;
  readonly datasourceUid: string;
}

export function alertmanagerOptions(ruler: RulerConfig): AlertmanagerOptions {
  return {
    urls: urlsOf(ruler.alertmanagerUrl),
    auth: ruler.alertmanagerClient,
    timeoutMs: ruler.notificationTimeoutMs,
    externalLabels: ruler.externalLabels,
    relabelConfigs: ruler.alertRelabelConfigs,
    externalUrl: ruler.externalUrl,
    datasourceUid: ruler.datasourceUid,
  };
}

/** `undefined` without Alertmanagers. */
export function alertmanagers(parts: SendParts, options: AlertmanagerOptions): Notify | undefined {
  const { urls, auth, timeoutMs } = options;
  if (urls.length === 0) return undefined;
  return async (tenant, notices, signal) => {
    const taken = notices.map(() => false);
    const failures: string[] = [];
    const bodies: { readonly index: number; readonly alert: object }[] = [];
    notices.forEach((notice, index) => {
      const alert = bodyOf(notice, options);
      if (alert === undefined) taken[index] = true;
      else bodies.push({ index, alert });
    });
    for (let i = 0; i < bodies.length; i += ALERTS_AT_ONCE) {
      const batch = bodies.slice(i, i + ALERTS_AT_ONCE);
      const body = Buffer.from(JSON.stringify(batch.map(({ alert }) => alert)));
      const headers = { 'content-type': 'application/json', 'x-scope-orgid': tenant };
      const all: SendResult[] = await Promise.all(
        urls.map(url => send(parts, { url: endpointOf(url), auth, timeoutMs }, { headers, body }, signal)),
      );
      for (const sent of all) if (sent.end !== 'taken') failures.push(sent.reason);
      if (all.some(({ end }) => end === 'taken')) for (const { index } of batch) taken[index] = true;
    }
    return { taken, failures };
  };
}

function endpointOf(base: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, '') + API_PATH;
  return url.href;
}

function bodyOf(
  { labels, annotations, startsAtNs, endsAtNs, expr }: Notice,
  { externalLabels, relabelConfigs, externalUrl, datasourceUid }: AlertmanagerOptions,
): object | undefined {
  const relabeled = relabel(joinLabels(externalLabels, labels), relabelConfigs);
  if (relabeled === undefined) return undefined;
  return {
    labels: relabeled,
    annotations,
    startsAt: formatRfc3339Nano(startsAtNs),
    endsAt: formatRfc3339Nano(endsAtNs),
    generatorURL: exploreUrl(externalUrl, datasourceUid, expr),
  };
}

/**
 * Link to the query of the rule: Grafana's Explore page if `external_url` is a Grafana. Without a data
 * source, Grafana uses its default one.
 */
function exploreUrl(externalUrl: string, datasourceUid: string, expr: string): string {
  const datasource = datasourceUid === '' ? undefined : { type: 'loki', uid: datasourceUid };
  const left = { queries: [{ expr, queryType: 'range', datasource }] };
  return `${externalUrl.replace(/\/+$/, '')}/explore?left=${encodeURIComponent(JSON.stringify(left))}`;
}
