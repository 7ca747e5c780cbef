/**
 * The fenced code blocks of a Markdown page. The words behind the language say what the page test does with a block:
 *
 *     ```yaml file=shop.yaml     is written to the page's folder
 *     ```sh store                starts a store with the options of this command
 *     ```sh run                  runs in bash, in the page's folder, and must exit with 0
 *     ```text output             what the command above prints; `...` stands for any text
 */
export interface CodeBlock {
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

const MARKS = /^(run|store|output|file=[\w.\-/]+)$/;

/** @throws Error if a fence has a mark that no test knows */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = markdown.split('\n');
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith('```')) continue;
    const [language, ...marks] = lines[i].slice(3).trim().split(/\s+/);
    const unknown = marks.find(mark => !MARKS.test(mark));
    if (unknown !== undefined) throw new Error(`line ${i + 1}: unknown mark ${unknown}`);
    const start = i;
    while (++i < lines.length && lines[i] !== '```');
    if (i === lines.length) throw new Error(`line ${start + 1}: code block without an end`);
    blocks.push({ language, marks, text: `${lines.slice(start + 1, i).join('\n')}\n`, line: start + 1 });
  }
  return blocks;
}

/** The page without code: fenced blocks are gone, code spans are empty. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/(`+)[\s\S]*?\1/g, '``');
}
