/**
 * Configurations of agents, taken from the pages of the documentation: what a reader copies is what runs. Addresses,
 * paths and waits of a run replace those of the page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';

const BLOCK = /^( *)```\w+ tested=scripts\/clients\/page-config\.mjs\n([\s\S]*?)^ *```$/gm;

/** Blocks of a page below docs/send that are marked as tested by this file. */
export function blocksOf(page) {
  const text = readFileSync(join(ROOT, 'docs', 'send', page), 'utf8');
  return [...text.matchAll(BLOCK)].map(([, indent, block]) => block.replace(RegExp(`^${indent}`, 'gm'), ''));
}

/** `text` with each key of `values` replaced. Throws if it lacks one, because the page has changed. */
export function withValues(text, values) {
  let changed = text;
  for (const [from, to] of Object.entries(values)) {
    if (!changed.includes(from)) throw new Error(`the page no longer contains ${from}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
}
