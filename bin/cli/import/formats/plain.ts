/** Stores lines as they are, without parsing. */
import type { LineFormat } from '../line-format.ts';

export function plainFormat(): LineFormat {
  return { parse: () => undefined };
}
