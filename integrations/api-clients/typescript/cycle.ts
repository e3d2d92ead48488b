// A full cycle with the types that openapi-typescript makes: prints one line of JSON. It has to compile under `strict`, and each event has to
// narrow by its type.
import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/typescript/api.ts';

declare const process: { readonly env: Readonly<Record<string, string>> };
const { API_URL: baseUrl = '', API_TOKEN, PARTNER_URL = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${API_TOKEN}` } });
const params = { path: { account: 'default' } };

const saved = await client.PUT('/v1/accounts/{account}', {
  params: { path: { account: 'made-in-typescript' } },
  body: { baseUrl: PARTNER_URL, partnerKey: 'sandbox-key' },
});
const made = await client.POST('/v1/accounts/{account}/subscriptions', {
  params,
  body: { url: 'https://example.com/typescript', eventTypes: ['filing.rejected'], enabled: false },
});
if (made.error !== undefined) throw new Error(`${made.error.code}: ${made.error.detail}`);
const { id } = made.data;
// @ts-expect-error there is no such field
void (() => client.POST('/v1/accounts/{account}/subscriptions', { params, body: { address: 'https://a' } }));

const listed = await client.GET('/v1/accounts/{account}/subscriptions', { params });
const changed = await client.PATCH('/v1/accounts/{account}/subscriptions/{id}', {
  params: { path: { account: 'default', id } },
  body: { description: 'changed' },
});
const events = await client.GET('/v1/accounts/{account}/events', {
  params: { ...params, query: { types: 'filing.rejected' } },
});
const missing = await client.GET('/v1/accounts/{account}/subscriptions/{id}', {
  params: { path: { account: 'default', id: 'sub_00000000000000000000000000000000' } },
});

console.log(
  JSON.stringify({
    account: saved.data?.account,
    hasSecret: typeof made.data.secret === 'string',
    isListed: listed.data?.items.some((one) => one.id === id) === true,
    description: changed.data?.description,
    rejections: events.data?.items.map(reasonOf),
    error: [missing.response.status, missing.error?.code],
  }),
);

function reasonOf(event: components['schemas']['Event']): string | null | undefined {
  switch (event.type) {
    case 'filing.rejected':
      return event.data.rejectionReason;
    case 'subscription.disabled':
      return event.data.reason;
    default:
      // @ts-expect-error only a subscription that was disabled has a reason
      return event.data.reason as string;
  }
}
