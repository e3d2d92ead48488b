import type { EventBody } from '../../src/callbacks/messages/message.ts';
import { createPageLinks } from '../../src/events/page-link.ts';

/** An event as the log has it where the dashboard is at this address; as it is with null. */
export function withLink(event: EventBody, publicUrl: string | null): EventBody {
  const { account, filingId = '' } = event.data as { readonly account: string; readonly filingId?: string };
  const body = JSON.stringify({ type: event.type, timestamp: event.timestamp, data: event.data });
  return JSON.parse(createPageLinks(publicUrl)(account, { filingId, body }).body) as EventBody;
}
