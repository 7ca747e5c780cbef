/** Whether the rights of lib/rights.ts allow what a bundle did, as IAM would decide it from the statements of lib/grants.ts. */
import { type ObjectKind, patternsOf, type Rights, STORE_MARK } from '../../lib/rights.ts';
import type { Access } from './fake-services.ts';

/** Accesses that are not allowed, each once. */
export function notAllowed(accesses: readonly Access[], rights: Rights): string[] {
  const refused = accesses.filter(access => !isAllowed(access, rights));
  return [...new Set(refused.map(({ action, of }) => `${action} ${of}`))].sort();
}

function isAllowed({ action, of }: Access, rights: Rights): boolean {
  switch (action) {
    case 'GetItem':
    case 'Query':
      return matches(of, patternsOf(rights.readItems ?? []));
    case 'PutItem':
      return matches(of, patternsOf(rights.putItems ?? []));
    case 'DeleteItem':
      return matches(of, patternsOf(rights.deleteItems ?? []));
    case 'ConditionCheckItem':
      return matches(of, patternsOf(rights.checkItems ?? []));
    case 'GetObject':
      return matches(of, [...kinds(rights.getObjects), ...markOf(rights)]);
    case 'PutObject':
      return matches(of, [...kinds(rights.putObjects), ...markOf(rights)]);
    case 'DeleteObject':
      return matches(of, kinds(rights.deleteObjects));
    case 'ListBucket':
      return rights.listsObjects === true;
    case 'DescribeTable':
      return rights.describesTable === true;
  }
}

function kinds(named: readonly ObjectKind[] = []): string[] {
  return named.map(kind => `*/${kind}/*`);
}

function markOf({ marksStore }: Rights): string[] {
  return marksStore ? [STORE_MARK] : [];
}

/** A star stands for anything, slashes included, as in policies. */
function matches(text: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const parts = pattern.split('*').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
  });
}
