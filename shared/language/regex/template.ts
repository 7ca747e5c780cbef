/**
 * Replacement templates as Go's regexp package reads them: `$1`, `$name`, `${name}`, `$$`.
 *
 * Pitfall: `$1x` is the group named `1x` (empty if missing), not group 1 and an `x`.
 */

/** Parts in order: literal text, a group by number, or a group by name. */
export type ReplacementTemplate = readonly (
  | string
  | { readonly index: number }
  | { readonly name: string }
)[];

const MAX_INDEX = 1e8;

export function parseReplacement(source: string): ReplacementTemplate {
  const parts: (string | { index: number } | { name: string })[] = [];
  let text = '';
  for (let at = 0; at < source.length; ) {
    const dollar = source.indexOf('$', at);
    if (dollar < 0) {
      text += source.slice(at);
      break;
    }
    text += source.slice(at, dollar);
    const reference = /^\$(?:\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/u.exec(source.slice(dollar));
    if (reference === null) {
      text += '$';
      at = dollar + (source[dollar + 1] === '$' ? 2 : 1);
      continue;
    }
    at = dollar + reference[0].length;
    const name = reference[1] ?? reference[2];
    if (text !== '') parts.push(text);
    text = '';
    parts.push(
      /^(?:0|[1-9]\d*)$/.test(name) && Number(name) < MAX_INDEX ? { index: Number(name) } : { name },
    );
  }
  if (text !== '') parts.push(text);
  return parts;
}

/** Expands the template with the groups of one match; groups that did not participate are empty. */
export function expandTemplate(
  template: ReplacementTemplate,
  groupNames: readonly (string | undefined)[],
  groups: readonly (string | undefined)[],
): string {
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') text += part;
    else if ('index' in part) text += groups[part.index] ?? '';
    else {
      // If several groups have the name, the first that participated counts.
      const index = groupNames.findIndex((name, i) => name === part.name && groups[i] !== undefined);
      if (index >= 0) text += groups[index];
    }
  }
  return text;
}
