/**
 * Validates the Kubernetes manifests: each document against the schema of its kind (npm package
 * kubernetes-models, installed in the test's folder).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { check, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';

const SCHEMAS = 'kubernetes-models@4';
const FOLDER = join(ROOT, 'packaging', 'kubernetes');

export async function testKubernetes(_archive, folder) {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const fetched = run('npm', ['install', ...options, SCHEMAS], { cwd: folder, env: shellEnv() });
  if (fetched.status !== 0) return skip('manifests of Kubernetes', `npm cannot fetch ${SCHEMAS}`);
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml');
  const load = createRequire(join(folder, 'package.json'));
  const problemsOf = object => {
    const { [object.kind]: Model } = load(`kubernetes-models/${object.apiVersion}/${object.kind}`);
    try {
      new Model(object).validate();
      return undefined;
    } catch (error) {
      return error.message;
    }
  };
  for (const name of readdirSync(FOLDER)) {
    for (const document of parseAllDocuments(readFileSync(join(FOLDER, name), 'utf8'))) {
      const object = document.toJS();
      const problems = document.errors[0]?.message ?? problemsOf(object);
      check(`kubernetes: ${name}: ${object.kind} ${object.metadata.name}`, problems === undefined, problems);
    }
  }
  const wrong = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec: { replicas: 'two' },
  };
  const told = problemsOf(wrong);
  check('kubernetes: a manifest that is wrong is refused', /replicas must be integer/.test(told), told);
}
