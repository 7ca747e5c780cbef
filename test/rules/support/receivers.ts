/**
 * Targets of alerts and samples that record everything they receive, and report contradictions. They decode
 * requests with third-party decoders.
 */
import protobuf from 'protobufjs';
import { uncompress } from 'snappyjs';
import type { HttpClient, OutgoingRequest } from '../../../shared/base/ports/http-client.ts';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message WriteRequest { repeated TimeSeries timeseries = 1; }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
  message Label { string name = 1; string value = 2; }
  message Sample { fixed64 value = 1; int64 timestamp = 2; }
`);
const WriteRequest = root.lookupType('WriteRequest');
/** Bits of the NaN that ends a series. */
const STALE = '9218868437227405314';

interface ToldAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

export interface Receivers {
  readonly http: HttpClient;
  /** Which are out of reach now: 503. */
  readonly away: Set<'alerts' | 'samples'>;
  /** Alerts by labels and start, with their newest end, or `open` if it is after the newest message. */
  alerts(): Record<string, string>;
  /** Series and time with the bits of the value; `stale` is the end of a series. */
  readonly samples: ReadonlyMap<string, string>;
  /** Messages that should never be sent. */
  readonly complaints: readonly string[];
}

export function receivers({ nowMs }: { nowMs(): number }): Receivers {
  const away = new Set<'alerts' | 'samples'>();
  const told = new Map<string, string>();
  const samples = new Map<string, string>();
  const newest = new Map<string, number>();
  const complaints: string[] = [];

  function takeAlerts(body: Buffer): void {
    for (const { labels, startsAt, endsAt } of JSON.parse(body.toString()) as ToldAlert[]) {
      const key = `${labels.alertname}/${labels.app} since ${startsAt}`;
      const isOpen = Date.parse(endsAt) > nowMs();
      const before = told.get(key);
      if (before !== undefined && before !== 'open' && isOpen)
        complaints.push(`${key} is over and active again`);
      if (before !== undefined && before !== 'open' && before !== endsAt)
        complaints.push(`${key} has two ends`);
      told.set(key, isOpen ? 'open' : endsAt);
    }
  }

  function takeSamples(body: Buffer): void {
    const options = { longs: String, arrays: true, defaults: true };
    const { timeseries } = WriteRequest.toObject(WriteRequest.decode(body), options) as {
      timeseries: {
        labels: { name: string; value: string }[];
        samples: { value: string; timestamp: string }[];
      }[];
    };
    for (const series of timeseries) {
      const name = series.labels.map(label => `${label.name}=${label.value}`).join(',');
      for (const { value: bits, timestamp } of series.samples) {
        const key = `${name} @${timestamp}`;
        const value = bits === STALE ? 'stale' : bits;
        const before = samples.get(key);
        if (before !== undefined && before !== value) complaints.push(`${key} has two values`);
        if (before === undefined && Number(timestamp) < (newest.get(name) ?? 0))
          complaints.push(`${key} comes late`);
        newest.set(name, Math.max(newest.get(name) ?? 0, Number(timestamp)));
        samples.set(key, value);
      }
    }
  }

  return {
    away,
    samples,
    complaints,
    alerts: () => Object.fromEntries([...told].sort(([a], [b]) => (a < b ? -1 : 1))),
    http: {
      async post({ url, body }: OutgoingRequest) {
        const isAlerts = new URL(url).pathname.endsWith('/alerts');
        if (away.has(isAlerts ? 'alerts' : 'samples')) return { status: 503, text: 'away' };
        if (isAlerts) takeAlerts(Buffer.from(body));
        else takeSamples(Buffer.from(uncompress(body)));
        return { status: 200, text: '' };
      },
    },
  };
}
