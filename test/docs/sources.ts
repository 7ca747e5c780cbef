/** TypeScript and JavaScript of the project, and the comments in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './pages.ts';

const FOLDERS = ['bench', 'bin', 'functions', 'lib', 'local', 'scripts', 'shared', 'test', 'ui/src'];
const INSTALLED = /(^|\/)(node_modules|dist)\//;

/** Every source file with its text, by path from the root. */
export function sources(): readonly (readonly [path: string, text: string])[] {
  return FOLDERS.flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map(name => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter(path => /\.(tsx?|[cm]ts|[cm]js)$/.test(path) && !INSTALLED.test(path))
      .map(path => [path, readFileSync(join(ROOT, path), 'utf8')] as const),
  );
}

/**
 * Comments of a source, and titles of its tests, each in one line. Lines of a comment that follow each other are one text, so that a
 * phrase is found across a line break. A line counts as a comment by how it starts, which needs no parser.
 */
export function commentsOf(text: string): string[] {
  const comments: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    const comment = /^\s*(?:\/\*\*?|\*\/?|\/\/)(.*)$/.exec(line)?.[1];
    if (comment !== undefined) {
      open += ` ${comment.trim()}`;
      continue;
    }
    if (open !== '') comments.push(open.trim());
    open = '';
    const behind = /\s\/\/ (.*)$/.exec(line)?.[1];
    const title = /\b(?:describe|test)\b[^'"`]*(['"`])(.*)\1/.exec(line)?.[2];
    comments.push(...[behind, title].filter(found => found !== undefined));
  }
  if (open !== '') comments.push(open.trim());
  return comments;
}

/** Strings of several words, and text between tags of JSX. Placeholders of templates are empty. */
export function messagesOf(text: string): string[] {
  const code = text.replace(/^\s*(\/\*|\*|\/\/).*$/gm, '');
  const strings = code.matchAll(/'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`/g);
  const tagged = code.matchAll(/>([^<>{}=;]+)</g);
  return [...strings, ...tagged]
    .map(found => found.slice(1).find(part => part !== undefined) ?? '')
    .map(message => message.replace(/\$\{[^}]*\}/g, ' ').replace(/\s+/g, ' '))
    .filter(message => /[a-z]{2} [a-z]{2}/i.test(message));
}
