import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { callApi, readList, type ApiAnswer } from './api';

/** Does one operation for one item of the input, and gives what becomes items of the output. */
export type Operation = (this: IExecuteFunctions, item: number) => Promise<IDataObject[]>;

/** What the node does, by resource and operation as the fields name them. */
export const operations: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  event: {
    async get(item) {
      return one(
        await callApi.call(this, { method: 'GET', path: `events/${id.call(this, 'eventId', item)}` }),
      );
    },
    async getAll(item) {
      const { types = [], ...filters } = collection.call(this, 'filters', item);
      const query = {
        order: text.call(this, 'order', item),
        types: (types as string[]).join(','),
        ...filters,
      };
      return readList.call(this, 'events', instants(query), limit.call(this, item));
    },
  },
  filing: {
    async get(item) {
      const path = `filings/${id.call(this, 'filingId', item)}`;
      return one(await callApi.call(this, { method: 'GET', path }));
    },
    async getAll(item) {
      const { statuses = [], ...filters } = collection.call(this, 'filters', item);
      const query = { status: (statuses as string[]).join(','), ...filters };
      return readList.call(this, 'filings', query, limit.call(this, item));
    },
    async search(item) {
      const { statuses = [], ...filters } = collection.call(this, 'filters', item);
      const query = {
        q: text.call(this, 'query', item),
        status: (statuses as string[]).join(','),
        ...filters,
      };
      return readList.call(this, 'filings', query, limit.call(this, item));
    },
  },
  rejection: {
    async getAll(item) {
      const { reason, ...filters } = collection.call(this, 'filters', item);
      const query = {
        ...(await board.call(this)),
        order: text.call(this, 'order', item),
        reason,
        ...filters,
      };
      return readList.call(this, '/rejections', query, limit.call(this, item));
    },
    async getSummary() {
      const query = { ...(await board.call(this)), limit: 1 };
      const { body } = await callApi.call(this, { method: 'GET', path: '/rejections', query });
      const { total, byReason, byState, groupsComplete, accounts } = body;
      return [{ total, byReason, byState, groupsComplete, accounts }] as IDataObject[];
    },
    async markSeen(item) {
      const note = text.call(this, 'note', item);
      const path = `filings/${id.call(this, 'filingId', item)}/seen`;
      const body = { by: text.call(this, 'by', item), ...(note !== '' && { note }) };
      return one(await callApi.call(this, { method: 'PUT', path, body }));
    },
    async markUnseen(item) {
      const filingId = text.call(this, 'filingId', item);
      await callApi.call(this, { method: 'DELETE', path: `filings/${encodeURIComponent(filingId)}/seen` });
      return [{ filingId, seen: null }];
    },
  },
  subscription: {
    async disable(item) {
      return one(await setEnabled.call(this, item, false));
    },
    async enable(item) {
      return one(await setEnabled.call(this, item, true));
    },
    async getAll(item) {
      return readList.call(this, 'subscriptions', {}, limit.call(this, item));
    },
    async getReplay(item) {
      return one(
        await callApi.call(this, { method: 'GET', path: `replays/${id.call(this, 'replayId', item)}` }),
      );
    },
    async replay(item) {
      const dryRun = this.getNodeParameter('dryRun', item) as boolean;
      const { eventIds, ...conditions } = collection.call(this, 'conditions', item);
      const ids = typeof eventIds === 'string' ? eventIds.split(/[\s,]+/).filter((one) => one !== '') : [];
      return one(
        await callApi.call(this, {
          method: 'POST',
          path: `subscriptions/${id.call(this, 'subscriptionId', item)}/replay`,
          query: { dryRun: String(dryRun) },
          body: instants({ ...conditions, ...(ids.length > 0 && { eventIds: ids }) }),
        }),
      );
    },
  },
};

function setEnabled(this: IExecuteFunctions, item: number, enabled: boolean): Promise<ApiAnswer> {
  const path = `subscriptions/${id.call(this, 'subscriptionId', item)}`;
  return callApi.call(this, { method: 'PATCH', path, body: { enabled } });
}

function one({ body }: { body: IDataObject }): IDataObject[] {
  return [body];
}

function text(this: IExecuteFunctions, name: string, item: number): string {
  return String(this.getNodeParameter(name, item) ?? '');
}

function id(this: IExecuteFunctions, name: string, item: number): string {
  return encodeURIComponent(text.call(this, name, item).trim());
}

function collection(this: IExecuteFunctions, name: string, item: number): IDataObject {
  return this.getNodeParameter(name, item, {}) as IDataObject;
}

function limit(this: IExecuteFunctions, item: number): number | null {
  const all = this.getNodeParameter('returnAll', item) as boolean;
  return all ? null : (this.getNodeParameter('limit', item) as number);
}

/** The account whose rejections are meant: a token of the operator sees those of all. */
async function board(this: IExecuteFunctions): Promise<IDataObject> {
  const { account } = await this.getCredentials<{ account: string }>('filingWebhooksApi');
  return { account };
}

/** Times as the API takes them. A time without a zone is in that of the machine. */
function instants(query: IDataObject): IDataObject {
  const changed = { ...query };
  for (const name of ['after', 'before'] as const) {
    const value = changed[name];
    if (value === '' || value === undefined) delete changed[name];
    else changed[name] = new Date(String(value)).toISOString();
  }
  return changed;
}
