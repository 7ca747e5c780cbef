/**
 * Writes the stack in several settings from one bundler run, for tests. Separate runs would take five times
 * as long.
 *
 *     FOLDER/bundles/NAME   bundle of each function
 *     FOLDER/NAME           assembly of each variant
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import {
  EVENT_FUNCTION_NAMES,
  FUNCTION_NAMES,
  STACK_FUNCTION_NAMES,
  TAIL_FUNCTION_NAMES,
  WORKER_FUNCTION_NAMES,
} from '../functions/groups.ts';
import { buildCode, writeAssembly } from './app.ts';
import { settingsOf } from './settings.ts';

/** @param variants settings by name. Throws if a check fails. */
export async function writeVariants(
  folder: string,
  variants: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const context = flagsOfProject();
  const bundles = join(folder, 'bundles');
  mkdirSync(bundles);
  const names = [
    ...FUNCTION_NAMES,
    ...TAIL_FUNCTION_NAMES,
    ...WORKER_FUNCTION_NAMES,
    ...EVENT_FUNCTION_NAMES,
    ...STACK_FUNCTION_NAMES,
  ];
  const built = await buildCode(names, {
    folder: bundles,
    withPage: true,
    withService: true,
    withServicePage: true,
  });
  for (const [name, settings] of Object.entries(variants)) {
    writeAssembly(new App({ context, outdir: join(folder, name) }), settingsOf(settings), built);
  }
}

/** Verifies that the checks work: a queue without the required settings must fail. */
export function checksRefuse(folder: string): boolean {
  const app = new App({ context: flagsOfProject(), outdir: join(folder, 'refused') });
  new Queue(new Stack(app, 'Refused'), 'Queue');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  try {
    app.synth();
    return process.exitCode !== undefined && process.exitCode !== 0;
  } catch {
    return true;
  } finally {
    process.exitCode = 0;
  }
}

function flagsOfProject(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
  return context;
}
