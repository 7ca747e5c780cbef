/** `regexp` and `pattern`, and the filters by pattern (docs/dev/logql-semantics.md#pattern-filters, #pattern, #regexp). */
import { type Bytes, toBytes } from './bytes.ts';
import type { EntryLabels } from './labels.ts';
import { regexOf } from './regex.ts';

export function parseRegexp(pattern: string, line: Bytes, labels: EntryLabels): void {
  const regex = regexOf(pattern);
  const groups = regex.exec(line);
  if (groups === undefined) return;
  regex.groupNames.forEach((name, i) => {
    if (name !== '') labels.extract(name, groups[i + 1] ?? '');
  });
}

type Part = { readonly literal: Bytes } | { readonly capture: string };

function partsOf(pattern: string): Part[] {
  return toBytes(pattern)
    .split(/(<[a-zA-Z_]\w*>)/)
    .filter(part => part !== '')
    .map(part => (/^<[a-zA-Z_]\w*>$/.test(part) ? { capture: part.slice(1, -1) } : { literal: part }));
}

export function parsePattern(pattern: string, line: Bytes, labels: EntryLabels): void {
  if (line === '' || labels.hasAllWanted) return;
  let at = 0;
  const parts = partsOf(pattern);
  for (const [i, part] of parts.entries()) {
    if ('literal' in part) {
      if (i === 0 && !line.startsWith(part.literal)) return;
      if (i === 0) at = part.literal.length;
      continue;
    }
    const next = parts[i + 1];
    const found = next !== undefined && 'literal' in next ? line.indexOf(next.literal, at) : -1;
    const end = found < 0 ? line.length : found;
    if (part.capture !== '_') labels.extract(part.capture, line.slice(at, end));
    if (found < 0) return;
    at = end + (next as { literal: Bytes }).literal.length;
  }
}

export function passesPattern(pattern: string, line: Bytes): boolean {
  const parts = partsOf(pattern);
  if (parts.length === 0 || line === '') return parts.length === 0 && line === '';
  let at = 0;
  for (const [i, part] of parts.entries()) {
    if (!('literal' in part)) continue;
    const found = line.indexOf(part.literal, at);
    if (found < 0 || (found === at && i > 0)) return false;
    at = found + part.literal.length;
  }
  return 'capture' in parts[parts.length - 1] ? at < line.length : at === line.length;
}
