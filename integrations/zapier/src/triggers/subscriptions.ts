import type { Bundle, Trigger, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';

interface Subscription {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly state: string;
}

/** Fills the choice of a subscription: those that the token may see. */
export const subscriptions: Trigger = {
  key: 'subscriptions',
  noun: 'Subscription',
  display: { label: 'List of Subscriptions', description: 'Fills a choice in the editor.', hidden: true },
  operation: {
    type: 'polling',
    perform: listSubscriptions,
    sample: {
      id: 'sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506',
      name: 'Zapier: Filing Rejected (active)',
    },
  },
};

async function listSubscriptions(z: ZObject, bundle: Bundle): Promise<{ id: string; name: string }[]> {
  const { items } = await callApi<{ items: Subscription[] }>(z, bundle, {
    path: '/subscriptions',
    query: { limit: 100 },
  });
  return items.map(({ id, url, description, state }) => ({
    id,
    name: `${description ?? new URL(url).host} (${state})`,
  }));
}
