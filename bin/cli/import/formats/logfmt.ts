/** Pairs of a name and a value: `level=info msg="request done" took=12ms`. */
import { parseLogfmt } from '../../../../shared/base/text/logfmt-pairs.ts';
import type { LineFormat } from '../line-format.ts';

export function logfmtFormat(): LineFormat {
  return {
    parse(line) {
      const fields = parseLogfmt(line);
      return fields === undefined ? undefined : { fields };
    },
  };
}
