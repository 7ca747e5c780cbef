/**
 * The algorithm of Loki as docs/dev/logql-semantics.md#lokis-pattern-mining describes it, for comparison: one tree for each
 * stream and level. What the description leaves open is decided in its favor: no cluster is ever evicted, and no time is needed.
 */
const DEPTH = 28;
const THRESHOLD = 0.3;
const MAX_CHILDREN = 15;
const MAX_LINE_BYTES = 3000;
const MIN_TOKENS = 4;
const MAX_TOKENS = 80;
const LAST_TOKEN = 127;
const ANY = '<_>';
const MIN_LINES = 30;
const JSON_FIELDS = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];
const TIME_KEYS = new Set(['ts', 'traceid', 'time', 'timestamp']);

type Format = 'json' | 'logfmt' | 'text';

interface Cluster {
  tokens: string[];
  lines: number;
  readonly print: (tokens: readonly string[]) => string;
}

interface Node {
  readonly children: Map<string, Node>;
  readonly clusters: Cluster[];
}

interface Tokens {
  readonly tokens: string[];
  readonly print: (tokens: readonly string[]) => string;
}

const newNode = (): Node => ({ children: new Map(), clusters: [] });

interface DrainedPattern {
  readonly pattern: string;
  readonly lines: number;
}

export class ReferenceDrain {
  readonly #roots = new Map<number, Node>();
  readonly #clusters: Cluster[] = [];
  #format: Format | undefined;

  /** The line's cluster; undefined if the line is skipped. */
  add(line: string): Cluster | undefined {
    this.#format ??= formatOf(line);
    if (Buffer.byteLength(line) > MAX_LINE_BYTES) return undefined;
    const read = tokenize(line, this.#format);
    if (read === undefined) return undefined;
    const { tokens, print } = read;
    if (tokens.length < MIN_TOKENS || tokens.length > MAX_TOKENS) return undefined;
    let cluster = this.#match(tokens);
    if (cluster === undefined) {
      cluster = { tokens, lines: 0, print };
      this.#clusters.push(cluster);
      this.#insert(tokens, cluster);
    } else cluster.tokens = cluster.tokens.map((token, i) => (token === tokens[i] ? token : ANY));
    cluster.lines++;
    return cluster;
  }

  /** Patterns to show for one stream and level. */
  patterns(minLines = MIN_LINES): DrainedPattern[] {
    return this.#clusters
      .filter(({ lines }) => lines >= minLines)
      .map(({ tokens, lines, print }) => ({ pattern: print(tokens).replaceAll(/(?:<_>)+/g, ANY), lines }));
  }

  #match(tokens: readonly string[]): Cluster | undefined {
    let node = this.#roots.get(tokens.length);
    for (let i = 0; node !== undefined && i < Math.min(DEPTH, tokens.length) - 1; i++) {
      node = node.children.get(tokens[i]) ?? node.children.get(ANY);
    }
    let best: Cluster | undefined;
    let bestEqual = -1;
    let bestAny = -1;
    for (const cluster of node?.clusters ?? []) {
      const any = cluster.tokens.filter(token => token === ANY).length;
      const equal = cluster.tokens.filter((token, i) => token !== ANY && token === tokens[i]).length;
      if (equal > bestEqual || (equal === bestEqual && any > bestAny)) {
        best = cluster;
        bestEqual = equal;
        bestAny = any;
      }
    }
    return best !== undefined && bestEqual / tokens.length >= THRESHOLD ? best : undefined;
  }

  #insert(tokens: readonly string[], cluster: Cluster): void {
    let node = this.#roots.get(tokens.length);
    if (node === undefined) {
      node = newNode();
      this.#roots.set(tokens.length, node);
    }
    for (let i = 0; i < Math.min(DEPTH, tokens.length) - 1; i++) {
      let key = tokens[i];
      if (!node.children.has(key)) {
        const free = MAX_CHILDREN - node.children.size;
        if (/\d/.test(key) || free <= 1) key = ANY;
      }
      let next: Node | undefined = node.children.get(key);
      if (next === undefined) {
        next = newNode();
        node.children.set(key, next);
      }
      node = next;
    }
    node.clusters.push(cluster);
  }
}

function formatOf(line: string): Format {
  if (line.startsWith('{') && line.endsWith('}')) return 'json';
  return /^(?:\w+=(?:"[^"]*"|[^\s"]*)\s*)+$/.test(line) ? 'logfmt' : 'text';
}

function tokenize(line: string, format: Format): Tokens | undefined {
  if (format === 'text') return textTokens(line);
  if (format === 'logfmt') return logfmtTokens(line);
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  const message = JSON_FIELDS.map(name => fields[name]).find(value => typeof value === 'string');
  if (message === undefined) return undefined;
  const { tokens, print } = textTokens(message as string);
  return { tokens, print: all => `${ANY}${print(all)}${ANY}` };
}

function textTokens(line: string): Tokens {
  const tokens: string[] = [];
  const spaces = new Set<number>();
  let token = '';
  const end = () => {
    if (token !== '') tokens.push(token);
    token = '';
  };
  for (const rune of line) {
    if (tokens.length >= LAST_TOKEN) token += rune;
    else if (rune === ' ') {
      end();
      spaces.add(tokens.length - 1);
    } else if (/[\p{L}\p{N}_\-.:/]/u.test(rune)) token += rune;
    else if (rune === '=' || /\p{P}/u.test(rune)) {
      end();
      tokens.push(rune);
    } else token += rune;
  }
  end();
  return { tokens, print: all => all.map((one, i) => (spaces.has(i) ? `${one} ` : one)).join('') };
}

function logfmtTokens(line: string): Tokens | undefined {
  const tokens: string[] = [];
  for (const [, key, quoted, plain] of line.matchAll(/([^\s=]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/g)) {
    tokens.push(key, TIME_KEYS.has(key.toLowerCase()) || key === 't' ? ANY : (quoted ?? plain));
  }
  if (tokens.length === 0) return undefined;
  return {
    tokens,
    print: all => {
      const pairs: string[] = [];
      for (let i = 0; i + 1 < all.length; i += 2) {
        const value = all[i + 1];
        pairs.push(`${all[i]}=${/[\s="]/.test(value) ? JSON.stringify(value) : value}`);
      }
      return pairs.join(' ');
    },
  };
}
