/** A JSON object on each line. */
import { parseObject } from '../../../../shared/base/text/json-object.ts';
import type { LineFormat } from '../line-format.ts';

export function jsonFormat(): LineFormat {
  return {
    parse(line) {
      const fields = parseObject(line);
      return fields === undefined ? undefined : { fields };
    },
  };
}
