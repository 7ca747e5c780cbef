/**
 * Top-level entries of a YAML text, as the store writes its limits: a name, and its value as text. It is not
 * a YAML parser: nested values keep their text, with one level of indentation removed.
 */
export interface YamlEntry {
  readonly name: string;
  readonly value: string;
  /** True if the value has several lines. */
  readonly isNested: boolean;
}

export function yamlEntries(text: string): readonly YamlEntry[] {
  const entries: { name: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const found = /^([^\s:#-][^:]*):(?: (.*))?$/.exec(line);
    if (found !== null) entries.push({ name: found[1], lines: found[2] === undefined ? [] : [found[2]] });
    else if (line.trim() !== '') entries.at(-1)?.lines.push(line.replace(/^ {2}/, ''));
  }
  return entries.map(({ name, lines }) => ({
    name,
    value: lines.length === 1 ? unquoted(lines[0]) : lines.join('\n'),
    isNested: lines.length > 1,
  }));
}

function unquoted(text: string): string {
  if (!/^".*"$/.test(text)) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
