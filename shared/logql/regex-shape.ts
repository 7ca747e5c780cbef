/**
 * Tells which regular expressions the reference would replace by plain text tests (logql reference, 5.2). Only the
 * printer asks: those expressions print in double quotes, the others raw. Logboom evaluates both as written
 * (difference D1).
 *
 * The shapes are taken after Go's factoring of alternatives (`prod-eu|prod-us` is `prod-(eu|us)`), so a small parser
 * does that much. What it does not know (classes, anchors, counted repeats) is never simple.
 */
type Node =
  | { readonly kind: 'literal'; readonly text: string; readonly fold: boolean }
  | { readonly kind: 'empty' }
  | { readonly kind: 'star' }
  | { readonly kind: 'plus' }
  | { readonly kind: 'concat'; readonly parts: readonly Node[] }
  | { readonly kind: 'alternate'; readonly parts: readonly Node[] }
  | { readonly kind: 'other' };

const OTHER: Node = { kind: 'other' };
const EMPTY: Node = { kind: 'empty' };
/** Groups inside groups past this are taken for no simple shape; factoring deeper ones is not worth its time. */
const MAX_DEPTH = 50;
const MAX_LENGTH = 10_000;

const TOKEN =
  /(?<open>\((?:\?P?<\w+>|\?(?<flags>[is]*):)?)|(?<close>\))|(?<bar>\|)|(?<dot>\.[*+]\??(?![*+?{]))|\\(?<escaped>[^A-Za-z0-9])|(?<char>[^\\()|.*+?{}[\]^$])|(?<other>[\s\S])/uy;
const LEADING_FLAGS = /^\(\?([is]+)\)/;

/** True where the reference prints the expression in double quotes: it tests for text, not by expression. */
export function isSimpleRegex(pattern: string): boolean {
  if (pattern.length > MAX_LENGTH) return false;
  const flags = LEADING_FLAGS.exec(pattern);
  const node = parse(pattern.slice(flags?.[0].length ?? 0), flags?.[1].includes('i') ?? false);
  return node !== undefined && isSimple(node);
}

interface Group {
  readonly branches: Node[];
  parts: Node[];
  readonly fold: boolean;
}

/** Undefined where the expression holds what has no simple shape anyway. */
function parse(pattern: string, foldAll: boolean): Node | undefined {
  const groups: Group[] = [{ branches: [], parts: [], fold: foldAll }];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(pattern); match !== null; match = TOKEN.exec(pattern)) {
    const { open, flags, close, bar, dot, escaped, char } = match.groups!;
    const group = groups[groups.length - 1];
    if (open !== undefined) {
      if (groups.length > MAX_DEPTH) return undefined;
      groups.push({ branches: [], parts: [], fold: group.fold || (flags?.includes('i') ?? false) });
    } else if (close !== undefined) {
      const inner = groups.pop()!;
      groups[groups.length - 1]?.parts.push(finished(inner));
    } else if (bar !== undefined) {
      group.branches.push(concat(group.parts));
      group.parts = [];
    } else if (dot !== undefined) group.parts.push({ kind: dot[1] === '*' ? 'star' : 'plus' });
    else if (escaped !== undefined || char !== undefined) addText(group, escaped ?? char);
    else return undefined;
  }
  return finished(groups[0]);
}

function addText(group: Group, text: string): void {
  const last = group.parts.at(-1);
  if (last?.kind === 'literal' && last.fold === group.fold) {
    group.parts[group.parts.length - 1] = { ...last, text: last.text + text };
  } else group.parts.push({ kind: 'literal', text, fold: group.fold });
}

function finished(group: Group): Node {
  return alternate([...group.branches, concat(group.parts)]);
}

function concat(parts: readonly Node[]): Node {
  const flat = parts
    .filter(part => part.kind !== 'empty')
    .flatMap(part => (part.kind === 'concat' ? part.parts : [part]));
  if (flat.length === 0) return EMPTY;
  return flat.length === 1 ? flat[0] : { kind: 'concat', parts: flat };
}

/** Alternatives after Go's factoring: common leading text first, then single characters to a class. */
function alternate(branches: readonly Node[]): Node {
  if (branches.length === 1) return branches[0];
  const factored: Node[] = [];
  for (let at = 0; at < branches.length; ) {
    const first = leading(branches[at]);
    let prefix = first?.text ?? '';
    let end = at + 1;
    for (; first !== undefined && end < branches.length; end++) {
      const next = leading(branches[end]);
      const common = next?.fold === first.fold ? commonPrefix(prefix, next.text) : '';
      if (common === '') break;
      prefix = common;
    }
    if (end - at > 1) {
      const rest = branches.slice(at, end).map(branch => withoutLeading(branch, prefix.length));
      factored.push(concat([{ kind: 'literal', text: prefix, fold: first!.fold }, alternate(rest)]));
    } else factored.push(branches[at]);
    at = end;
  }
  const merged: Node[] = [];
  for (const node of factored) {
    const last = merged.at(-1);
    if (node.kind === 'empty' && last?.kind === 'empty') continue;
    const single = isSingle(node);
    if (single && last !== undefined && (last === OTHER || isSingle(last))) merged[merged.length - 1] = OTHER;
    else merged.push(node);
  }
  return merged.length === 1 ? merged[0] : { kind: 'alternate', parts: merged };
}

function isSingle(node: Node): boolean {
  return node.kind === 'literal' && [...node.text].length === 1;
}

function leading(node: Node): { readonly text: string; readonly fold: boolean } | undefined {
  const first = node.kind === 'concat' ? node.parts[0] : node;
  return first.kind === 'literal' ? first : undefined;
}

function withoutLeading(node: Node, length: number): Node {
  const [first, ...rest] = node.kind === 'concat' ? node.parts : [node];
  const literal = first as Extract<Node, { kind: 'literal' }>;
  const text = literal.text.slice(length);
  return concat(text === '' ? rest : [{ ...literal, text }, ...rest]);
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

function isSimple(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
    case 'empty':
    case 'star':
    case 'plus':
      return true;
    case 'alternate':
      return node.parts.every(isSimple);
    case 'concat':
      return isSimpleConcat(node.parts);
    case 'other':
      return false;
  }
}

/** At most three parts: one literal among `.*`, or one literal and then alternatives of the same kind. */
function isSimpleConcat(parts: readonly Node[]): boolean {
  if (parts.length > 3) return false;
  const literals = parts.filter(part => part.kind === 'literal').length;
  const stars = parts.filter(part => part.kind === 'star').length;
  if (literals !== 1) return false;
  if (literals + stars === parts.length) return true;
  const [first, second, ...rest] = parts;
  if (first.kind !== 'literal' || second?.kind !== 'alternate' || rest.some(part => part.kind !== 'star'))
    return false;
  return second.parts.every(
    part =>
      part.kind === 'literal' ||
      part.kind === 'empty' ||
      part.kind === 'star' ||
      (part.kind === 'concat' && isSimpleConcat(part.parts)),
  );
}
