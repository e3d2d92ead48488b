import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { callApi, readList } from './api';

/** The subscription of a trigger, as n8n's static data keeps it. */
export interface OwnSubscription {
  readonly id: string;
  readonly secret: string;
  /** Address of the webhook that it calls. */
  readonly url: string;
}

/** The subscription that static data holds for a trigger; null where there is none. n8n keeps apart what belongs to its test webhook. */
export function readSubscription(data: IDataObject): OwnSubscription | null {
  return (data['subscription'] as OwnSubscription | undefined) ?? null;
}

/** Puts the subscription into static data, or takes it out (null). */
export function writeSubscription(data: IDataObject, own: OwnSubscription | null): void {
  if (own === null) delete data['subscription'];
  else data['subscription'] = { ...own };
}

/** What the user chose in the trigger. */
export interface TriggerChoice {
  readonly eventTypes: readonly string[];
  readonly statuses: readonly string[];
  readonly acknowledge: string;
  readonly options: {
    readonly states?: string;
    readonly filter?: string;
    readonly payload?: string;
    readonly from?: string;
    readonly maxInFlight?: number;
  };
}

/** Milliseconds for a callback that is answered when the workflow has finished: the most that the daemon grants is a minute. */
const wholeWorkflowMs = 55_000;

/** The settings that a subscription needs for a choice; null stands for what is left to the daemon. */
export function settingsFor(choice: TriggerChoice, description: string): IDataObject {
  const { states = '', filter = '', payload = 'full', maxInFlight = null } = choice.options;
  const abbreviations = states.split(/[\s,]+/).filter((state) => state !== '');
  return {
    description: description.slice(0, descriptionMax),
    eventTypes: [...choice.eventTypes],
    statuses: choice.statuses.length === 0 ? null : [...choice.statuses],
    states: abbreviations.length === 0 ? null : abbreviations.map((state) => state.toUpperCase()),
    filter: filter.trim() === '' ? null : filter.trim(),
    payload,
    maxInFlight,
    timeoutMs: choice.acknowledge === 'lastNode' ? wholeWorkflowMs : null,
  };
}

/**
 * When the subscription of "Listen for test event" expires. n8n listens for two minutes and then removes it; one that it could not remove,
 * because it was killed or the daemon was away, ends by itself.
 */
export function testExpiry(): string {
  return new Date(Date.now() + testMs).toISOString();
}

// Milliseconds: what n8n listens for and as much as its clock may be off for the signatures to hold, with room.
const testMs = 600_000;

/** Maximum number of characters of a description that the API takes. */
const descriptionMax = 500;

/** Registers a subscription. Nothing is left behind when it throws. */
export async function subscribe(
  this: IHookFunctions,
  url: string,
  settings: IDataObject,
  from: string,
): Promise<OwnSubscription> {
  const given = Object.entries(settings).filter(([, value]) => value !== null);
  const { body } = await callApi.call(this, {
    method: 'POST',
    path: 'subscriptions',
    body: { ...Object.fromEntries(given), url, from },
  });
  return { id: String(body['id']), secret: String(body['secret']), url };
}

/**
 * Disables the subscription of a trigger that is out of service. It keeps its place in the log and is taken over when the trigger is put into
 * service again; the daemon removes it once everything that it missed has left the log. Succeeds also when it is gone.
 */
export async function keepPlace(this: IHookFunctions, id: string): Promise<void> {
  const expiresAt = new Date(Date.now() + placeKeptMs).toISOString();
  const body = { enabled: false, expiresAt };
  await callApi.call(this, { method: 'PATCH', path: `subscriptions/${id}`, body, expected: [404] });
}

// Milliseconds until a subscription that is out of service counts as expired: more than any two clocks differ.
const placeKeptMs = 3_600_000;

/**
 * Makes the subscription as the trigger wants it, without losing its place in the log; false when it is gone. One that was disabled because
 * n8n was away, or because the trigger was out of service, is enabled and delivers what was missed. One that a person disabled is only
 * enabled when `byUser`.
 */
export async function renew(
  this: IHookFunctions,
  id: string,
  settings: IDataObject,
  byUser: boolean,
): Promise<boolean> {
  const path = `subscriptions/${id}`;
  const { status, body } = await callApi.call(this, { method: 'GET', path, expected: [404] });
  if (status === 404) return false;
  const change: IDataObject = Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(body[name])),
  );
  if (body['enabled'] === false) {
    const isLeft = change['expiresAt'] === null;
    if (byUser || isLeft || body['disabledReason'] !== byRequest) change['enabled'] = true;
    else this.logger.warn(`filing-webhooks: somebody disabled the subscription ${id}; it stays disabled`);
  }
  if (Object.keys(change).length > 0) await callApi.call(this, { method: 'PATCH', path, body: change });
  return true;
}

/** The daemon's `disabledReason` where a person disabled the subscription. */
const byRequest = 'by request';

/**
 * Finds a subscription that calls this webhook although n8n does not know it, because its data was set back or the answer was lost, and
 * gives it a new secret. It keeps its place in the log. Null when there is none; further ones to the same webhook are removed.
 */
export async function adopt(this: IHookFunctions, url: string): Promise<OwnSubscription | null> {
  const all = await readList.call(this, 'subscriptions', {}, null);
  const [first, ...others] = all.filter((subscription) => subscription['url'] === url);
  for (const other of others) await unsubscribe.call(this, String(other['id']));
  if (first === undefined) return null;
  const id = String(first['id']);
  const { body } = await callApi.call(this, {
    method: 'POST',
    path: `subscriptions/${id}/rotate-secret`,
    body: { graceMs: 0 },
  });
  return { id, secret: String(body['secret']), url };
}

/** Removes a subscription; succeeds also when it is gone already. */
export async function unsubscribe(this: IHookFunctions, id: string): Promise<void> {
  await callApi.call(this, { method: 'DELETE', path: `subscriptions/${id}`, expected: [404] });
}
