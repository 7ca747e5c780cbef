/**
 * `| regexp "(?P<name>...)"` (docs/dev/logql-semantics.md#regexp): each named group of the first match becomes a label, ""
 * if the group did not participate. A name that begins with a digit gets `_` before it. Without a match, no
 * label is set, and that is not an error.
 */

import { sanitizeName } from '../../base/text/text.ts';
import { compileRegex } from '../../language/regex/regex.ts';
import type { EarlyTests } from './early-tests.ts';
import type { Row, RowStage } from './row.ts';
import type { RowLabels } from './row-labels.ts';

/** Throws an Error with the reference's text for an invalid regular expression. */
export function compileRegexpParser(pattern: string, labels: RowLabels, early: EarlyTests): RowStage {
  const regex = compileRegex(pattern);
  // Label by group number; -1 if the group has no name.
  const ids = regex.groupNames.map(name => (name === undefined ? -1 : labels.intern(sanitizeName('', name))));
  for (const id of ids) if (id >= 0) labels.suffixed(id);

  return (row: Row) => {
    if (labels.allFound) return true;
    const match = regex.exec(row.line());
    if (match === undefined) return true;
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] < 0) continue;
      const id = labels.collides(ids[i]) ? labels.suffixed(ids[i]) : ids[i];
      if (!labels.wants(id) || labels.isExtracted(id)) continue;
      labels.setText(id, match[i] ?? '');
      if (early.rejects(id, labels)) return false;
    }
    return true;
  };
}
