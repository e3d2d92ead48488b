import type { Sent } from '../callbacks/send-callback.ts';
import type { Answer } from './schedule/window.ts';
import type { SendResult } from './settlement.ts';

/** The evidence that results give of the endpoint's window. An event that was not sent says nothing. */
export function evidenceOf(results: readonly SendResult[]): Answer[] {
  const answers: Answer[] = [];
  for (const result of results) {
    const kind = result.kind === 'sent' ? kindOf(result.sent) : null;
    if (kind === null || result.kind !== 'sent') continue;
    answers.push({ kind, startedAt: result.work.startedAt, latencyMs: result.sent.durationMs });
  }
  return answers;
}

function kindOf({ outcome, statusCode }: Sent): Answer['kind'] | null {
  if (outcome.kind === 'delivered') return 'accepted';
  if (outcome.kind === 'aborted' || outcome.kind === 'held') return null;
  if (outcome.code === 'sender_error' || outcome.code === 'token_error') return null;
  if (statusCode === 429 || statusCode === 503) return 'overloaded';
  return outcome.code === 'timeout' ? 'timed_out' : 'failed';
}
