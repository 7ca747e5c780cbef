/**
 * What operators set while the store runs and every function instance is to follow: the log level, and that a shutdown was
 * asked for or prepared. One small item; each instance reads it once a minute at most, while it is called.
 * Processes of one machine keep such settings to themselves, as the reference's do.
 */
import type { States } from '../../storage/catalog/states.ts';
import type { LogLevel } from './config-fields.ts';

export interface SharedSettings {
  /** Undefined: the configured one. */
  readonly logLevel?: LogLevel;
  /** Instances that began up to this Unix time, ms, are leaving. */
  readonly leavingMs?: number;
  /** See Shutdown. */
  readonly isShutdownPrepared?: boolean;
}

const NAME = 'shared-settings';
const NONE: SharedSettings = {};

export async function readSharedSettings(states: States): Promise<SharedSettings> {
  return (await states.read(NAME, NONE)).value;
}

/** Changes some of them; the others stay as whoever changed them last wanted. */
export async function changeSharedSettings(states: States, change: SharedSettings): Promise<void> {
  for (;;) {
    const before = await states.read(NAME, NONE);
    if (await states.replace(NAME, before, { ...before.value, ...change })) return;
  }
}
