// A program against the types that openapi-typescript makes of the OpenAPI document: it has to compile under
// `strict`, and each event has to narrow by its type.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.ts';

type Event = components['schemas']['Event'];
type Logged = components['schemas']['LoggedEvent'];
type Filing = components['schemas']['Filing'];

/** What a receiver does with the body of a callback. */
export function headline(event: Event): string {
  switch (event.type) {
    case 'filing.rejected':
      return `${event.data.filing?.policyNumber ?? event.data.filingId}: ${event.data.rejectionReason ?? 'no reason'}`;
    case 'account.stale':
      return event.data.lastError ?? 'stale';
    case 'subscription.disabled':
      return event.data.reason;
    case 'ping':
      return event.data.subscription;
    default:
      // @ts-expect-error only a subscription that was disabled has a reason
      return event.data.reason;
  }
}

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:3000' });
const params = { path: { account: 'default' } };

/** The calls of an integration, with the types of their answers. */
export async function calls(): Promise<readonly [string, Logged[], Filing[]]> {
  const made = await client.POST('/v1/accounts/{account}/subscriptions', {
    params,
    body: { url: 'https://example.com/hooks', eventTypes: ['filing.rejected'] },
  });
  if (made.error !== undefined) throw new Error(`${made.error.code}: ${made.error.detail}`);
  const events = await client.GET('/v1/accounts/{account}/events', { params });
  const filings = await client.GET('/v1/accounts/{account}/filings', { params });
  // @ts-expect-error there is no such field
  await client.POST('/v1/accounts/{account}/subscriptions', { params, body: { address: 'https://a' } });
  const id: string | undefined = events.data?.items[0]?.id;
  // The list of filings is CSV for those who ask for it.
  const listed = typeof filings.data === 'object' ? filings.data.items : [];
  // Without a secret: a subscription whose calls are signed with the service's own keys alone.
  return [id ?? made.data.secret ?? 'no secret', events.data?.items ?? [], listed];
}
