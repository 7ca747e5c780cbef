/**
 * Kernels under guard: compiled so that each load and store is reported to the host, with its allowed range.
 * The guard does not see `memory.copy` and `memory.fill`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kernelModule, useKernelModule } from '../../shared/base/kernels/kernels.ts';
import { CACHE } from '../support/program.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
const BUILD = at('scripts/build-kernels.mjs');
const SOURCES = at('shared/base/kernels/assembly');
/** Names the version of the compiler. */
const COMPILER = at('node_modules/assemblyscript/package.json');
const PREFIX = 'guarded-';

type Range = readonly [from: number, to: number];

export interface Guard {
  /** Allowed ranges of accesses from now on, of all instances. */
  allow(ranges: readonly Range[]): void;
  /** Accesses outside, as text; at most ten. */
  readonly faults: string[];
  /** Loads and stores so far. */
  accesses: number;
  /** Instances that are made from now on are no longer guarded. */
  release(): void;
}

/** Instances that are made from now on are guarded. */
export function guardKernels(): Guard {
  let allowed: readonly Range[] = [];
  const plain = kernelModule();
  const guard: Guard = {
    allow: ranges => void (allowed = ranges),
    faults: [],
    accesses: 0,
    release: () => useKernelModule(plain),
  };
  const check = (what: string) => (_: number, bytes: number, offset: number, address: number) => {
    const from = (address >>> 0) + offset;
    guard.accesses++;
    for (let i = 0; i < allowed.length; i++) {
      if (from >= allowed[i][0] && from + bytes <= allowed[i][1]) return address;
    }
    if (guard.faults.length < 10) guard.faults.push(`${what} of ${bytes} at ${from}`);
    return address;
  };
  const value = (_: number, stored: unknown) => stored;
  const types = ['i32', 'i64', 'f32', 'f64'];
  const values = types.flatMap(type => [`load_val_${type}`, `store_val_${type}`]).map(name => [name, value]);
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Module: new (bytes: Uint8Array) => object };
  };
  useKernelModule(new WebAssembly.Module(instrumented()), {
    load_ptr: check('load'),
    store_ptr: check('store'),
    memory_grow_pre: value,
    memory_grow_post: value,
    ...Object.fromEntries(values),
  });
  return guard;
}

/** Compiled once for a state of the sources, because each file of tests would take three seconds of CPU time for it. */
function instrumented(): Buffer {
  const known = join(CACHE, `${PREFIX}${stateOfSources()}.wasm`);
  if (!existsSync(known)) compileTo(known);
  return readFileSync(known);
}

function compileTo(known: string): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'kernels-'));
  try {
    const file = join(folder, 'guarded.wasm');
    const { status, stderr } = spawnSync(process.execPath, [BUILD, '--instrument', file], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    for (const name of readdirSync(CACHE))
      if (name.startsWith(PREFIX)) rmSync(join(CACHE, name), { force: true });
    renameSync(file, known);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Hash of everything that decides about the compiled module. */
function stateOfSources(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(SOURCES).sort();
  for (const file of [...sources.map(name => join(SOURCES, name)), BUILD, COMPILER])
    hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
