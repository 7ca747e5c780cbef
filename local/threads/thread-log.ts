/** The log of a thread: its lines are written by the front thread, which knows the level and counts them. */
import { inspect } from 'node:util';
import type { LogLevelName, RoleTell } from './role-messages.ts';
import { thrownOf } from './thrown-errors.ts';

/** A line: fields and a message, or a message alone. */
export type WriteLine = (fields: object | string, message?: string) => void;

export type ThreadLog = Readonly<Record<LogLevelName, WriteLine>> & {
  /** Whether debug lines are wanted; all others are sent in any case. */
  isDebug: boolean;
  isLevelEnabled(level: LogLevelName): boolean;
};

export function createThreadLog(tell: (line: RoleTell) => void, isDebug = false): ThreadLog {
  const at =
    (level: LogLevelName): WriteLine =>
    (first, second) => {
      if (level === 'debug' && !log.isDebug) return;
      const [fields, message] = typeof first === 'string' ? [{}, first] : [first, second ?? ''];
      const { err, ...plain } = fields as { readonly err?: unknown };
      const error = err === undefined ? undefined : thrownOf(err);
      const line = { kind: 'log', level, error, message } as const;
      try {
        tell({ ...line, fields: plain });
      } catch {
        // A field that no message can hold must not fail whoever logs it.
        tell({ ...line, fields: { fields: inspect(plain) } });
      }
    };
  const log: ThreadLog = {
    isDebug,
    isLevelEnabled: level => level !== 'debug' || log.isDebug,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  return log;
}
