/** Entries from the binary responses of the export endpoint. */
import { decodeColumns } from '../../../shared/server/http/export-columns.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import type { ExportedBytes } from './export-source.ts';

/** Entries per page. A response as objects takes several times its bytes. */
const ENTRIES_AT_ONCE = 4096;

export async function* entriesOf(
  answers: AsyncIterable<ExportedBytes>,
): AsyncGenerator<readonly MigratedEntry[]> {
  for await (const { body } of answers) {
    let page: MigratedEntry[] = [];
    for (const entry of decodeColumns(body.length === 1 ? body[0] : Buffer.concat(body))) {
      page.push(entry);
      if (page.length < ENTRIES_AT_ONCE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }
}
