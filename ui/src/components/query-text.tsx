/** Read-only query with the editor's colors, without loading the editor. */
import { type Token, tokensOf } from '../logql/tokens.ts';
import { AGGREGATIONS, RANGE_FUNCTIONS, STAGES } from '../logql/vocabulary.ts';

const KEYWORDS = new Set([
  ...['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'offset', 'bool', 'unwrap'],
  ...['group_left', 'group_right'],
  ...STAGES.map(({ text }) => text.trim()),
]);
const FUNCTIONS = new Set([...AGGREGATIONS, ...RANGE_FUNCTIONS].map(({ text }) => text));

export function QueryText({ query }: { readonly query: string }) {
  const tokens = tokensOf(query);
  return (
    <code class="query-text">
      {tokens.map((token, i) => (
        <span key={token.from} class={classOf(token, tokens[i + 1])}>
          {/* Only whitespace is between two tokens. */}
          {query.slice(i === 0 ? 0 : tokens[i - 1].to, token.from)}
          {token.text}
        </span>
      ))}
    </code>
  );
}

function classOf({ kind, text }: Token, next: Token | undefined): string {
  switch (kind) {
    case 'string':
    case 'open-string':
      return 'ql-string';
    case 'number':
      return 'ql-number';
    case 'comment':
      return 'ql-comment';
    case 'mark':
      return 'ql-operator';
    case 'word':
      if (FUNCTIONS.has(text) || (next?.text === '(' && !KEYWORDS.has(text))) return 'ql-function';
      return KEYWORDS.has(text) ? 'ql-keyword' : 'ql-label';
  }
}
