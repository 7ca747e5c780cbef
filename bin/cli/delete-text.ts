/** Formats delete requests as the lines that `logboom delete` prints. */
import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import type { DeleteProgress, ListedDelete } from './delete-client.ts';
import type { TextTable } from './table-text.ts';

/** For example `5a3c1b2d  33% Complete  2026-01-05T10:00:00.000Z to 2026-01-05T11:00:00.000Z  {app="x"} |= "y"`. */
export function listedText({ request_id, status, start_time, end_time, query }: ListedDelete): string {
  return `${request_id}  ${status.padEnd('100% Complete'.length)}  ${timeText(start_time)} to ${timeText(end_time)}  ${query}`;
}

export function listedTable(requests: readonly ListedDelete[]): TextTable {
  return {
    columns: ['id', 'status', 'start', 'end', 'query'].map(name => ({ name })),
    rows: requests.map(({ request_id, status, start_time, end_time, query }) => [
      request_id,
      status,
      timeText(start_time),
      timeText(end_time),
      query,
    ]),
  };
}

/** Describes the current state of a request. */
export function deleteProgressText(progress: DeleteProgress): string {
  const { request_id: id, processed_at, picked_up_at, parts, parts_done, bytes_done, bytes_total } = progress;
  if (processed_at !== null) return `${id}  processed at ${timeText(processed_at)}`;
  if (picked_up_at === null) return `${id}  received: its entries are hidden, none is deleted yet`;
  const bytes = `${formatByteSize(bytes_done)} of ${formatByteSize(bytes_total)}`;
  return `${id}  deleting: ${parts_done} of ${parts} ${parts === 1 ? 'part' : 'parts'}, ${bytes} processed`;
}

function timeText(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString();
}
