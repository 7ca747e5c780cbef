/** The committed module equals the compiled sources, and contains everything that a thread needs. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { COMPILED } from '../../shared/base/kernels/compiled.ts';
import { kernelModule, useKernelModule } from '../../shared/base/kernels/kernels.ts';
import { termSetOfThread } from '../../shared/base/kernels/term-set.ts';

const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const at = (path: string) => urlOf(path).pathname;
const SOURCES = at('shared/base/kernels/assembly');

interface Described {
  Module: {
    new (bytes: Uint8Array): object;
    imports(module: object): { module: string; name: string; kind: string }[];
  };
}
const { Module } = (globalThis as unknown as { WebAssembly: Described }).WebAssembly;

describe('the compiled module', () => {
  test('equals the compiled sources', () => {
    const { status, stderr } = spawnSync(process.execPath, [at('scripts/build-kernels.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect([stderr, status]).toEqual(['', 0]);
  });

  test('imports a memory and the names of KernelImports', () => {
    const module = new Module(Buffer.from(COMPILED, 'base64'));
    expect(Module.imports(module).map(({ name, kind }) => [name, kind])).toEqual([
      ['unescapeValue', 'function'],
      ['nameKey', 'function'],
      ['memory', 'memory'],
    ]);
  });

  /** A data section would be written into every memory, over its contents: sources lay out the kernels. */
  test('has no data section', () => {
    expect(sectionsOf(Buffer.from(COMPILED, 'base64'))).not.toContain(11);
  });

  test('has no source longer than 300 lines', () => {
    for (const name of readdirSync(SOURCES).filter(file => file.endsWith('.ts'))) {
      const lines = readFileSync(`${SOURCES}/${name}`, 'utf8').split('\n').length - 1;
      expect([name, lines <= 300]).toEqual([name, true]);
    }
  });

  /**
   * Node.js crashes sometimes if modules are compiled and dropped repeatedly (test/support/environment.mjs).
   */
  test('is compiled once for all test files of a process', () => {
    expect(new Module(Buffer.from(COMPILED, 'base64'))).toBe(kernelModule());
  });

  test('is compiled once in a thread, and may be that of another', async () => {
    expect(kernelModule()).toBe(kernelModule());
    const source = `
      import { parentPort, workerData } from 'node:worker_threads';
      import { kernelModule, useKernelModule } from '${urlOf('shared/base/kernels/kernels.ts')}';
      import { TermSet } from '${urlOf('shared/base/kernels/term-set.ts')}';
      useKernelModule(workerData);
      const set = new TermSet();
      set.clear();
      set.addText(Buffer.from('job a1b2c3 done'), true);
      parentPort.postMessage({ isSame: kernelModule() === workerData, terms: [...set.terms] });
    `;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
      workerData: kernelModule(),
    });
    const [answer] = await new Promise<unknown[]>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', message => resolve([message]));
    });
    await worker.terminate();
    const set = termSetOfThread();
    set.clear();
    set.addText(Buffer.from('job a1b2c3 done'), true);
    expect(answer).toEqual({ isSame: true, terms: [...set.terms] });
    useKernelModule(kernelModule());
  });
});

/** Numbers of the sections of a module. */
function sectionsOf(bytes: Buffer): number[] {
  const sections: number[] = [];
  for (let at = 8; at < bytes.length; ) {
    sections.push(bytes[at++]);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      size |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    at += size;
  }
  return sections;
}
