/**
 * Divides the rows around one row into those before and after it, also among rows with the same timestamp.
 */
import { type LogRow, rowIdentity } from './rows.ts';

export type Side = 'before' | 'after';

/**
 * Rows of a response on one side of `row`, nearest first. `undefined` if the response does not reach the row,
 * because more entries have its timestamp.
 *
 * Rows of other streams with the same timestamp count as after it. If a query changed the row, it is in no
 * response. Then all rows with its timestamp count as after it.
 *
 * @param page response in the direction of the side, from the timestamp of `row`
 */
export function rowsOnSide(
  page: readonly LogRow[],
  row: LogRow,
  side: Side,
  isWhole: boolean,
): readonly LogRow[] | undefined {
  const identity = rowIdentity(row);
  const stream = JSON.stringify(row.stream);
  const own = page.findIndex(one => one.ns === row.ns && rowIdentity(one) === identity);
  const isPast = page.some(({ ns }) => ns !== row.ns);
  if (own < 0 && !isWhole && !isPast) return undefined;
  return page.filter((one, index) => {
    if (one.ns !== row.ns) return true;
    if (own < 0 || JSON.stringify(one.stream) !== stream) return side === 'after' && index !== own;
    return index > own;
  });
}
