/** Log of a thread. The front thread, which knows the level and counts lines, writes them. */
import { inspect } from 'node:util';
import type { LogLevelName, RoleTell } from './role-messages.ts';
import { thrownOf } from './thrown-errors.ts';

/** Writes a line: fields and a message, or only a message. */
type WriteLine = (fields: object | string, message?: string) => void;

export type ThreadLog = Readonly<Record<LogLevelName, WriteLine>> & {
  /** True if debug lines are needed. All other lines are always sent. */
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
        // A field that cannot be sent to another thread must not make logging fail.
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
