/** Message of a live tail. */
import type { LogStream } from '../api/types.ts';
import { type LogRow, logRowsOf } from '../lines/rows.ts';

export interface TailFrame {
  /** Rows, oldest first. */
  readonly rows: readonly LogRow[];
  /** Number of entries that the store omitted because this page was too slow. */
  readonly dropped: number;
  /** Reason why the connection ends, because API gateways cannot send one with the close. */
  readonly error: string | undefined;
}

interface WireFrame {
  readonly streams?: readonly LogStream[] | null;
  readonly dropped_entries?: readonly unknown[] | null;
  readonly error?: string;
}

/** Parses a frame. Throws SyntaxError. */
export function readFrame(text: string): TailFrame {
  const { streams, dropped_entries: dropped, error } = JSON.parse(text) as WireFrame;
  return { rows: logRowsOf(streams ?? [], false), dropped: dropped?.length ?? 0, error };
}

/** Errors that a retry cannot fix. */
const FINAL = /^only log selector is supported|Code\(4\d\d\)/;
/** The tail reached its maximum duration; clients are expected to reconnect. */
const ORDINARY = /^reached tail max duration limit|^the tail fell behind/;

export function isFinal(reason: string): boolean {
  return FINAL.test(reason);
}

/** True for an end that needs no notice. */
export function isOrdinary(reason: string): boolean {
  return ORDINARY.test(reason);
}

/**
 * Splits `rpc error: code = Code(429) desc = max concurrent ...` into the message and the status, if there is
 * one.
 */
export function refusalOf(reason: string): { readonly message: string; readonly status: number } {
  const found = /^rpc error: code = Code\((\d+)\) desc = ([\s\S]*)$/.exec(reason);
  return found === null ? { message: reason, status: 400 } : { message: found[2], status: Number(found[1]) };
}
