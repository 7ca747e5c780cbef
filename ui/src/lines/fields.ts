/** Fields of a JSON or logfmt line, named as LogQL parsers name them. */
interface LineFields {
  readonly parser: 'json' | 'logfmt';
  readonly fields: readonly (readonly [string, string])[];
}

/** Maximum number of fields listed per line. */
const MAX_FIELDS = 200;
const LOGFMT = /(?:^|\s)([^\s="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?=\s|$)/g;
/** Minimum number of logfmt pairs. A single pair is more often prose or a URL. */
const MIN_LOGFMT_PAIRS = 2;

/** @param lists adds lists as JSON text; LogQL parsers omit them */
export function fieldsOf(line: string, { lists = false } = {}): LineFields | undefined {
  const json = parseJson(line);
  if (json !== undefined) {
    const fields: [string, string][] = [];
    flatten(json, '', fields, lists);
    return { parser: 'json', fields };
  }
  const fields: [string, string][] = [];
  for (const [, name, inQuotes, plain] of line.matchAll(LOGFMT)) {
    if (fields.length >= MAX_FIELDS) break;
    fields.push([labelName(name), inQuotes === undefined ? plain : inQuotes.replace(/\\(.)/g, '$1')]);
  }
  return fields.length >= MIN_LOGFMT_PAIRS ? { parser: 'logfmt', fields } : undefined;
}

/** Parsed JSON object; undefined if the line is not one. */
export function parseJson(line: string): Readonly<Record<string, unknown>> | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined;
  try {
    return JSON.parse(trimmed) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** True if a logfmt line has nothing outside its pairs. */
export function isAllPairs(line: string): boolean {
  return line.replace(LOGFMT, '').trim() === '';
}

/** Flattens like `| json`: joins nested names with `_`. */
function flatten(value: object, prefix: string, into: [string, string][], lists: boolean): void {
  for (const [name, part] of Object.entries(value)) {
    if (into.length >= MAX_FIELDS) return;
    const label = prefix === '' ? labelName(name) : `${prefix}_${labelName(name)}`;
    if (part === null || (Array.isArray(part) && !lists)) continue;
    if (Array.isArray(part)) into.push([label, JSON.stringify(part)]);
    else if (typeof part === 'object') flatten(part, label, into, lists);
    else into.push([label, String(part)]);
  }
}

function labelName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}
