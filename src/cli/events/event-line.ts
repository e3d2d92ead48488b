import { styleText } from 'node:util';
import { formatCallback, printable } from '../../demo/callback-line.ts';

/**
 * One line about an event as the API writes it. `verdict` follows the time; null puts the event's type there.
 */
export function eventLine(json: string, verdict: string | null): string {
  const event = JSON.parse(json) as { type: string; timestamp: string; data: { filingId?: string } };
  const label = (verdict ?? printable(event.type)).padEnd(16);
  if (event.data.filingId !== undefined) return formatCallback(event, styleText, label);
  return `${styleText('dim', new Date(event.timestamp).toTimeString().slice(0, 8))}  ${label}  ${printable(JSON.stringify(event.data), 200)}`;
}
