/**
 * CDK app: bundles the functions, defines the stack and checks it. It has no account and no region, so that
 * one assembly fits any. Settings are context values (settings.ts): `--context authorization=token`.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import {
  type AnyFunctionName,
  FUNCTION_NAMES,
  STACK_FUNCTION_NAMES,
  type StackFunctionName,
  TAIL_FUNCTION_NAMES,
  WORKER_FUNCTION_NAMES,
} from '../functions/groups.ts';
import { parseConfig } from '../shared/server/admin/config.ts';
import { type Config, DEFAULT_CONFIG } from '../shared/server/admin/config-fields.ts';
import { type Bundle, bundleFunctions } from './bundle.ts';
import type { PageAsset } from './edge.ts';
import { eventFunctionsOf, eventSettingsOf } from './event-settings.ts';
import { LogboomStack, type LogboomStackProps } from './logboom-stack.ts';
import { addPage, addPageToProgram } from './page-asset.ts';
import { buildServiceCode, type ServiceCode } from './service-code.ts';
import { hasCanary, hasPublicBalancer, type Settings, settingsOf } from './settings.ts';

/** Set by scripts/package-cloudformation.mjs. */
const PACKAGED = 'LOGBOOM_PACKAGED';
/** Folder in the assembly, next to the template. */
const SOURCE_MAPS = 'source-maps';
/** Maximum size of the configuration. Lambda allows 4 KB for all environment variables together. */
const MAX_CONFIG_BYTES = 3 * 1024;

/** Bundle folder of each function, and of the explorer page if there is one. */
interface BuiltCode {
  readonly bundles: readonly Bundle[];
  readonly code: LogboomStackProps['code'];
  readonly page: PageAsset | undefined;
  readonly service?: ServiceCode | undefined;
}

/** Writes the cloud assembly to the folder of the CDK (`cdk.out`). Throws if a setting is invalid. */
export async function synthesize(): Promise<void> {
  const app = new App();
  const settings = settingsOf(app.node.getAllContext() as Record<string, unknown>);
  const events = eventSettingsOf(settings);
  const folder = mkdtempSync(join(tmpdir(), 'logboom-bundles-'));
  try {
    const ofApis = [...FUNCTION_NAMES, ...TAIL_FUNCTION_NAMES, ...WORKER_FUNCTION_NAMES];
    const names = [
      ...(settings.endpoint === 'function-url' ? [] : ofApis),
      ...eventFunctionsOf(events),
      ...stackFunctionsOf(settings),
    ];
    const built = await buildCode(names, {
      folder,
      withPage: settings.edge && settings.ui,
      withService: settings.write === 'service',
      withServicePage: hasPublicBalancer(settings) && settings.ui,
    });
    const assembled = writeAssembly(app, settings, built, process.env[PACKAGED] !== undefined);
    keepSourceMaps(built.bundles, join(assembled, SOURCE_MAPS));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface BuildOptions {
  readonly folder: string;
  readonly withPage: boolean;
  readonly withService: boolean;
  /** True if the write service serves the page. */
  readonly withServicePage: boolean;
}

/** Bundles the named functions. Also builds the page if it is enabled and `bucket-content` is named. */
export async function buildCode(
  names: readonly (AnyFunctionName | StackFunctionName)[],
  { folder, withPage, withService, withServicePage }: BuildOptions,
): Promise<BuiltCode> {
  const bundles = await bundleFunctions(names, folder);
  const code: LogboomStackProps['code'] = Object.fromEntries(
    names.map((name, i) => [name, bundles[i].folder]),
  );
  const service = withService ? await buildServiceCode(folder) : undefined;
  if (service !== undefined && withServicePage) addPageToProgram(service.folder);
  const carrier = withPage ? code['bucket-content'] : undefined;
  return {
    bundles,
    code,
    page: carrier === undefined ? undefined : pageNextTo(carrier, folder),
    service,
  };
}

/**
 * Defines the stack, checks it and writes it. Returns the assembly's folder. Throws if a check fails. @param
 * isPackaged see LogboomStackProps
 */
export function writeAssembly(
  app: App,
  settings: Settings,
  { code, page, service }: BuiltCode,
  isPackaged = false,
): string {
  const events = eventSettingsOf(settings);
  const { yaml: configYaml, config } = configOf(settings);
  new LogboomStack(app, settings.stackName, {
    code: onlyAsked(code, settings),
    settings,
    events,
    configYaml,
    config,
    service: settings.write === 'service' ? service : undefined,
    page: settings.edge && settings.ui ? page : undefined,
    isPackaged,
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app.synth().directory;
}

/** Restricts the code to the functions that the settings enable. */
function onlyAsked(code: LogboomStackProps['code'], settings: Settings): LogboomStackProps['code'] {
  const asked = new Set(stackFunctionsOf(settings));
  const isAsked = (name: string) =>
    !STACK_FUNCTION_NAMES.some(other => other === name) || asked.has(name as StackFunctionName);
  return Object.fromEntries(Object.entries(code).filter(([name]) => isAsked(name)));
}

/** Functions of the stack itself that these settings enable. */
function stackFunctionsOf(settings: Settings): StackFunctionName[] {
  const { authorization, edge, ui, removal, endpoint } = settings;
  const isOne = endpoint === 'function-url';
  const names: StackFunctionName[] = ['timer'];
  if (isOne) names.push('all-in-one');
  if (authorization === 'token') names.push('first-token', ...(isOne ? [] : (['authorizer'] as const)));
  if (hasCanary(settings)) names.push('canary');
  if (settings.exportTo !== '') names.push('export-days');
  if ((edge && ui) || removal === 'destroy') names.push('bucket-content');
  return names;
}

/** Copies the bundle, because the one that only empties a bucket must not contain the page. */
function pageNextTo(bundle: string, folder: string) {
  const code = join(folder, 'page-content');
  mkdirSync(code);
  cpSync(bundle, code, { recursive: true });
  return addPage(code);
}

/** Reads the configuration before the deployment, to find mistakes early. */
function configOf({ config: file }: Settings): { readonly yaml: string; readonly config: Config } {
  if (file === '') return { yaml: '', config: DEFAULT_CONFIG };
  if (!existsSync(file)) throw new Error(`config: file not found: ${file}`);
  const yaml = readFileSync(file, 'utf8');
  const { config, warnings } = parseConfig(yaml, { name: file, environment: process.env });
  for (const warning of warnings) process.stderr.write(`logboom: ${warning}\n`);
  if (Buffer.byteLength(yaml) <= MAX_CONFIG_BYTES) return { yaml, config };
  throw new Error(`${file} has ${Buffer.byteLength(yaml)} bytes, at most ${MAX_CONFIG_BYTES} fit a function`);
}

function keepSourceMaps(bundles: readonly Bundle[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const sourceMap of bundles.flatMap(({ sourceMaps }) => sourceMaps)) {
    copyFileSync(sourceMap, join(folder, basename(sourceMap)));
  }
}
