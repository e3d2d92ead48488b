import { eventTypes, loggedEventTypes } from '../events/event-types.ts';
import { filingStatuses } from '../partner/filing-statuses.ts';
import { createAsset, mediaType } from '../http/asset.ts';
import type { Asset } from '../http/asset.ts';

const name = 'data/catalogue.js';

/**
 * The event types and the statuses as a module for the page; `public/data/catalogue.d.ts` declares it. A
 * status has the tone of the event for a filing that came into it. When an event occurs is a sentence without
 * its marks for code.
 */
export async function catalogueFile(): Promise<Asset> {
  const events = Object.fromEntries(loggedEventTypes.map((type) => [type, eventTypes[type].tone]));
  const when = Object.fromEntries(
    loggedEventTypes.map((type) => [type, eventTypes[type].when.replaceAll('`', '')]),
  );
  const statuses = Object.fromEntries(
    filingStatuses.map(({ status, event }) => [status, eventTypes[event].tone]),
  );
  const limited = filingStatuses.filter(({ indexed }) => indexed).map(({ status }) => status);
  const text =
    `export const eventTones = ${JSON.stringify(events)};\n` +
    `export const eventMeanings = ${JSON.stringify(when)};\n` +
    `export const statusTones = ${JSON.stringify(statuses)};\n` +
    `export const limitedStatuses = ${JSON.stringify(limited)};\n`;
  return createAsset(`/assets/${name}`, mediaType(name) ?? '', text);
}
