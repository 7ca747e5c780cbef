/** A live tail's connections as a browser makes them. */
import { askAccess, askTicket } from '../api/access.ts';
import { socketUrl } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { askLogs, nsOf } from '../api/queries.ts';
import { currentTenant } from '../api/session.ts';
import { rowsOf } from '../lines/rows.ts';
import type { TailPorts } from './follow-tail.ts';
import { readFrame } from './tail-frame.ts';

const PATH = '/svc/api/v1/tail';
const CHECK_MS = 1000;
/** Entries of the future count as well: clocks differ. */
const AHEAD_MS = 60_000;

export function browserTail(query: string): TailPorts {
  /** Whether the store wants tokens does not change while it runs. */
  let access: ReturnType<typeof askAccess> | undefined;
  const accessOf = (signal: AbortSignal) => {
    access ??= askAccess(signal).catch((error: unknown) => {
      access = undefined;
      throw error;
    });
    return access;
  };
  return {
    async isPolled(signal) {
      const { tokensEnabled, authEnabled } = await accessOf(signal);
      return authEnabled && !tokensEnabled && currentTenant() !== '';
    },
    async check(signal) {
      const nowMs = Date.now();
      const range = { startNs: nsOf(nowMs - CHECK_MS), endNs: nsOf(nowMs) };
      const { data } = await askLogs({ query, ...range, limit: 1, direction: 'backward' }, signal);
      if (data.resultType !== 'streams') throw new ApiError('a query that computes values has no lines to show as they come', 400);
    },
    async connect({ startNs, limit }, onOpen, onFrame, signal) {
      const { tokensEnabled } = await accessOf(signal);
      const ticket = tokensEnabled ? { ticket: await askTicket(signal) } : {};
      const url = socketUrl(PATH, { query, start: String(startNs), limit, ...ticket });
      return new Promise(resolve => {
        const socket = new WebSocket(url);
        let told = '';
        const end = () => socket.close();
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
        socket.onopen = onOpen;
        socket.onmessage = ({ data }) => {
          const frame = readFrame(String(data));
          told ||= frame.error ?? '';
          if (!signal.aborted) onFrame(frame);
        };
        socket.onclose = ({ reason }) => {
          signal.removeEventListener('abort', end);
          resolve(told || reason);
        };
      });
    },
    async poll({ startNs, limit }, signal) {
      const endNs = nsOf(Date.now() + AHEAD_MS);
      const { data } = await askLogs({ query, startNs: String(startNs), endNs, limit, direction: 'backward' }, signal);
      return data.resultType === 'streams' ? rowsOf(data.result, false) : [];
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
