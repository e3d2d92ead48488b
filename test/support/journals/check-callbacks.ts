import { createHmac, timingSafeEqual } from 'node:crypto';
import { stateKey, type TapedEvent } from './check-chain.ts';
import type { Journals, PartnerState, Subscriber, TapedCallback } from './journals.ts';

/** What a callback says and how it came. */
export function toEvent({
  subscription,
  id,
  body,
  arrivedAt,
  answeredAt,
  status,
}: TapedCallback): TapedEvent {
  const { type, data } = JSON.parse(body.toString()) as { type: string; data: TapedEvent };
  return { ...data, type, subscription, id, arrivedAt, answeredAt, httpStatus: status };
}

/** The state in which a filing was taken in silently; null when it came later. */
export function baselineOf(
  { dwells }: Pick<Journals, 'dwells'>,
  account: string,
  filingId: string,
): PartnerState {
  const first = dwells.find((dwell) => dwell.account === account && dwell.filingId === filingId);
  return first?.from === -Infinity ? first.state : null;
}

/** Whether the subscriber got it and said so. */
export function isAcknowledged({ answeredAt, httpStatus }: TapedEvent): boolean {
  return answeredAt !== null && httpStatus >= 200 && httpStatus < 300;
}

/**
 * That it verifies, by Standard Webhooks, "Signature scheme"; computed here once more so that nothing of the
 * sender checks itself.
 */
export function checkSignature({ secret }: Subscriber, callback: TapedCallback): string[] {
  const { id, timestamp, signature, body, arrivedAt, subscription } = callback;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const isSigned = signature.split(' ').some((part) => {
    const given = Buffer.from(part.slice('v1,'.length), 'base64');
    return part.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) return [`signature: ${id} for ${subscription} does not verify`];
  const ageMs = Math.abs(arrivedAt - Number(timestamp) * 1000);
  return ageMs <= 300_000 ? [] : [`signature: ${id} for ${subscription} bears a time ${ageMs} ms off`];
}

/** That an id stands for the same bytes for ever; with `setBack` the times of observation may differ. */
export function checkBytes(callbacks: readonly TapedCallback[], setBack: boolean): string[] {
  const contents = new Map<string, string>();
  return callbacks.flatMap(({ id, body, subscription }) => {
    const content = setBack ? withoutTimes(body) : body.toString('base64');
    const first = contents.get(id) ?? content;
    contents.set(id, first);
    return first === content ? [] : [`bytes: ${id} came with another body to ${subscription}`];
  });
}

function withoutTimes(body: Buffer): string {
  const event = JSON.parse(body.toString()) as { data: object };
  return JSON.stringify({ ...event, timestamp: '', data: { ...event.data, observed: {} } });
}

/**
 * Whose event it is, and that the partner service showed what it says before it came; `servedSince` is of
 * `firstSights`.
 */
export function checkOrigin(
  servedSince: ReadonlyMap<string, number>,
  subscriber: Subscriber,
  event: TapedEvent,
): string[] {
  if (event.account !== subscriber.account)
    return [`account: ${event.id} of ${event.account} came to ${subscriber.id} of ${subscriber.account}`];
  const told = stateKey(event.type === 'filing.removed' ? null : event);
  const first = servedSince.get(sightKey(event.account, event.filingId, told)) ?? Infinity;
  return first <= event.arrivedAt
    ? []
    : [`phantom: ${event.id} tells of ${event.filingId} what was never served: ${event.type} ${told}`];
}

/** Since when each state was served. */
export function firstSights({ served }: Journals): Map<string, number> {
  const sights = new Map<string, number>();
  for (const { account, filingId, state, first } of served) {
    const key = sightKey(account, filingId, stateKey(state));
    sights.set(key, Math.min(first, sights.get(key) ?? first));
  }
  return sights;
}

function sightKey(account: string, filingId: string, state: string): string {
  return JSON.stringify([account, filingId, state]);
}

/** Deliveries of events that their subscriber had acknowledged before. */
export function countRepeats(taped: readonly TapedEvent[]): number {
  let repeats = 0;
  for (const deliveries of Map.groupBy(taped, ({ id }) => id).values()) {
    const firstAnswer = Math.min(
      ...deliveries.filter(isAcknowledged).map(({ answeredAt }) => answeredAt ?? Infinity),
    );
    repeats += deliveries.filter(({ arrivedAt }) => arrivedAt > firstAnswer).length;
  }
  return repeats;
}
