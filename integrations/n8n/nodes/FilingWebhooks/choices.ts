import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';
import { callApi, readList } from './api';

/** The event types that a subscription may name: groups first, then those of the daemon's catalogue. */
export async function getEventTypes(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { body } = await callApi.call(this, { method: 'GET', path: '/event-types' });
  const types = (body['items'] as IDataObject[]).map(({ type, description }) => ({
    name: String(type),
    value: String(type),
    description: String(description),
  }));
  return [
    { name: 'Every Event of Filings (filing.*)', value: 'filing.*' },
    { name: 'Every Event of the Account (account.*)', value: 'account.*' },
    { name: 'Every Event of Subscriptions (subscription.*)', value: 'subscription.*' },
    ...types.filter(({ value }) => value !== 'ping'),
  ];
}

/** The statuses that filings of the account have or had. */
export async function getStatuses(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { body } = await callApi.call(this, { method: 'GET', path: '' });
  return Object.keys(body['counts'] as IDataObject).map((status) => ({ name: status, value: status }));
}

/** The subscriptions that the token may see, by their description. */
export async function getSubscriptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const all = await readList.call(this, 'subscriptions', {}, null);
  return all.map(({ id, description, url, state }) => ({
    name: `${typeof description === 'string' ? description : String(url)} (${String(state)})`,
    value: String(id),
  }));
}
