/**
 * `npm run package:cloudformation`: writes the stack as a template and zip files to dist/cloudformation, for
 * `aws cloudformation deploy` in accounts without Node.js or the CDK. Settings are those of a deployment (`--
 * --context NAME=VALUE`), and are fixed in the template. For the commands, see docs/reference/aws.md.
 *
 *     dist/cloudformation/template.json
 *     dist/cloudformation/assets/HASH.zip   code of the functions: upload it below logboom/ in a bucket of the region
 *
 * Equal sources give equal bytes: a deployment without changes changes nothing.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, say } from '../bin/installed.mjs';
import { runCdk } from './run-cdk.mjs';

/** Tests set another folder, to leave an existing package alone. */
const OUT = process.env.LOGBOOM_PACKAGE_FOLDER || join(ROOT, 'dist', 'cloudformation');
/** Zip files support no earlier year, and no time zone. */
const MTIME = new Date(1980, 0, 1);

process.exitCode = packageTemplate(process.argv.slice(2));

function packageTemplate(args) {
  const assembly = mkdtempSync(join(tmpdir(), 'logboom-package-'));
  try {
    process.env.LOGBOOM_PACKAGED = 'yes';
    const synth = [
      'synth',
      '--quiet',
      '--no-notices',
      '--no-version-reporting',
      '--output',
      assembly,
      ...args,
    ];
    const status = runCdk(synth, { stdin: 'ignore' });
    if (status !== 0) return status;
    const { folder, files } = write(assembly);
    say(
      `${folder}: template.json and ${files} zip files; docs/reference/aws.md, "Without Node", has the commands`,
    );
    return 0;
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

function write(assembly) {
  const manifest = readdirSync(assembly).find(name => name.endsWith('.assets.json'));
  const { files } = JSON.parse(readFileSync(join(assembly, manifest), 'utf8'));
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(join(OUT, 'assets'), { recursive: true });
  let zips = 0;
  for (const [hash, { source }] of Object.entries(files)) {
    if (source.packaging !== 'zip') continue;
    writeFileSync(join(OUT, 'assets', `${hash}.zip`), zipOf(join(assembly, source.path)));
    zips++;
  }
  const template = JSON.parse(
    readFileSync(join(assembly, manifest.replace('.assets.', '.template.')), 'utf8'),
  );
  // No spaces: CloudFormation accepts up to 1 MB.
  writeFileSync(join(OUT, 'template.json'), JSON.stringify(template));
  return { folder: OUT, files: zips };
}

function zipOf(folder) {
  const { zipSync } = createRequire(join(ROOT, 'lib', 'package.json'))('fflate');
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
  const contents = names.map(name => [name, readFileSync(join(folder, name))]);
  return zipSync(Object.fromEntries(contents), { mtime: MTIME, level: 9 });
}
