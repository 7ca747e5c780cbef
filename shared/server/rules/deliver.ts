/**
 * Delivers the contents of a record: alerts that are new, resolved or due again, and pending samples. The
 * record was stored before, so a run after a kill sends the same again. The next record, without the
 * delivered contents, is stored afterwards. So everything is sent at least once, and repetitions are
 * identical.
 */
import { type AlertState, ruleKey, type StoredGroup } from '../../storage/catalog/rule-group.ts';
import type { GroupRecord, PendingSamples } from '../../storage/catalog/rule-state.ts';
import type { Notice, Notify } from './notify/alertmanager.ts';
import type { RemoteWriter } from './remote-write/remote-writer.ts';
import type { RuleFigures } from './rule-figures.ts';

export interface DeliveryParts {
  /** `undefined` without a notification target. */
  readonly notify: Notify | undefined;
  readonly writer: RemoteWriter;
  readonly resendDelayNs: bigint;
  /** Alerts per delivery. Others wait in the record. */
  readonly maxNotices: number;
  readonly figures: RuleFigures;
}

interface Delivery {
  readonly record: GroupRecord;
  /** Messages for the operator. Failed contents wait in the record. */
  readonly failures: readonly string[];
}

/** Alerts are reported as active for this multiple of the interval (or of the resend delay). */
const VALID_FOR = 4n;

/** True if the record has something to deliver. */
export function isUndelivered(parts: DeliveryParts, stored: StoredGroup, record: GroupRecord): boolean {
  return (
    record.pending.length > 0 || (parts.notify !== undefined && dueAlerts(parts, stored, record).length > 0)
  );
}

/** Contents interrupted by the signal count as not delivered, and are sent again. */
export async function deliverGroup(
  parts: DeliveryParts,
  stored: StoredGroup,
  record: GroupRecord,
  { intervalNs, signal }: { readonly intervalNs: bigint; readonly signal: AbortSignal },
): Promise<Delivery> {
  const failures: string[] = [];
  const [notified, left] = await Promise.all([
    notifyDue(parts, stored, record, { intervalNs, signal, failures }),
    write(parts, stored.tenant, record, { signal, failures }),
  ]);
  return { record: { ...record, ...left, state: notified }, failures };
}

interface DueAlert {
  readonly key: string;
  readonly index: number;
  readonly alert: AlertState;
  readonly expr: string;
}

function dueAlerts(
  { resendDelayNs }: DeliveryParts,
  { group }: StoredGroup,
  { state }: GroupRecord,
): DueAlert[] {
  const nowNs = BigInt(state.lastEvaluationNs);
  return group.rules.flatMap((rule, r) => {
    const key = ruleKey(rule, r);
    const ruleState = state.rules[key];
    if (ruleState === undefined) return [];
    return ruleState.alerts.flatMap((alert, index) => {
      const isNews = isUnsent(alert);
      // If the rule fails, it is unknown whether its alerts are still active.
      const isRepeat =
        alert.state !== 'pending' &&
        ruleState.health === 'ok' &&
        BigInt(alert.lastSentNs) + resendDelayNs <= nowNs;
      return isNews || isRepeat ? [{ key, index, alert, expr: rule.expr }] : [];
    });
  });
}

function isUnsent({ state, lastSentNs, resolvedAtNs }: AlertState): boolean {
  if (state === 'firing') return lastSentNs === '0';
  return state === 'resolved' && BigInt(resolvedAtNs) > BigInt(lastSentNs);
}

interface NotifyOptions {
  readonly intervalNs: bigint;
  readonly signal: AbortSignal;
  readonly failures: string[];
}

async function notifyDue(
  parts: DeliveryParts,
  stored: StoredGroup,
  record: GroupRecord,
  { intervalNs, signal, failures }: NotifyOptions,
): Promise<GroupRecord['state']> {
  const { notify, resendDelayNs, maxNotices, figures } = parts;
  const { state } = record;
  if (notify === undefined) return state;
  const due = dueAlerts(parts, stored, record).sort(newsFirst).slice(0, maxNotices);
  if (due.length === 0) return state;
  const sentNs = BigInt(state.lastEvaluationNs);
  const validNs = sentNs + VALID_FOR * (intervalNs > resendDelayNs ? intervalNs : resendDelayNs);
  const notices = due.map(({ alert, expr }): Notice => {
    const endsAtNs = alert.state === 'resolved' ? BigInt(alert.resolvedAtNs) : validNs;
    const { labels, annotations } = alert;
    return { labels, annotations, expr, startsAtNs: BigInt(alert.firedAtNs), endsAtNs };
  });
  const { taken, failures: failed } = await notify(stored.tenant, notices, signal);
  failures.push(...failed);
  figures.notifyFailures += failed.length;
  const sent = new Map<string, Set<number>>();
  due.forEach(({ key, index }, i) => {
    if (!taken[i]) return;
    figures.notified++;
    const indexes = sent.get(key);
    if (indexes === undefined) sent.set(key, new Set([index]));
    else indexes.add(index);
  });
  const rules = Object.fromEntries(
    Object.entries(state.rules).map(([key, rule]) => {
      const indexes = sent.get(key);
      if (indexes === undefined) return [key, rule];
      const alerts = rule.alerts.map((alert, index) =>
        indexes.has(index) ? { ...alert, lastSentNs: String(sentNs) } : alert,
      );
      return [key, { ...rule, alerts }];
    }),
  );
  return { ...state, rules };
}

/**
 * Puts news first if not all alerts can be sent at once, and older alerts before newer ones. For equal
 * labels, targets keep the alert that was sent last.
 */
function newsFirst(a: DueAlert, b: DueAlert): number {
  return (
    Number(isUnsent(b.alert)) - Number(isUnsent(a.alert)) ||
    Number(BigInt(a.alert.firedAtNs) - BigInt(b.alert.firedAtNs))
  );
}

async function write(
  { writer, figures }: DeliveryParts,
  tenant: string,
  { pending, droppedSamples }: GroupRecord,
  { signal, failures }: { readonly signal: AbortSignal; readonly failures: string[] },
): Promise<Pick<GroupRecord, 'pending' | 'droppedSamples'>> {
  const left: (PendingSamples & { to: string[] })[] = pending.map(one => ({ ...one, to: [...one.to] }));
  let dropped = droppedSamples;
  const receivers = new Set(pending.flatMap(({ to }) => to));
  await Promise.all(
    [...receivers].map(async receiver => {
      // Sends in order: an endpoint refuses a sample that is older than the newest of its series.
      for (const one of left) {
        if (!one.to.includes(receiver)) continue;
        const sent = await writer.write(tenant, receiver, one, signal);
        if (sent.end === 'failed') {
          failures.push(sent.reason);
          figures.writeFailures++;
          return;
        }
        one.to = one.to.filter(name => name !== receiver);
        if (sent.end === 'taken') {
          figures.samplesWritten += one.samples.length;
          continue;
        }
        failures.push(sent.reason);
        dropped += one.samples.length;
        figures.samplesDropped += one.samples.length;
      }
    }),
  );
  return { pending: left.filter(({ to }) => to.length > 0), droppedSamples: dropped };
}
