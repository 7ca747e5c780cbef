/**
 * Decides by the labels of a stream alone (docs/dev/wire-format.md#order-of-checks, step 6; #validation) its
 * policy, and whether it may be stored. A stream that fails loses all its entries.
 *
 * Agents send the same few streams in every push, so a decision is cached as long as its stream and limits
 * are referenced. It must depend neither on the tenant (tenants share their default limits) nor on the time.
 */
import { messageOf } from '../../base/model/errors.ts';
import type { Labels } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import { parseLabelSet } from './label-set.ts';
import { policiesOf } from './policies.ts';
import { missingEnforcedLabels } from './policy-labels.ts';
import type { PushStream } from './push-columns.ts';
import { isInternal } from './service-name.ts';

export type StreamReason =
  | 'invalid_labels'
  | 'missing_labels'
  | 'max_label_names_per_series'
  | 'label_name_too_long'
  | 'label_value_too_long'
  | 'duplicate_label_names'
  | 'missing_enforced_labels';

interface StreamRejection {
  readonly reason: StreamReason;
  readonly message: (tenant: string) => string;
}

interface StreamDecision {
  /** Empty if none applies. */
  readonly policy: string;
  /** First check that fails, or undefined. */
  readonly rejection: StreamRejection | undefined;
}

const DECISIONS = new WeakMap<Limits, WeakMap<PushStream, StreamDecision>>();

/** @param isCached caches the decision for the next push with the stream */
export function decideStream(stream: PushStream, limits: Limits, isCached: boolean): StreamDecision {
  if (!isCached) return decide(stream, limits);
  let ofLimits = DECISIONS.get(limits);
  if (ofLimits === undefined) DECISIONS.set(limits, (ofLimits = new WeakMap()));
  let decision = ofLimits.get(stream);
  if (decision === undefined) ofLimits.set(stream, (decision = decide(stream, limits)));
  return decision;
}

function decide(stream: PushStream, limits: Limits): StreamDecision {
  const policy = policiesOf(limits.policyStreamMapping)(stream.labels);
  return { policy, rejection: rejectionOf(stream, policy, limits) };
}

function rejectionOf(stream: PushStream, policy: string, limits: Limits): StreamRejection | undefined {
  const { labels, text } = stream;
  const reject = (reason: StreamReason, message: string) => ({ reason, message: () => message });
  if (labels.some(({ name }) => name === '')) {
    return reject('invalid_labels', `error parsing labels '${text}' with error: ${parseErrorOf(text)}`);
  }
  if (isInternal(stream)) return undefined;
  if (labels.length === 0) {
    return reject('missing_labels', 'error at least one label pair is required per stream');
  }
  return labelsRejection(stream, limits) ?? enforcedRejection(stream, policy, limits);
}

function labelsRejection({ labels, text }: PushStream, limits: Limits): StreamRejection | undefined {
  const reject = (reason: StreamReason, message: string) => ({ reason, message: () => message });
  const names = countedNames(labels);
  if (names > limits.maxLabelNamesPerSeries) {
    return reject(
      'max_label_names_per_series',
      `entry for stream '${text}' has ${names} label names; limit ${limits.maxLabelNamesPerSeries}`,
    );
  }
  let before: string | undefined;
  for (const { name, value } of labels) {
    if (isLonger(name, limits.maxLabelNameLength)) {
      return reject('label_name_too_long', `stream '${text}' has label name too long: '${name}'`);
    }
    if (isLonger(value, limits.maxLabelValueLength)) {
      return reject('label_value_too_long', `stream '${text}' has label value too long: '${value}'`);
    }
    if (name === before) {
      return reject('duplicate_label_names', `stream '${text}' has duplicate label name: '${name}'`);
    }
    before = name;
  }
  return undefined;
}

function enforcedRejection(
  { labels, text }: PushStream,
  policy: string,
  limits: Limits,
): StreamRejection | undefined {
  const missing = missingEnforcedLabels(labels, policy, limits);
  if (missing.length === 0) return undefined;
  return {
    reason: 'missing_enforced_labels',
    message: tenant =>
      `missing required labels '${missing.join(',')}' for user '${tenant}' for stream '${text}' (policy: '${policy}')`,
  };
}

/** Excludes `service_name`, which the store may have added. */
function countedNames(labels: Labels): number {
  let names = labels.length;
  for (const { name } of labels) if (name === 'service_name') names--;
  return names;
}

/** A quoted name may be empty and pass the parser, but the canonical text of such labels does not. */
function parseErrorOf(text: string): string {
  try {
    parseLabelSet(text);
  } catch (error) {
    return messageOf(error).replace("couldn't parse labels: ", '');
  }
  return 'label name is empty';
}

/** Whether the text has more than `maxBytes` bytes. A UTF-16 unit has at most 3. */
function isLonger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}
