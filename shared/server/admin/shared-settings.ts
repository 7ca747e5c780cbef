/**
 * Settings of operators that every function instance follows: the log level, and a requested or prepared
 * shutdown. They are one small item that each active instance reads at most once a minute. Processes on one
 * machine keep such settings to themselves, like those of the reference.
 */
import type { States } from '../../storage/catalog/states.ts';
import type { LogLevel } from './config-fields.ts';

export interface SharedSettings {
  /** Default: the configured level. */
  readonly logLevel?: LogLevel;
  /** Instances that started up to this Unix time, ms, are leaving. */
  readonly leavingMs?: number;
  /** See Shutdown. */
  readonly isShutdownPrepared?: boolean;
}

const NAME = 'shared-settings';
const NONE: SharedSettings = {};

export async function readSharedSettings(states: States): Promise<SharedSettings> {
  return (await states.read(NAME, NONE)).value;
}

/** Changes the given settings and leaves the others as last changed. */
export async function changeSharedSettings(states: States, change: SharedSettings): Promise<void> {
  for (;;) {
    const before = await states.read(NAME, NONE);
    if (await states.replace(NAME, before, { ...before.value, ...change })) return;
  }
}
