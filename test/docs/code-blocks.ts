/**
 * The fenced code blocks of a Markdown page. The words behind the language say what the page test does with a block:
 *
 *     ```yaml file=shop.yaml     is written to the page's folder
 *     ```sh store                starts a store with the options of this command
 *     ```sh run                  runs in bash, in the page's folder, and must exit with 0
 *     ```sh run stopped          the same, after the store was stopped
 *     ```sh run needs=sqlite3    the same, if this machine has the program
 *     ```sh follow               starts a command that does not end, and stops it after the next output or follow block
 *     ```text output             what the command above prints; `...` stands for any text
 *     ```sh tested=scripts/x.mjs another test or script of the repository runs it
 *     ```sh untested             nothing runs it, and the page says "not tested"
 *     ```text example            a form; there is nothing to run
 */
export interface CodeBlock {
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

const MARKS =
  /^(run|stopped|follow|store|output|untested|example|file=[\w.\-/]+|needs=\w+|tested=[\w.\-/]+)$/;

/** @throws Error if a fence has a mark that no test knows */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = markdown.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const [, indent, fence] = /^( *)```(.*)$/.exec(lines[i]) ?? [];
    if (fence === undefined) continue;
    const [language, ...marks] = fence.trim().split(/\s+/);
    const unknown = marks.find(mark => !MARKS.test(mark));
    if (unknown !== undefined) throw new Error(`line ${i + 1}: unknown mark ${unknown}`);
    const start = i;
    while (++i < lines.length && lines[i] !== `${indent}\`\`\``);
    if (i === lines.length) throw new Error(`line ${start + 1}: code block without an end`);
    const text = lines.slice(start + 1, i).map(line => `${line.replace(indent, '')}\n`);
    blocks.push({ language, marks, text: text.join(''), line: start + 1 });
  }
  return blocks;
}

/** The page without code: fenced blocks are gone, code spans are empty. */
export function withoutCode(markdown: string): string {
  return withoutBlocks(markdown).replace(/(`+)[\s\S]*?\1/g, '``');
}

export function withoutBlocks(markdown: string): string {
  return markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
}
