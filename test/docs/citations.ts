/** References from the code to pages: `docs/dev/format.md#2-blocks, #9-the-text-filter`, and those that name no page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorsOf } from './links.ts';
import { ROOT } from './pages.ts';

/** Forms of a number that only the author can look up. */
const BARE: readonly RegExp[] = [
  /\((?:see )?\d{1,2}\.\d{1,2}(?:(?:,| and| to) \d{1,2}\.\d{1,2})*\)/,
  /\b(?:logql|wire-format)(?: reference)?,? \d/i,
  /\bcontract(?:'s)?,? (?:section )?\d/i,
  /(?<!\bRFC \d{1,5}, )\bsections? \d/i,
  /\.md,? (?:sections? )?\d/,
  /\.md, "/,
  /\bissue #?\d/i,
];

export function bareCitations(comment: string): string[] {
  return BARE.flatMap(form => form.exec(comment)?.[0] ?? []);
}

const LINK = /\bdocs\/[\w./-]+\.md(?:#[\w-]+(?:, #[\w-]+)*)?/g;
const anchors = new Map<string, ReadonlySet<string>>();

/** References whose page or anchor is missing. */
export function brokenCitations(comment: string): string[] {
  return (comment.match(LINK) ?? []).flatMap(link => {
    const [page, ...names] = link.split(/, #|#/);
    const path = join(ROOT, page);
    if (!existsSync(path)) return [`${page}: no file`];
    const there = anchors.get(page) ?? anchorsOf(readFileSync(path, 'utf8'));
    anchors.set(page, there);
    return names.filter(name => !there.has(name)).map(name => `${page}#${name}: no anchor`);
  });
}
