/** JSON line, indented and colored. */
import type { ComponentChildren } from 'preact';

/** Maximum depth; deeper values are on one line. */
const MAX_DEPTH = 12;

export function PrettyJson({ value }: { readonly value: unknown }) {
  return <pre class="pretty">{drawn(value, 0)}</pre>;
}

function drawn(value: unknown, depth: number): ComponentChildren {
  if (value === null || typeof value === 'boolean') return <span class="json-word">{String(value)}</span>;
  if (typeof value === 'number') return <span class="json-number">{String(value)}</span>;
  if (typeof value === 'string') return <span class="json-string">{JSON.stringify(value)}</span>;
  const entries = Object.entries(value as object);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? '[]' : '{}';
  if (entries.length === 0) return `${open}${close}`;
  if (depth >= MAX_DEPTH) return JSON.stringify(value);
  const indent = '  '.repeat(depth + 1);
  return (
    <>
      {open}
      {entries.map(([name, part], i) => (
        <>
          {`\n${indent}`}
          {!isArray && (
            <>
              <span class="json-name">{JSON.stringify(name)}</span>
              {': '}
            </>
          )}
          {drawn(part, depth + 1)}
          {i + 1 < entries.length && ','}
        </>
      ))}
      {`\n${'  '.repeat(depth)}${close}`}
    </>
  );
}
