/**
 * Small LALR(1) table generator with yacc's conventions: shift before reduce if precedence does not decide,
 * the earlier rule before the later one, and the most frequent reduction of a state as its default. It runs
 * only at development time; its output for LogQL is checked in as `shared/language/logql/tables.ts`.
 *
 * Method: LR(0) states, then lookaheads by propagation between kernel items (the textbook method; sets are
 * bigints, bit = token).
 */
interface Grammar {
  readonly start: string;
  /** Token names; index 0 is the end of the text. */
  readonly tokens: readonly string[];
  /** Lines `name : symbols = action`. */
  readonly rules: string;
  readonly precedence: readonly { readonly side: 'left' | 'right'; readonly tokens: string }[];
}

interface GrammarRule {
  readonly left: number;
  readonly right: readonly number[];
  readonly action: string;
}

interface Tables {
  readonly nonterminals: readonly string[];
  readonly rules: readonly GrammarRule[];
  /** Next state by token, for each state. */
  readonly shifts: readonly ReadonlyMap<number, number>[];
  /** Rule by token, for each state, unless it is the default. */
  readonly reductions: readonly ReadonlyMap<number, number>[];
  /** Default rule of each state, or -1 for an error. Rule 0 is accept. */
  readonly defaults: readonly number[];
  /** Next state by nonterminal, for each state. */
  readonly gotos: readonly ReadonlyMap<number, number>[];
}

/**
 * Factor that encodes a kernel item, rule and dot, as one number, so that item sets have an order and a key.
 */
const DOTS = 64;

export function makeTables(grammar: Grammar): Tables {
  const { rules, nonterminals } = readRules(grammar);
  const tokenCount = grammar.tokens.length;
  const rulesOf: number[][] = nonterminals.map(() => []);
  for (const [i, rule] of rules.entries()) rulesOf[rule.left].push(i);
  const isToken = (symbol: number) => symbol < tokenCount;
  const { nullable, first } = firstSets(rules, nonterminals.length, tokenCount);

  // LR(0) states.
  const kernels: number[][] = [[0]];
  const stateOf = new Map<string, number>([['0', 0]]);
  const moves: Map<number, number>[] = [];
  for (let state = 0; state < kernels.length; state++) {
    const next = new Map<number, number[]>();
    for (const item of closure(kernels[state])) {
      const symbol = rules[Math.floor(item / DOTS)].right[item % DOTS];
      if (symbol === undefined) continue;
      const items = next.get(symbol);
      if (items === undefined) next.set(symbol, [item + 1]);
      else items.push(item + 1);
    }
    const row = new Map<number, number>();
    for (const [symbol, items] of next) {
      items.sort((a, b) => a - b);
      const key = items.join(' ');
      let target = stateOf.get(key);
      if (target === undefined) {
        target = kernels.length;
        kernels.push(items);
        stateOf.set(key, target);
      }
      row.set(symbol, target);
    }
    moves.push(row);
  }

  function closure(kernel: readonly number[]): number[] {
    const out = [...kernel];
    const added = new Set<number>();
    for (let i = 0; i < out.length; i++) {
      const symbol = rules[Math.floor(out[i] / DOTS)].right[out[i] % DOTS];
      if (symbol === undefined || isToken(symbol) || added.has(symbol)) continue;
      added.add(symbol);
      for (const rule of rulesOf[symbol - tokenCount]) out.push(rule * DOTS);
    }
    return out;
  }

  /** First tokens after the symbol that follows the dot, or `ahead` if all of that can be empty. */
  function following(item: number, ahead: bigint): bigint {
    const right = rules[Math.floor(item / DOTS)].right;
    let tokens = 0n;
    for (let at = (item % DOTS) + 1; at < right.length; at++) {
      const symbol = right[at];
      if (isToken(symbol)) return tokens | (1n << BigInt(symbol));
      tokens |= first[symbol - tokenCount];
      if (!nullable[symbol - tokenCount]) return tokens;
    }
    return tokens | ahead;
  }

  /** Lookaheads of every item of a state, given those of its kernel. */
  function closureAhead(kernel: readonly number[], ahead: readonly bigint[]): Map<number, bigint> {
    const out = new Map<number, bigint>();
    kernel.forEach((item, i) => {
      out.set(item, ahead[i]);
    });
    const queue = [...kernel];
    for (let i = 0; i < queue.length; i++) {
      const item = queue[i];
      const symbol = rules[Math.floor(item / DOTS)].right[item % DOTS];
      if (symbol === undefined || isToken(symbol)) continue;
      const tokens = following(item, out.get(item)!);
      for (const rule of rulesOf[symbol - tokenCount]) {
        const target = rule * DOTS;
        const old = out.get(target);
        if (old !== undefined && (old | tokens) === old) continue;
        out.set(target, (old ?? 0n) | tokens);
        queue.push(target);
      }
    }
    return out;
  }

  // Lookaheads of kernel items, to the fixed point.
  const aheads: bigint[][] = kernels.map(kernel => kernel.map(() => 0n));
  aheads[0][0] = 1n;
  const work = [0];
  const queued = new Set([0]);
  const visited = new Set<number>();
  for (let state = work.shift(); state !== undefined; state = work.shift()) {
    queued.delete(state);
    visited.add(state);
    for (const [item, tokens] of closureAhead(kernels[state], aheads[state])) {
      const symbol = rules[Math.floor(item / DOTS)].right[item % DOTS];
      if (symbol === undefined) continue;
      const target = moves[state].get(symbol)!;
      const at = kernels[target].indexOf(item + 1);
      const old = aheads[target][at];
      if ((old | tokens) === old && visited.has(target)) continue;
      aheads[target][at] = old | tokens;
      if (!queued.has(target)) {
        queued.add(target);
        work.push(target);
      }
    }
  }

  const levelOf = new Map<number, { level: number; side: string }>();
  grammar.precedence.forEach(({ side, tokens }, level) => {
    for (const name of tokens.split(' ')) levelOf.set(grammar.tokens.indexOf(name), { level, side });
  });
  /** A rule has the precedence of its last token that has one. */
  const ruleLevel = (rule: number) =>
    levelOf.get(rules[rule].right.findLast(symbol => levelOf.has(symbol)) ?? -1);

  const shifts: Map<number, number>[] = [];
  const reductions: Map<number, number>[] = [];
  const defaults: number[] = [];
  const gotos: Map<number, number>[] = [];
  kernels.forEach((kernel, state) => {
    const shift = new Map([...moves[state]].filter(([symbol]) => isToken(symbol)));
    const reduce = new Map<number, number>();
    for (const [item, ahead] of closureAhead(kernel, aheads[state])) {
      const rule = Math.floor(item / DOTS);
      if (item % DOTS < rules[rule].right.length) continue;
      for (let token = 0; token < tokenCount; token++) {
        if (((ahead >> BigInt(token)) & 1n) === 0n) continue;
        reduce.set(token, Math.min(rule, reduce.get(token) ?? rule));
      }
    }
    for (const [token, rule] of [...reduce]) {
      if (!shift.has(token)) continue;
      const ofToken = levelOf.get(token);
      const ofRule = ruleLevel(rule);
      const rulesWins =
        ofToken !== undefined &&
        ofRule !== undefined &&
        (ofRule.level > ofToken.level || (ofRule.level === ofToken.level && ofToken.side === 'left'));
      if (rulesWins) shift.delete(token);
      else reduce.delete(token);
    }
    const standard = mostFrequent(reduce, tokenCount);
    for (const [token, rule] of [...reduce]) if (rule === standard) reduce.delete(token);
    shifts.push(shift);
    reductions.push(reduce);
    defaults.push(standard);
    gotos.push(
      new Map(
        [...moves[state]]
          .filter(([symbol]) => !isToken(symbol))
          .map(([symbol, to]) => [symbol - tokenCount, to]),
      ),
    );
  });
  return { nonterminals, rules, shifts, reductions, defaults, gotos };
}

function readRules(grammar: Grammar): { rules: GrammarRule[]; nonterminals: string[] } {
  const lines = [`$accept : ${grammar.start} = accept`];
  for (const line of grammar.rules.split('\n')) if (line.trim() !== '') lines.push(line);
  const parts = lines.map(line => {
    const match = /^([^ ]+) :(.*) = (\w+)$/.exec(line);
    if (match === null) throw new Error(`not a rule: ${line}`);
    return {
      left: match[1],
      right: match[2].trim() === '' ? [] : match[2].trim().split(' '),
      action: match[3],
    };
  });
  const nonterminals = [...new Set(parts.map(part => part.left))];
  const number = (name: string): number => {
    const token = grammar.tokens.indexOf(name);
    if (token >= 0) return token;
    const nonterminal = nonterminals.indexOf(name);
    if (nonterminal < 0) throw new Error(`neither a token nor a rule: ${name}`);
    return grammar.tokens.length + nonterminal;
  };
  const rules = parts.map(part => ({
    left: nonterminals.indexOf(part.left),
    right: part.right.map(number),
    action: part.action,
  }));
  return { rules, nonterminals };
}

function firstSets(rules: readonly GrammarRule[], count: number, tokenCount: number) {
  const nullable: boolean[] = Array.from({ length: count }, () => false);
  const first: bigint[] = Array.from({ length: count }, () => 0n);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { left, right } of rules) {
      let tokens = first[left];
      let empty = true;
      for (const symbol of right) {
        tokens |= symbol < tokenCount ? 1n << BigInt(symbol) : first[symbol - tokenCount];
        empty = symbol >= tokenCount && nullable[symbol - tokenCount];
        if (!empty) break;
      }
      if (tokens === first[left] && (!empty || nullable[left])) continue;
      first[left] = tokens;
      nullable[left] ||= empty;
      changed = true;
    }
  }
  return { nullable, first };
}

/** Rule by which most tokens reduce, the first in token order among equals; -1 if there is none. */
function mostFrequent(reduce: ReadonlyMap<number, number>, tokenCount: number): number {
  const counts = new Map<number, number>();
  for (let token = 0; token < tokenCount; token++) {
    const rule = reduce.get(token);
    if (rule !== undefined) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  }
  let best = -1;
  let most = 0;
  for (const [rule, count] of counts) {
    if (count <= most) continue;
    best = rule;
    most = count;
  }
  return best;
}
