import type { NewEvent } from './event.ts';

/** Adds the address of the dashboard page on the event's subject to its body, as `data.url`. Pure. */
export type AddPageLink = <E extends Pick<NewEvent, 'body' | 'filingId'>>(account: string, event: E) => E;

/** For bodies without links. */
export const withoutPageLinks: AddPageLink = (_, event) => event;

const dataMember = ',"data":{';

/** Links to pages at this address (`PUBLIC_URL`); none if it is null. */
export function createPageLinks(publicUrl: string | null): AddPageLink {
  if (publicUrl === null) return withoutPageLinks;
  return (account, event) => {
    const { filingId, body } = event;
    const page = filingId === '' ? subscriptionPage(body) : ['filing', filingId];
    const path = ['accounts', account, ...page].map((each) => encodeURIComponent(each.toWellFormed()));
    const url = JSON.stringify(`${publicUrl}/#/${path.join('/')}`);
    // Before `data` there are no other members than id, type and timestamp.
    const at = body.indexOf(dataMember) + dataMember.length;
    return { ...event, body: `${body.slice(0, at)}"url":${url},${body.slice(at)}` };
  };
}

function subscriptionPage(body: string): string[] {
  const { type, data } = JSON.parse(body) as {
    readonly type: string;
    readonly data: { readonly subscription?: unknown };
  };
  // A subscription that is tested before it is saved is gone when the link is opened.
  if (type === 'ping' || typeof data.subscription !== 'string') return [];
  return ['subscriptions', data.subscription];
}
