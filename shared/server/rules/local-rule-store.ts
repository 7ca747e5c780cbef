/**
 * Rules of a configured folder: `<folder>/<tenant>/<file>` with `groups:`. The file's name is the namespace.
 * Files are reloaded every poll interval and never written (docs/dev/wire-format.md#endpoints-of-rules).
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { RuleGroup, RuleStore, StoredGroup } from '../../storage/catalog/rule-group.ts';
import { readRuleFile } from './rule-yaml.ts';
import { type CheckTemplate, validateGroup } from './validate-group.ts';

export interface RuleFile {
  readonly tenant: string;
  readonly file: string;
  readonly text: string;
}

/** Reads all files of the folder. */
export type ReadRuleFiles = () => Promise<readonly RuleFile[]>;

/** The operation needs rules in the store. */
export class ReadOnlyRulesError extends Error {
  constructor(operation: string) {
    super(`${operation} unsupported in rule local store`);
    this.name = 'ReadOnlyRulesError';
  }
}

interface LocalRuleStoreParts {
  readonly read: ReadRuleFiles;
  readonly clock: Clock;
  readonly pollMs: number;
  readonly check: CheckTemplate;
  /** Called for files that cannot be used. Other files still work. */
  readonly onBroken: (error: Error) => void;
}

export class LocalRuleStore implements RuleStore {
  readonly #parts: LocalRuleStoreParts;
  #groups: readonly StoredGroup[] = [];
  #readMs = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(parts: LocalRuleStoreParts) {
    this.#parts = parts;
  }

  async list(tenant: string): Promise<readonly StoredGroup[]> {
    await this.#refresh();
    return this.#groups.filter(group => group.tenant === tenant);
  }

  async get(): Promise<undefined> {
    throw new ReadOnlyRulesError('GetRuleGroup');
  }

  async tenants(): Promise<readonly string[]> {
    await this.#refresh();
    return [...new Set(this.#groups.map(({ tenant }) => tenant))];
  }

  async set(): Promise<void> {
    throw new ReadOnlyRulesError('SetRuleGroup');
  }

  async delete(): Promise<boolean> {
    throw new ReadOnlyRulesError('DeleteRuleGroup');
  }

  async deleteNamespace(): Promise<boolean> {
    throw new ReadOnlyRulesError('DeleteNamespace');
  }

  async #refresh(): Promise<void> {
    if (this.#parts.clock.nowMs() - this.#readMs < this.#parts.pollMs) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { read, clock, onBroken } = this.#parts;
    const files = await read();
    this.#groups = files.flatMap(file => {
      try {
        return this.#groupsOf(file);
      } catch (error) {
        onBroken(new Error(`rules of ${file.tenant}/${file.file}: ${messageOf(error)}`, { cause: error }));
        return [];
      }
    });
    this.#readMs = clock.nowMs();
  }

  #groupsOf({ tenant, file, text }: RuleFile): StoredGroup[] {
    const groups = readRuleFile(text).groups.map(group => validateGroup(group, 0, this.#parts.check));
    const names = new Set<string>();
    for (const { name } of groups) {
      if (names.has(name)) throw new BadRequestError(`duplicate group '${name}'`);
      names.add(name);
    }
    return groups.map((group: RuleGroup) => ({ tenant, namespace: file, group, version: 0 }));
  }
}
