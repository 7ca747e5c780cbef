/**
 * The CDK app: bundles the functions, describes the stack, checks it. Without an account or a region, so that one
 * assembly fits any. Settings come as context: `--context authorization=none`, `--context config=FILE`, and those of
 * event-settings.ts.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { FUNCTION_NAMES, TAIL_FUNCTION_NAMES, WORKER_FUNCTION_NAMES } from '../functions/groups.ts';
import { parseConfig } from '../shared/admin/config.ts';
import { type Config, DEFAULT_CONFIG } from '../shared/admin/config-fields.ts';
import { maintenanceOptions } from '../shared/http/assemble-maintenance.ts';
import { schedulesOf } from '../shared/maintenance/maintenance.ts';
import { type Bundle, bundleFunction } from './bundle.ts';
import { eventFunctionsOf, eventSettingsOf } from './event-settings.ts';
import type { Authorization } from './http-api.ts';
import { LogboomStack, type LogboomStackProps } from './logboom-stack.ts';

const STACK_NAME = 'Logboom';
/** In the assembly, beside the template. */
const SOURCE_MAPS = 'source-maps';
/** Lambda allows 4 KB for all environment variables together. */
const MAX_CONFIG_BYTES = 3 * 1024;

/** Writes the cloud assembly to where the CDK asks for it (`cdk.out`). Throws where a setting is wrong. */
export async function synthesise(): Promise<void> {
  const app = new App();
  const { yaml: configYaml, config } = configOf(app);
  const schedules = schedulesOf(maintenanceOptions(config));
  const events = eventSettingsOf(app.node);
  const settings = { authorization: authorizationOf(app), configYaml, schedules, events };
  const folder = mkdtempSync(join(tmpdir(), 'logboom-bundles-'));
  try {
    const names = [
      ...FUNCTION_NAMES,
      ...TAIL_FUNCTION_NAMES,
      ...WORKER_FUNCTION_NAMES,
      ...eventFunctionsOf(events),
    ];
    const bundles = await Promise.all(names.map(name => bundleFunction(name, folder)));
    const code = Object.fromEntries(names.map((name, i) => [name, bundles[i].folder]));
    new LogboomStack(app, STACK_NAME, {
      code: code as LogboomStackProps['code'],
      ...settings,
    });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    keepSourceMaps(bundles, join(app.synth().directory, SOURCE_MAPS));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function authorizationOf(app: App): Authorization {
  const value: unknown = app.node.tryGetContext('authorization') ?? 'iam';
  if (value === 'iam' || value === 'none') return value;
  throw new Error(`authorization is iam or none, not ${JSON.stringify(value)}`);
}

/** Read once here, so that a mistake is found before anything is deployed. */
function configOf(app: App): { readonly yaml: string; readonly config: Config } {
  const file: unknown = app.node.tryGetContext('config');
  if (file === undefined) return { yaml: '', config: DEFAULT_CONFIG };
  const yaml = readFileSync(String(file), 'utf8');
  const { config, warnings } = parseConfig(yaml, { name: String(file), environment: process.env });
  for (const warning of warnings) process.stderr.write(`logboom: ${warning}\n`);
  if (Buffer.byteLength(yaml) <= MAX_CONFIG_BYTES) return { yaml, config };
  throw new Error(`${file} has ${Buffer.byteLength(yaml)} bytes, at most ${MAX_CONFIG_BYTES} fit a function`);
}

function keepSourceMaps(bundles: readonly Bundle[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { sourceMap } of bundles) copyFileSync(sourceMap, join(folder, basename(sourceMap)));
}
