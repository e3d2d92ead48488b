import { styleText } from 'node:util';
import { formatCallback, printable } from '../../demo/callback-line.ts';

/**
 * One line about an event as the API writes it, with its ids at the end. `verdict` follows the time; null
 * puts the event's type there.
 */
export function eventLine(json: string, verdict: string | null): string {
  const event = JSON.parse(json) as Shown;
  const label = (verdict ?? printable(event.type)).padEnd(16);
  const { filingId } = event.data;
  const ids = styleText(
    'dim',
    [event.id, filingId ?? '']
      .map((id) => printable(id))
      .join('  ')
      .trimEnd(),
  );
  if (filingId !== undefined) return `${formatCallback(event, styleText, label)}  ${ids}`;
  return `${styleText('dim', new Date(event.timestamp).toTimeString().slice(0, 8))}  ${label}  ${printable(JSON.stringify(event.data), 200)}  ${ids}`;
}

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly filingId?: string };
}
