/**
 * Collects the stage cases: every other module of this folder exports `cases`. A new module needs no line
 * here.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';

export interface StageCase {
  readonly name: string;
  /** Input of one run. Missing figures are not shown. */
  readonly bytes?: number;
  readonly lines?: number;
  readonly samples?: number;
  run(): unknown;
}

interface StageModule {
  /** Name of the module. */
  readonly name: string;
  readonly cases: readonly StageCase[];
}

/** Stages one by one, so that the inputs of one are freed before the next creates its own. */
export async function* loadStages(): AsyncGenerator<StageModule> {
  const modules = readdirSync(import.meta.dirname).filter(
    file => file.endsWith('.ts') && file !== 'index.ts',
  );
  for (const file of modules.sort()) {
    const { cases } = (await import(`./${file}`)) as { cases: readonly StageCase[] };
    yield { name: basename(file, '.ts'), cases };
  }
}
