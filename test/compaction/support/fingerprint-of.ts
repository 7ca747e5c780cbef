import type { PageRows } from '../../../shared/base/model/page.ts';
import {
  type Fingerprint,
  FingerprintSum,
  RowHasher,
} from '../../../shared/upkeep/compaction/fingerprint.ts';

/** The fingerprint of all rows of some pages, of one chunk or several. Throws CorruptionError if a page's columns do. */
export function fingerprintOf(pages: Iterable<PageRows>): Fingerprint {
  const sum = new FingerprintSum();
  const hasher = new RowHasher();
  for (const page of pages) sum.addPage(page, hasher.hash(page));
  return sum.value;
}
