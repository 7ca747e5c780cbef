/** Live tail connections in a browser. */
import { socketUrl } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { knownAccess } from '../api/known-access.ts';
import { fetchLogs, nsOf } from '../api/queries.ts';
import { currentTenant } from '../api/session.ts';
import { fetchTicket } from '../api/ticket.ts';
import { logRowsOf } from '../lines/rows.ts';
import type { TailPorts } from './follow-tail.ts';
import { readFrame } from './tail-frame.ts';

const PATH = '/svc/api/v1/tail';
const CHECK_MS = 1000;
/** Entries up to this time in the future are included, because clocks differ. */
const AHEAD_MS = 60_000;

export function browserTail(query: string): TailPorts {
  return {
    isPolled() {
      const known = knownAccess.get();
      return known?.authEnabled === true && !known.tokensEnabled && currentTenant() !== '';
    },
    async check(signal) {
      const nowMs = Date.now();
      const range = { startNs: nsOf(nowMs - CHECK_MS), endNs: nsOf(nowMs) };
      const { data } = await fetchLogs({ query, ...range, limit: 1, direction: 'backward' }, signal);
      if (data.resultType !== 'streams')
        throw new ApiError('expected a log query; a metric query cannot be tailed', 400);
    },
    async connect({ startNs, limit }, onOpen, onFrame, signal) {
      // The earlier check has loaded the access.
      const tokensEnabled = knownAccess.get()?.tokensEnabled ?? false;
      const params = { query, start: String(startNs), limit };
      const url = socketUrl(PATH, tokensEnabled ? { ...params, ticket: await fetchTicket(signal) } : params);
      return new Promise(resolve => {
        const socket = new WebSocket(url);
        let frameError = '';
        const end = () => socket.close();
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
        socket.onopen = onOpen;
        socket.onmessage = ({ data }) => {
          const frame = readFrame(String(data));
          frameError ||= frame.error ?? '';
          if (!signal.aborted) onFrame(frame);
        };
        socket.onclose = ({ reason }) => {
          signal.removeEventListener('abort', end);
          resolve(frameError || reason);
        };
      });
    },
    async poll({ startNs, limit }, signal) {
      const endNs = nsOf(Date.now() + AHEAD_MS);
      const { data } = await fetchLogs(
        { query, startNs: String(startNs), endNs, limit, direction: 'backward' },
        signal,
      );
      return data.resultType === 'streams' ? logRowsOf(data.result, true).toReversed() : [];
    },
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const ended = () => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          signal.removeEventListener('abort', ended);
          resolve();
        }, ms);
        signal.addEventListener('abort', ended, { once: true });
      });
    },
    nowNs: () => BigInt(Date.now()) * 1_000_000n,
  };
}
