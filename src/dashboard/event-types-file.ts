import { eventTypes, loggedEventTypes } from '../events/event-types.ts';
import { createAsset, mediaType } from './asset.ts';
import type { Asset } from './asset.ts';

const name = 'data/event-types.js';

/** The event types as a module for the page; `public/data/event-types.d.ts` declares it. */
export async function eventTypesFile(): Promise<Asset> {
  const tones = Object.fromEntries(loggedEventTypes.map((type) => [type, eventTypes[type].tone]));
  return createAsset(
    `/assets/${name}`,
    mediaType(name) ?? '',
    `export const eventTones = ${JSON.stringify(tones)};\n`,
  );
}
