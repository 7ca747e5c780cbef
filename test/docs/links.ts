/** Links of a Markdown page to other files of the repository, and the anchors that headings make. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { withoutBlocks, withoutCode } from './code-blocks.ts';
import { ROOT } from './pages.ts';

/** Anchors as GitHub and the documentation site make them: the second heading of a text gets `-1`. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const times = new Map<string, number>();
  for (const [, heading] of withoutBlocks(markdown).matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
    const anchor = text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const before = times.get(anchor) ?? 0;
    times.set(anchor, before + 1);
    anchors.add(before === 0 ? anchor : `${anchor}-${before}`);
  }
  return anchors;
}

/** Broken links of a page: `TARGET: no file` or `TARGET: no anchor`. */
export function brokenLinks(path: string): string[] {
  const markdown = readFileSync(path, 'utf8');
  const broken: string[] = [];
  for (const [, link] of withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const [file, anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), decodeURI(file)));
    if (relative(ROOT, target).startsWith('..') || !existsSync(target)) broken.push(`${link}: no file`);
    else if (
      anchor !== undefined &&
      target.endsWith('.md') &&
      !anchorsOf(readFileSync(target, 'utf8')).has(anchor)
    ) {
      broken.push(`${link}: no anchor`);
    }
  }
  return broken;
}
