/** A message of a live tail. */
import type { LogStream } from '../api/types.ts';
import { type LogRow, rowsOf } from '../lines/rows.ts';

export interface TailFrame {
  /** Oldest first. */
  readonly rows: readonly LogRow[];
  /** Entries that the store left out because this page was too slow. */
  readonly dropped: number;
  /** Why the connection ends: gateways in an account cannot give a reason with the close. */
  readonly error: string | undefined;
}

interface Sent {
  readonly streams?: readonly LogStream[] | null;
  readonly dropped_entries?: readonly unknown[] | null;
  readonly error?: string;
}

/** Throws SyntaxError. */
export function readFrame(text: string): TailFrame {
  const { streams, dropped_entries: dropped, error } = JSON.parse(text) as Sent;
  return { rows: rowsOf(streams ?? [], false), dropped: dropped?.length ?? 0, error };
}

/** What asking again cannot cure. */
const FINAL = /^only log selector is supported|Code\(4\d\d\)/;
/** A tail has its time; clients are expected to come again. */
const ORDINARY = /^reached tail max duration limit|^the tail fell behind/;

export function isFinal(reason: string): boolean {
  return FINAL.test(reason);
}

/** An end that nobody needs to be told of. */
export function isOrdinary(reason: string): boolean {
  return ORDINARY.test(reason);
}

/** `rpc error: code = Code(429) desc = max concurrent ...` → the message, and the status where there is one. */
export function refusalOf(reason: string): { readonly message: string; readonly status: number } {
  const found = /^rpc error: code = Code\((\d+)\) desc = ([\s\S]*)$/.exec(reason);
  return found === null ? { message: reason, status: 400 } : { message: found[2], status: Number(found[1]) };
}
