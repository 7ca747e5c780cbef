/**
 * Removes from an assembly what MiniStack cannot deploy, and reports what that was. Everything else is deployed
 * as it was synthesized.
 *
 * Pitfall: the CDK uploads a template under the hash of its text, and keeps an existing one. So a changed
 * template needs another hash, in the list of assets and in the manifest.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Template {
  readonly Resources: Record<string, TemplateResource>;
}

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

interface Assets {
  readonly files: Readonly<Record<string, { readonly source: { readonly path?: string } }>>;
}

/** Why each kind is taken out is in docs/dev/aws-emulators.md. */
function cannotDeploy({ Type, Properties = {} }: TemplateResource): boolean {
  return Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined;
}

/** Logical IDs of removed resources. */
export function fitToEmulator(assembly: string, stackName: string): string[] {
  const file = `${stackName}.template.json`;
  const template = JSON.parse(readFileSync(join(assembly, file), 'utf8')) as Template;
  const takenOut = Object.entries(template.Resources)
    .filter(([, resource]) => cannotDeploy(resource))
    .map(([id]) => id);
  for (const id of takenOut) delete template.Resources[id];
  const text = JSON.stringify(template);
  const left = takenOut.filter(id => text.includes(`"${id}"`));
  if (left.length > 0) throw new Error(`the template still names ${left.join(' and ')}`);
  writeFileSync(join(assembly, file), text);
  const assetsFile = join(assembly, `${stackName}.assets.json`);
  const { files } = JSON.parse(readFileSync(assetsFile, 'utf8')) as Assets;
  const [hash] = Object.entries(files).find(([, { source }]) => source.path === file)!;
  const newHash = createHash('sha256').update(text).digest('hex');
  for (const path of [assetsFile, join(assembly, 'manifest.json')])
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(hash, newHash));
  return takenOut;
}
