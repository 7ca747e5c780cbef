/** Lines as they are: nothing in them is interpreted. */
import type { LineFormat } from '../line-format.ts';

export function plainFormat(): LineFormat {
  return { parse: () => undefined };
}
