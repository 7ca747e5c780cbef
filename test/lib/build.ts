/** Bundles and assemblies, made once for all tests of the stack (build-variants.ts). */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { VARIANTS } from './variants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILDER = fileURLToPath(new URL('build-variants.ts', import.meta.url));

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template has the shape that the tests are about to check
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
}

export interface Assembly {
  readonly folder: string;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  ofType(type: string): [id: string, resource: Resource][];
}

export interface Built {
  readonly folder: string;
  readonly assemblies: Readonly<Record<keyof typeof VARIANTS, Assembly>>;
  /** Whether the checks of cdk-nag refuse violations. */
  readonly checksRefuse: boolean;
  remove(): void;
}

/** Rejects with the output if anything fails. */
export async function build(): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), 'logboom-stack-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [BUILDER, folder], { cwd: ROOT });
    const { refused, exitCode } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n')));
    if (exitCode !== 0) throw new Error(`a check fails: ${stdout}`);
    const assemblies = Object.fromEntries(
      Object.keys(VARIANTS).map(name => [name, read(join(folder, name))]),
    ) as Built['assemblies'];
    return { folder, assemblies, checksRefuse: refused, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function read(folder: string): Assembly {
  const name = readdirSync(folder).find(file => file.endsWith('.template.json'));
  const { Resources: resources, Outputs: outputs } = JSON.parse(
    readFileSync(join(folder, String(name)), 'utf8'),
  );
  const ofType = (type: string) =>
    Object.entries(resources as Assembly['resources']).filter(([, { Type }]) => Type === type);
  return { folder, resources, outputs, ofType };
}

/** Logical ID of a value made by Ref, Fn::GetAtt, or a join that contains one of them; empty if there is none. */
export function idIn(value: unknown): string {
  return /"(?:Ref|Fn::GetAtt)":\[?"([A-Za-z0-9]+)"/.exec(JSON.stringify(value))?.[1] ?? '';
}

/** Logical ids of the functions, with what they are called here. */
const FUNCTIONS: readonly (readonly [RegExp, string])[] = [
  [/^Push/, 'push'],
  [/^Query/, 'query'],
  [/^Status/, 'status'],
  [/^Maintenance/, 'maintenance'],
  [/^Authorizer/, 'authorizer'],
  [/^FirstToken/, 'first-token'],
  [/^DueTimer/, 'timer'],
  [/^EndpointAllInOne/, 'all-in-one'],
  [/^Workers/, 'query-worker'],
  [/^Tailtailconnect/, 'tail-connect'],
  [/^Tailtaildisconnect/, 'tail-disconnect'],
  [/^Tailtaildefault/, 'tail-default'],
  [/^Tailtaildispatch/, 'tail-dispatch'],
  [/^Eventscloudwatchlogs/, 'cloudwatch-logs'],
  [/^Eventss3objects/, 's3-objects'],
  [/^WatchCanary/, 'canary'],
  [/^Export/, 'export-days'],
  [/^EdgePageContent/, 'page-content'],
  [/^ChunksContent/, 'bucket-content'],
];

/** The function that a logical ID belongs to; empty if it belongs to none. */
export function functionOfId(logicalId: string): string {
  return FUNCTIONS.find(([pattern]) => pattern.test(logicalId))?.[1] ?? '';
}
