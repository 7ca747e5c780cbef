/** Regular expressions on bytes, by re2js alone: the matcher sees characters, matches are cut from the bytes. */
import { RE2JS } from 're2js';
import { type Bytes, isAscii, runeAt } from './bytes.ts';

interface BytesRegex {
  test(bytes: Bytes): boolean;
  /** Groups of the first match, index 0 the whole; undefined for one that took no part. */
  exec(bytes: Bytes): (Bytes | undefined)[] | undefined;
  /** Name of each group from 1 on, '' for one without. */
  readonly groupNames: readonly string[];
}

const compiled = new Map<string, BytesRegex>();

export function regexOf(pattern: string): BytesRegex {
  let regex = compiled.get(pattern);
  if (regex === undefined) compiled.set(pattern, (regex = compile(pattern)));
  return regex;
}

function compile(pattern: string): BytesRegex {
  const re = RE2JS.compile(pattern);
  const groups = pattern.replace(/\\[\s\S]|\[[^\]]*\]/g, '').matchAll(/\((?:\?P?<(\w+)>|(?!\?))/g);
  const groupNames = [...groups].map(match => match[1] ?? '');
  return {
    groupNames,
    test: bytes => re.matcher(charactersOf(bytes).text).find(),
    exec(bytes) {
      const { text, offsets } = charactersOf(bytes);
      const matcher = re.matcher(text);
      if (!matcher.find()) return undefined;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, i) => {
        const start = matcher.start(i);
        return start < 0 ? undefined : bytes.slice(offsets[start], offsets[matcher.end(i)]);
      });
    },
  };
}

/** The characters as a string, and for each of its units, and its end, the offset of the byte. */
function charactersOf(bytes: Bytes): { text: string; offsets: ArrayLike<number> } {
  if (isAscii(bytes)) return { text: bytes, offsets: IDENTITY };
  let text = '';
  const offsets: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { code, size } = runeAt(bytes, at);
    const char = String.fromCodePoint(code);
    for (let i = 0; i < char.length; i++) offsets.push(at);
    text += char;
    at += size;
  }
  offsets.push(bytes.length);
  return { text, offsets };
}

const IDENTITY = Uint32Array.from({ length: 1 << 17 }, (_, i) => i);

/** A matcher of labels: the whole value, a dot matches a newline. */
export function wholeRegex(pattern: string): BytesRegex {
  return regexOf(`^(?s:${pattern})$`);
}
