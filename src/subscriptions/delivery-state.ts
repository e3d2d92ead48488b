import type { Block, DeliveryState } from './subscription.ts';

/** The delivery state from its Redis hash; missing fields are those of a subscription that was never called. */
export function parseDeliveryState(fields: Readonly<Record<string, string>>): DeliveryState {
  const number = (name: string) => Number(fields[name] ?? 0);
  return {
    epoch: fields['epoch'] ?? '',
    settles: number('settles'),
    version: number('version'),
    endpointVersion: number('endpointVersion'),
    cursor: number('cursor'),
    timeline: fields['timeline'] ?? '',
    done: fields['done'] ?? '',
    enabled: fields['enabled'] !== '0',
    disabledReason: fields['disabledReason'] ?? '',
    failures: number('failures'),
    failedFilings: JSON.parse(fields['failedFilings'] ?? '[]') as string[],
    failingSince: number('failingSince'),
    lastSuccessAt: number('lastSuccessAt'),
    workedAt: number('workedAt'),
    pausedUntil: number('pausedUntil'),
    probes: number('probes'),
    parked: number('parked'),
    nextAttemptAt: number('nextAttemptAt'),
    release: fields['release'] === '1',
    releasedAt: number('releasedAt'),
    settledAt: number('settledAt'),
    replaying: number('replaying'),
    blocked: parseBlock(fields['blocked']),
  };
}

/** What keeps a subscription from being drained, from its field in that hash; null where nothing does. */
export function parseBlock(text: string | null | undefined): Block | null {
  return text == null ? null : (JSON.parse(text) as Block);
}
