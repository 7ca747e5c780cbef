/** Order of arguments: options may precede the command. */
import { COMMAND_NAMES } from './overview.ts';

export const VERSION: ReadonlySet<string> = new Set(['-V', '--version']);

/**
 * Arguments with the options before the command moved after it, as in `logboom --addr URL -o raw query '{}'`.
 * Only --version stays in front.
 */
export function commandFirst(args: readonly string[]): readonly string[] {
  const [first] = args;
  if (first === undefined || !first.startsWith('-') || VERSION.has(first)) return args;
  const at = args.findIndex(each => COMMAND_NAMES.has(each));
  return at < 0 ? args : [args[at], ...args.slice(0, at), ...args.slice(at + 1)];
}
